package race

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/claim/claimtest"
	"github.com/oneslot/oneslot/internal/claim/claimtest/history"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

const loadVar = "RACE_LOAD"

// load is what one process of a recorded history shall do.
type load struct {
	Store  string // the database's file
	Record string // the file that all processes append to
	Refs   []string
	Seed   uint64
	Wrong  bool // claims as those do who only look
}

// Dispatchers in one process, and the time to live of their claims.
const (
	loadWorkers = 4
	loadTTL     = time.Second
)

// loadMain works on the store until it is killed.
func loadMain() error {
	var l load
	if err := json.Unmarshal([]byte(os.Getenv(loadVar)), &l); err != nil {
		return err
	}
	clk, err := clock.System()
	if err != nil {
		return err
	}
	db, err := sqlite.Open(l.Store, sqlite.Options{Clock: clk})
	if err != nil {
		return err
	}
	record, err := os.OpenFile(l.Record, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	var store claimtest.Store = db
	if l.Wrong {
		store = peekThenTake{db}
	}
	store = history.Wrap(store, history.NewRecorder(record, clk))
	todo := history.Load{Workers: loadWorkers, Steps: 1 << 30, TTL: loadTTL, Seed: l.Seed, Pass: pass}
	for _, text := range l.Refs {
		ref, err := slot.ParseCanonical(text)
		if err != nil {
			return err
		}
		todo.Refs = append(todo.Refs, ref)
	}
	return todo.Run(context.Background(), func() (claim.Store, error) { return shared{store}, nil })
}

// pass lets a few steps wait long, so that claims expire, and most not at all.
func pass(d time.Duration) {
	if d < loadTTL/4/64 {
		time.Sleep(32 * d)
	}
}

// shared is a store that is closed by the end of the process.
type shared struct{ claim.Store }

func (shared) Close() error { return nil }

// peekThenTake is a store as people write them first: it looks whether the slot
// is free, and then it is sure of that.
type peekThenTake struct{ *sqlite.Store }

func (s peekThenTake) Acquire(ctx context.Context, req claim.Request) (claim.Grant, error) {
	look, err := s.Look(ctx, req.Ref)
	if err != nil || look.Live() != nil || req.Displace != nil {
		return s.Store.Acquire(ctx, req)
	}
	for {
		g, err := s.Store.Acquire(ctx, req)
		busy, ok := errors.AsType[*slot.BusyError](err)
		if !ok {
			return g, err
		}
		req.Displace = &claim.Displace{Claim: busy.Claim.ID, Why: claim.Forced}
	}
}
