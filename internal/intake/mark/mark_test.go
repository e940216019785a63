package mark_test

import (
	"strings"
	"testing"

	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/markup"
	"github.com/oneslot/oneslot/internal/slot"
)

// One moment is one text, by whatever path it came.
func TestMoment(t *testing.T) {
	const want = "2026-01-02T03:04:05Z"
	for _, s := range []string{want, "2026-01-02T04:04:05+01:00", "2026-01-02T03:04:05.678Z", "2026-01-02 03:04:05 UTC", "2026-01-02 05:04:05 +0200"} {
		if got := mark.Moment(s); got != want {
			t.Errorf("%s: %s", s, got)
		}
	}
	if got := mark.Moment("", "0001-01-01T00:00:00Z", want); got != want {
		t.Errorf("the first that says one: %q", got)
	}
	if got := mark.Moment("3"); got != "3" { // an attempt
		t.Errorf("no time: %q", got)
	}
	if got := mark.Moment("", "0001-01-01T00:00:00Z"); got != "" {
		t.Errorf("none: %q", got)
	}
}

// What makes two occurrences two makes two fingerprints, and nothing else does.
func TestFingerprints(t *testing.T) {
	const at, later = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"
	long := strings.Repeat("x", 1000)
	seen := map[string]string{}
	for name, print := range map[string]string{
		"check":            mark.Check(slot.CIFailed, "a", "1", at, "test"),
		"another result":   mark.Check(slot.CIFailed, "a", "2", at, "test"),
		"run again":        mark.Check(slot.CIFailed, "a", "1", later, "test"),
		"another head":     mark.Check(slot.CIFailed, "b", "1", at, "test"),
		"another name":     mark.Check(slot.CIFailed, "a", "1", at, "lint"),
		"a long name":      mark.Check(slot.CIFailed, "a", "1", at, long),
		"comment":          mark.Said(slot.Commented, "7", at, "", "ann", "x"),
		"edited":           mark.Said(slot.Commented, "7", later, "", "ann", "x"),
		"without an id":    mark.Said(slot.Commented, "", at, "", "ann", "x"),
		"other words":      mark.Said(slot.Commented, "", at, "", "ann", "y"),
		"somebody else's":  mark.Said(slot.Commented, "", at, "", "bob", "y"),
		"of nothing":       mark.Said(slot.ChangesRequested, "0", at, "a", "ann", ""),
		"of another":       mark.Said(slot.ChangesRequested, "0", at, "a", "bob", ""),
		"and new commits":  mark.Said(slot.ChangesRequested, "0", at, "b", "bob", ""),
		"a verdict":        mark.Verdict(slot.ChangesRequested, at, "a", "ann"),
		"a later one":      mark.Verdict(slot.ChangesRequested, later, "a", "ann"),
		"another's":        mark.Verdict(slot.ChangesRequested, at, "a", "bob"),
		"an approval":      mark.Verdict(slot.Approved, at, "a", "ann"),
		"without a time":   mark.Verdict(slot.Approved, "", "a", "ann"),
		"of another head":  mark.Verdict(slot.Approved, "", "b", "ann"),
		"labelled":         mark.Changed(slot.Labeled, at, "bug"),
		"with another":     mark.Changed(slot.Labeled, at, long),
		"with another one": mark.Changed(slot.Labeled, at, long+"y"),
	} {
		if other, ok := seen[print]; ok || print == "" || len(print) > mark.MaxFingerprint {
			t.Errorf("%s is %q, as is %s", name, print, other)
		}
		seen[print] = name
	}
	if mark.Said(slot.Commented, "7", at, "a", "ann", "x") != mark.Said(slot.Commented, "7", at, "", "bob", "y") {
		t.Error("an id and a time are enough")
	}
	if got := mark.Changed(slot.Labeled, "", "bug"); got != "" {
		t.Errorf("without a time no two are one: %q", got)
	}
}

func TestOwn(t *testing.T) {
	o := mark.Own{Logins: []string{"Our-Bot"}, Apps: []string{"our-app", "12"}}
	for login, want := range map[string]bool{"our-bot": true, "our-app[bot]": true, "our-app": false, "bot": false, "": false, "[bot]": false} {
		if o.Login(login) != want {
			t.Errorf("login %q: %v", login, !want)
		}
	}
	if !o.App("", "12") || !o.App("OUR-APP") || o.App("1") || o.App() || o.App("") {
		t.Error("apps")
	}
}

// C31: the login of an app, which is what forges show of it, names the app itself, too.
func TestOwn_TheLoginOfAnApp(t *testing.T) {
	o := mark.Own{Logins: []string{"our-app[bot]"}, Apps: []string{"our-app[bot]"}}
	if !o.Login("our-app[bot]") || !o.Login("Our-App[Bot]") || o.Login("our-app") { // that is a person
		t.Error("logins")
	}
	if !o.App("7", "Our-App") || o.App("our") {
		t.Error("apps")
	}
	if !markup.Mentions(markup.Spoken("@our-app please"), o.Names()...) || markup.Mentions(markup.Spoken("@our-appendix"), o.Names()...) {
		t.Error("mentions")
	}
}
