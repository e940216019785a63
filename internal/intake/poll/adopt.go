package poll

import "slices"

// Adopt takes over what old, whose Run has ended, remembers of the forges that both ask
// by the same client: a new configuration is no reason to read everything anew, or to
// forget a limit. Afresh says that other things may be wanted now: each pull request is
// looked at once more, as after a start. It is called before Run.
func (p *Poller) Adopt(old *Poller, afresh bool) {
	for _, s := range p.sources {
		for _, was := range old.sources {
			if s.Host == was.Host && s.Client == was.Client {
				s.adopt(was, afresh)
			}
		}
	}
	p.orphans = old.orphans
}

func (s *source) adopt(was *source, afresh bool) {
	s.repos, s.known, s.first, s.warned, s.fails, s.until = was.repos, was.known, was.first, was.warned, was.fails, was.limited()
	if slices.Equal(s.Repos, was.Repos) {
		s.again = was.again
	}
	every := slices.Equal(s.o.Every, was.o.Every)
	for _, r := range s.repos {
		r.src = s
		for _, t := range r.threads {
			if afresh {
				t.seen = 0
			}
			if !every {
				t.slots = nil
			}
		}
		if afresh {
			r.branch.looked = 0
		}
	}
}
