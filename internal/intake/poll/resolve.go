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
	if !s.asked.IsZero() && time.Since(s.asked) < refresh {
		return nil
	}
	found, err := s.lookRepos(ctx)
	if say := s.fail(ctx, err); say != nil && say.Error() != s.fails {
		s.fails = say.Error()
		s.o.Log.Warn("the repositories to poll could not be read", "forge", s.Host, "error", say)
	}
	switch {
	case ctx.Err() != nil || errors.Is(err, forge.ErrLimited):
		return err
	case err == nil:
		s.asked, s.fails = time.Now(), ""
	default:
		for _, r := range s.repos {
			found = append(found, r.Repo)
		}
	}
	if s.repos = s.keep(ctx, found); len(s.repos) == 0 {
		return err
	}
	return nil
}

// lookRepos reads patterns by one list, and plain names one by one: a repository that
// was renamed is found by its old name, and one that is not ours is in no list.
func (s *source) lookRepos(ctx context.Context) ([]forge.Repo, error) {
	var globs []string
	var found []forge.Repo
	var failed error
	for _, pattern := range s.Repos {
		if strings.ContainsAny(pattern, `*?[\`) {
			globs = append(globs, strings.ToLower(pattern))
			continue
		}
		r, err := s.Client.Repo(ctx, s.Host+"/"+strings.ToLower(pattern))
		s.count("repo", err)
		switch {
		case err == nil:
			found = append(found, r)
		case !final(err):
			failed = errors.Join(failed, err)
			continue
		}
		s.warn(pattern, err == nil)
	}
	if len(globs) == 0 || errors.Is(failed, forge.ErrLimited) {
		return found, failed
	}
	all, err := s.Client.Repos(ctx, globs)
	if s.count("repos", err); err != nil {
		return found, errors.Join(failed, err)
	}
	for _, glob := range globs {
		n := len(found)
		for _, r := range all {
			if r.Matches(glob) {
				found = append(found, r)
			}
		}
		s.warn(glob, len(found) > n)
	}
	return found, failed
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
