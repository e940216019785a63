package config

// far is the least distance at which two words have nothing to do with each other.
const far = 3

// nearest returns the name that word was probably meant to be, or "".
func nearest(word string, rows []row) string {
	best, found := far, ""
	for i := range rows {
		name := rows[i].name
		// Half of a short word must be right.
		if d := distance(word, name); d < best && d <= min(len(word), len(name))/2 {
			best, found = d, name
		}
	}
	return found
}

// distance counts the inserted, dropped, changed and swapped bytes between two
// words (optimal string alignment). It answers far for words that cannot be
// nearer, and for long ones.
func distance(a, b string) int {
	const most = 32
	if len(a) >= len(b)+far || len(b) >= len(a)+far || len(b) >= most {
		return far
	}
	// The last three rows of the table, by turns.
	var rows [3][most]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := range len(a) {
		before, prev, row := &rows[(i+2)%3], &rows[i%3], &rows[(i+1)%3]
		row[0] = i + 1
		for j := range len(b) {
			d := min(prev[j+1], row[j]) + 1
			if a[i] == b[j] {
				d = min(d, prev[j])
			} else {
				d = min(d, prev[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
	}
	return rows[len(a)%3][len(b)]
}
