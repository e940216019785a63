package oneslot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oneslot/oneslot"
)

// tempStore is a store for one example. Programs use Open("") and share one.
func tempStore() (*oneslot.Store, func()) {
	dir, err := os.MkdirTemp("", "oneslot")
	if err != nil {
		panic(err)
	}
	store, err := oneslot.Open("sqlite:" + filepath.Join(dir, "oneslot.db"))
	if err != nil {
		panic(err)
	}
	return store, func() {
		store.Close()
		os.RemoveAll(dir)
	}
}

// One function at a time for one issue, whoever calls it.
func ExampleStore_Do() {
	store, done := tempStore()
	defer done()
	ctx := context.Background()
	ref, err := store.Ref("https://github.com/octo-org/octo-repo/issues/12")
	if err != nil {
		panic(err)
	}
	err = store.Do(ctx, ref, func(ctx context.Context, c *oneslot.Claim) error {
		fmt.Println("working on", c.Ref())
		inner := store.Do(ctx, ref, func(context.Context, *oneslot.Claim) error { return nil })
		var busy *oneslot.BusyError
		fmt.Println("somebody else is refused:", errors.As(inner, &busy))
		return nil
	})
	fmt.Println(err)
	// Output:
	// working on github.com/octo-org/octo-repo#12
	// somebody else is refused: true
	// <nil>
}

// A claim held over several steps. Its context ends when it is lost.
func ExampleStore_Claim() {
	store, done := tempStore()
	defer done()
	ctx := context.Background()
	ref, err := store.Ref("key:nightly-report")
	if err != nil {
		panic(err)
	}
	first, err := store.Claim(ctx, ref, oneslot.TTL(10*time.Second), oneslot.As("sweep", "reporter"))
	if err != nil {
		panic(err)
	}
	fmt.Println("ours:", first.Check(ctx) == nil && first.Context().Err() == nil)
	if err := first.Release(ctx); err != nil {
		panic(err)
	}
	fmt.Println("afterwards:", first.Check(ctx) != nil && first.Context().Err() != nil)
	second, err := store.Claim(ctx, ref)
	if err != nil {
		panic(err)
	}
	defer second.Release(ctx)
	fmt.Println("fences grow:", second.Fence() > first.Fence())
	// Output:
	// ours: true
	// afterwards: true
	// fences grow: true
}

// Standing in line instead of being refused.
func ExampleWait() {
	store, done := tempStore()
	defer done()
	ctx := context.Background()
	ref, err := store.Ref("octo-org/octo-repo@main")
	if err != nil {
		panic(err)
	}
	first, err := store.Claim(ctx, ref)
	if err != nil {
		panic(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { first.Release(ctx) })
	second, err := store.Claim(ctx, ref, oneslot.Wait(5*time.Second))
	if err != nil {
		panic(err)
	}
	fmt.Println("got it after", second.Ref(), "was given back")
	second.Release(ctx)
	// Output:
	// got it after github.com/octo-org/octo-repo@main was given back
}
