package poll

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

// resolve finds the repositories that the patterns stand for. As long as that cannot be
// read, those known before are polled.
func (s *source) resolve(ctx context.Context) error {
	if time.Now().Before(s.again) {
		return nil
	}
	found, err := s.lookRepos(ctx)
	if say := s.fail(ctx, err); say != nil && say.Error() != s.fails {
		s.fails = say.Error()
		s.o.Log.Warn("the repositories to poll could not be read", "forge", s.Host, "error", say)
	}
	if ctx.Err() != nil || errors.Is(err, forge.ErrLimited) {
		return err
	}
	if err == nil {
		s.fails = ""
	}
	s.repos = s.keep(ctx, found)
	switch {
	case err == nil && !s.missing():
		s.again = time.Now().Add(refresh)
	case err == nil, len(s.repos) > 0: // one name that fails is no reason to read all at each tick
		s.again = time.Now().Add(refreshSoon)
	default:
		return err
	}
	return nil
}

// lookRepos reads patterns by one list, and plain names one by one: a repository that
// was renamed is found by its old name, and one that is not ours is in no list. Where
// the answer is none, it is what was known before; with the error.
func (s *source) lookRepos(ctx context.Context) ([]forge.Repo, error) {
	var globs []string
	var found, before []forge.Repo
	var failed error
	for _, pattern := range s.Repos {
		if pattern = strings.ToLower(pattern); strings.ContainsAny(pattern, `*?[\`) {
			globs = append(globs, pattern)
			continue
		}
		r, err := s.Client.Repo(ctx, s.Host+"/"+pattern)
		if s.count("repo", err); err == nil {
			s.known[pattern] = []forge.Repo{r}
			found = append(found, r)
		} else { // it may only be out of sight
			before = append(before, s.known[pattern]...)
		}
		if err != nil && !final(err) {
			failed = errors.Join(failed, err)
			continue
		}
		s.warn(pattern, err == nil)
	}
	if len(globs) == 0 || errors.Is(failed, forge.ErrLimited) {
		return add(found, before), failed
	}
	all, err := s.Client.Repos(ctx, globs)
	s.count("repos", err)
	for _, glob := range globs {
		list := slices.DeleteFunc(slices.Clone(all), func(r forge.Repo) bool { return !r.Matches(glob) })
		if err == nil {
			s.warn(glob, len(list) > 0)
		} else { // the list may have only some of them
			list = add(list, s.known[glob])
		}
		s.known[glob] = list
		found = append(found, list...)
	}
	return add(found, before), errors.Join(failed, err)
}

// add adds what is not in a list yet.
func add(list, more []forge.Repo) []forge.Repo {
	for _, r := range more {
		if !slices.ContainsFunc(list, func(o forge.Repo) bool { return keyOf(o) == keyOf(r) }) {
			list = append(list, r)
		}
	}
	return list
}

// missing reports whether a pattern matches nothing.
func (s *source) missing() bool {
	return slices.ContainsFunc(s.Repos, func(pattern string) bool { return s.warned[strings.ToLower(pattern)] })
}

// warn says once of a pattern that it matches nothing.
func (s *source) warn(pattern string, matches bool) {
	if !matches && !s.warned[pattern] {
		s.o.Log.Warn("no repository that the token may see matches", "forge", s.Host, "repos", pattern)
	}
	s.warned[pattern] = !matches
}

// keep takes over what is remembered, by the forge's id: the name may be another.
func (s *source) keep(ctx context.Context, found []forge.Repo) []*repo {
	old := map[string]*repo{}
	for _, r := range s.repos {
		old[r.key] = r
	}
	var list []*repo
	for _, f := range found {
		f.Name = cmp.Or(f.Slots, f.Name) // from here on it is called what its slots are
		r := newRepo(s, f)
		if was := old[r.key]; was != nil {
			if was.Name != f.Name {
				s.o.Log.Info("a polled repository has a new name", "from", was.Name, "to", f.Name)
				was = newRepo(s, f) // its refs are others now: they are read anew
			}
			was.Repo, r = f, was
		}
		if f.Archived || slices.ContainsFunc(list, func(other *repo) bool { return other.key == r.key }) {
			continue
		}
		if s.o.Known != nil {
			s.o.Known(ctx, s.Host, f)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *repo) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// final reports whether the same question would have the same answer soon.
func final(err error) bool {
	for _, kind := range []error{forge.ErrNotFound, forge.ErrForbidden, forge.ErrUnsupported, forge.ErrRefused} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
