package clock

import "testing"

func TestShiftedBootTimeIsRefused(t *testing.T) {
	for offsets, want := range map[string]bool{
		"": false,
		"monotonic           0         0\nboottime            0         0\n": false,
		"monotonic          10         0\nboottime            0         0\n": false,
		"monotonic           0         0\nboottime         1000         0\n": true,
		"monotonic           0         0\nboottime            0   5000000\n": true,
		"monotonic           0         0\nboottime           -1         0\n": true,
	} {
		if got := shifted(offsets); got != want {
			t.Errorf("shifted(%q) = %v", offsets, got)
		}
	}
}
