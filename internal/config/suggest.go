package config

// nearest returns the name that word was probably meant to be, or "".
func nearest(word string, names []string) string {
	best, found := 3, "" // three slips are another word
	for _, name := range names {
		// Half of a short word must be right.
		if d := distance(word, name); d < best && d <= min(len(word), len(name))/2 {
			best, found = d, name
		}
	}
	return found
}

// distance counts the inserted, dropped, changed and swapped bytes between two
// words (optimal string alignment). It answers 3 for words that cannot be nearer.
func distance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	var before, prev, row []int
	for j := range len(b) + 1 {
		prev = append(prev, j)
	}
	for i := range len(a) {
		row = append(make([]int, 0, len(b)+1), i+1)
		for j := range len(b) {
			d := min(prev[j+1]+1, row[j]+1)
			if a[i] == b[j] {
				d = min(d, prev[j])
			} else {
				d = min(d, prev[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row = append(row, d)
		}
		before, prev = prev, row
	}
	return prev[len(b)]
}
