package poll

import (
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/mark"
	"github.com/oneslot/oneslot/internal/slot"
)

// branch is what is remembered of the default branch.
type branch struct {
	sha    string
	made   time.Time // the head commit, by its own clock
	since  time.Time // when it was first seen
	moved  time.Time // when anything was seen to change last
	head   int64     // Unix nanoseconds of the last look at which commit it is, and
	looked int64     // at its checks; 0: never
	open   bool      // a check is pending
	hot    bool      // a check has failed
	results
}

// wantsBranch reports whether any rule wants failing checks; whether one wants those of
// the branch is for it to say.
func (p *pass) wantsBranch() bool { return p.Default != "" && p.wants(slot.CIFailed, slot.CIPassed) }

func (p *pass) branchDue() bool {
	return p.wantsBranch() && (p.branch.looked == 0 || p.branch.open && p.fresh(p.branch.moved))
}

// age is how long ago a look was, weighted as that of a thread.
func (b branch) age(now int64) int64 {
	age := now - min(b.head, b.looked)
	if b.hot {
		age *= hotter
	}
	return age
}

// lookBranch looks at the head of the default branch or, if it was seen since, at the
// checks there. Those of a new head are looked at at once.
func (p *pass) lookBranch() error {
	b := p.branch
	if b.head <= b.looked || b.sha == "" {
		sha, made, err := p.headOf(b.made)
		b.head = p.now.UnixNano()
		switch {
		case p.withhold("the default branch", err):
		case err != nil:
			return err
		case sha != "" && sha != b.sha:
			b = branch{sha: sha, made: made, since: p.now, moved: p.now, head: b.head, results: b.results}
		case b.looked != 0:
			if b.sha == "" { // and there are no checks to look at next time
				b.looked = b.head
			}
			p.after(func() { p.branch = b })
			return nil
		}
	}
	if b.sha != "" {
		if err := p.branchChecks(&b); err != nil && !p.withhold("checks", err) {
			return err
		}
	}
	b.looked = p.now.UnixNano() + 1 // after the look at the head
	p.after(func() { p.branch = b })
	return nil
}

func (p *pass) branchChecks(b *branch) error {
	list, err := p.src.Client.Checks(p.ctx, p.Name, b.sha)
	if p.src.count("checks", err); err != nil {
		return err
	}
	public, before := p.Public, b.results
	b.hot, b.open = p.results(&b.results, b.sha, b.since, list, func(c forge.Check, kind slot.EventKind, fingerprint string) Found {
		return Found{Event: slot.Event{
			Path: slot.PathPoll, Repo: p.Name, Ref: p.onBranch(c.Name), Kind: kind, Sha: b.sha,
			Fingerprint: fingerprint, Facts: slot.Facts{Branch: mark.Line(p.Default), Public: &public},
		}}
	})
	if b.results.moved(before) {
		b.moved = p.now
	}
	return nil
}

// onBranch is the ref of a check on the default branch; zero if the check's name can
// be no part of one.
func (r *repo) onBranch(check string) slot.Ref {
	ref, err := slot.ParseCanonical(r.Name + "@" + r.Default + ":" + check)
	if err != nil {
		return slot.Ref{}
	}
	return ref
}

// headOf finds the newest commit of the default branch. Most have one not long ago, and
// few commits since then; so less is read first.
func (p *pass) headOf(last time.Time) (string, time.Time, error) {
	spans := []time.Time{p.now.AddDate(0, -1, 0), {}}
	switch {
	case p.branch.head != 0 && last.IsZero():
		spans = spans[1:] // there was none
	case !last.IsZero():
		spans = []time.Time{last.AddDate(0, 0, -1)}
	}
	for _, since := range spans {
		list, _, err := p.src.Client.Commits(p.ctx, p.Name, since)
		if p.src.count("commits", err); err != nil {
			return "", time.Time{}, err
		}
		if len(list) > 0 {
			return list[0].Sha, list[0].At, nil
		}
	}
	return "", time.Time{}, nil
}
