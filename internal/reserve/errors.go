package reserve

import (
	"fmt"

	"github.com/oneslot/oneslot/internal/slot"
)

// BusyError says that somebody else has, or may get, the slot. Our own comment was
// withdrawn, or its record waits for Tidy.
type BusyError struct {
	Ref slot.Ref
	// By is who is in the way; zero if nobody is known, and the forge was too slow to
	// confirm our reservation before it lapsed.
	By Reservation
	// Suspicious comments were seen and changed nothing.
	Suspicious []Suspicion
}

func (e *BusyError) Error() string {
	if e.By.Comment == 0 {
		return fmt.Sprintf("%s: the reservation was not confirmed in time, and is withdrawn", e.Ref)
	}
	return fmt.Sprintf("%s is reserved by %s in comment %d", e.Ref, e.By, e.By.Comment)
}

// String names the reservation's owner for people.
func (r Reservation) String() string {
	return fmt.Sprintf("%s (host %s, path %s, since %s)", r.Login, r.Marker.Host, r.Marker.Path,
		r.Created.UTC().Format("2006-01-02 15:04:05 MST"))
}

// unknown is what could not be found out.
func unknown(op string, err error) error {
	return &slot.UnknownError{Op: op, Store: "reservation comment", Err: err}
}
