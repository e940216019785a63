package cli

import (
	"bytes"
	"os"
	"testing"
)

// The packaged manual page is what the program says of itself; make it anew with
// `go run ./cmd/oneslot man > packaging/man/oneslot.1`.
func TestManualPageIsUpToDate(t *testing.T) {
	want, err := os.ReadFile("../../packaging/man/oneslot.1")
	if err != nil {
		t.Fatal(err)
	}
	c := &cli{World: World{Out: os.Stdout, Err: os.Stderr, In: os.Stdin}}
	if got := manual(c.root()); !bytes.Equal(got, want) {
		t.Error("packaging/man/oneslot.1 is not what `oneslot man` prints")
	}
}
