package app

import (
	"testing"

	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// The text of a pull request takes no slot in a repository that is none of ours.
func TestLink_OurRepositories(t *testing.T) {
	var f config.Forge
	f.Repos.V = []string{"octo/*"}
	pull := canonical(t, "github.com/fork/hello#7")
	for issue, want := range map[string]bool{
		"github.com/fork/hello#8":     true,
		"github.com/octo/other#8":     true,
		"github.com/octo/other/sub#8": false,
		"github.com/stranger/other#8": false,
		"gitlab.com/octo/other#8":     false,
	} {
		if ref, err := slot.ParseCanonical(issue); err == nil && (relations{}).ours(ref, pull, f) != want {
			t.Errorf("%s: %v", issue, !want)
		}
	}
}

func canonical(t *testing.T, s string) slot.Ref {
	t.Helper()
	ref, err := slot.ParseCanonical(s)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}
