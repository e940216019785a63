package mark

import "github.com/oneslot/oneslot/internal/slot"

// MaxFingerprint bounds a fingerprint, in bytes.
const MaxFingerprint = 255

// Fingerprint tells occurrences of a kind apart. What a person can choose freely
// comes last.
func Fingerprint(kind slot.EventKind, parts ...string) string {
	s := string(kind)
	for _, part := range parts {
		if part != "" {
			s += " " + part
		}
	}
	return Short(s, MaxFingerprint)
}

// Check is the fingerprint of a check's result. The id names the result; again is the
// attempt, or the time at which it was completed.
func Check(kind slot.EventKind, sha, id, again, name string) string {
	return Fingerprint(kind, sha, id, Moment(again), Line(name))
}

// Said is the fingerprint of a comment or a review. One without an id (or with that of
// nothing, "0") or a time is told apart by what it says: the head that it is about, whose
// words, and which.
func Said(kind slot.EventKind, id, updated, sha, author, text string) string {
	updated = Moment(updated)
	if id == "0" {
		id = ""
	}
	if id == "" || updated == "" {
		id += " " + Digest(sha+" "+author+" "+text)
	}
	return Fingerprint(kind, updated, id)
}

// Verdict is the fingerprint of a review that a forge has no id for, only whose it is
// and when it was given: a change to the pull request. Without that time it is told
// apart by the head, so that one on new commits is another.
func Verdict(kind slot.EventKind, updated, sha, author string) string {
	if updated = Moment(updated); updated == "" {
		return Fingerprint(kind, Digest(sha+" "+author))
	}
	return Changed(kind, updated, author)
}

// Changed is the fingerprint of a change to an issue or a pull request: what was set,
// and when it was updated so. Without a time no two are known to be one, and it is
// empty.
func Changed(kind slot.EventKind, updated, detail string) string {
	if updated = Moment(updated); updated == "" {
		return ""
	}
	return Fingerprint(kind, updated, detail)
}
