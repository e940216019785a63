package rule

import (
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/slot"
)

// Set is all rules of a configuration. It does not change.
type Set struct {
	rules  []Rule
	worker Rule
}

// New makes the rules of a configuration that was checked.
func New(c *config.Config) Set {
	worker := config.DefaultRule()
	worker.Run = c.Worker.Run
	s := Set{worker: newRule(worker)}
	for _, r := range c.Rules {
		s.rules = append(s.rules, newRule(r))
	}
	return s
}

// Wanting lists the rules that want an event, in the order of the file.
func (s Set) Wanting(e slot.Event) []Rule {
	var list []Rule
	for _, r := range s.rules {
		if r.refuses(e) == "" {
			list = append(list, r)
		}
	}
	return list
}

// Named finds a rule. The empty name is [worker], which is always there.
func (s Set) Named(name string) (Rule, bool) {
	if name == "" {
		return s.worker, true
	}
	for _, r := range s.rules {
		if r.Name == name {
			return r, true
		}
	}
	return Rule{}, false
}

// Worker is what a wish without a rule goes by. false: it has no command, so such
// a wish must bring one.
func (s Set) Worker() (Rule, bool) { return s.worker, len(s.worker.run) > 0 }

// Explanation says whether a rule wants an event.
type Explanation struct {
	Rule  string
	Wants bool
	Why   string // why it does not; empty if it does
}

// Explain goes through all rules, in the order of the file.
func (s Set) Explain(e slot.Event) []Explanation {
	var list []Explanation
	for _, r := range s.rules {
		why := r.refuses(e)
		list = append(list, Explanation{r.Name, why == "", why})
	}
	return list
}
