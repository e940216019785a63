package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/oneslot/oneslot/internal/slot"
)

// Containers name the containers that others work in.
type Containers struct {
	// Name is a pattern with placeholders; Label is key=value with placeholders, or
	// a key alone. With both, both must fit.
	Name, Label string
	// Getenv looks up a variable; nil: os.Getenv.
	Getenv func(string) string
}

// Labels that say for whom a container works. One whose value is the claim asked for
// (Ask.Self) is not in that claim's way; one that an earlier claim left behind is.
const (
	LabelRun   = "oneslot.run"
	LabelClaim = "oneslot.claim"
)

type containers struct {
	engine     engine
	name       *pattern
	label      string // its key
	labelValue string // with placeholders
	anyValue   bool
	list       shared[[]container]
}

// container is what an engine says of one.
type container struct {
	Names  []string
	State  string
	Labels map[string]string
}

// NewDocker is the gate "docker": it defers while a container of the ref is there
// and has not ended. Errors match slot.ErrUsage.
func NewDocker(c Containers) (Gate, error) { return newContainers("docker", c) }

// NewPodman is the gate "podman", over Podman's answers to the same questions.
func NewPodman(c Containers) (Gate, error) { return newContainers("podman", c) }

func newContainers(kind string, c Containers) (Gate, error) {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	g := &containers{engine: engine{kind: kind, getenv: c.Getenv}}
	if c.Name != "" {
		p, err := newPattern(c.Name, containerEscape)
		if err != nil {
			return nil, fmt.Errorf("name: %w", err)
		}
		g.name = &p
	}
	if err := slot.CheckExpand(c.Label); err != nil {
		return nil, fmt.Errorf("label: %w", err)
	}
	key, value, found := strings.Cut(c.Label, "=")
	if strings.Contains(key, "{") || found && key == "" {
		return nil, fmt.Errorf("%w: label %q is not key=value", slot.ErrUsage, c.Label)
	}
	g.label, g.labelValue, g.anyValue = key, value, !found
	return g, nil
}

// containerEscape writes what may not be in a container's name as '-'.
func containerEscape(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '-'
	}, s)
}

func (g *containers) Type() string { return g.engine.kind }

func (g *containers) Tick() { g.list.Tick() }

func (g *containers) Ask(ctx context.Context, a Ask) Answer {
	if g.name == nil && g.label == "" {
		return Answer{Detail: "neither name nor label is configured"}
	}
	matches, err := g.matcher(a)
	if err != nil {
		return cannotName(g.Type(), err)
	}
	all, err := g.list.get(ctx, a.Claimed, g.read)
	if err != nil {
		return unknown(g.Type(), err.Error())
	}
	odd := ""
	for _, c := range all {
		if !matches(c) || c.own(a.Self) {
			continue
		}
		switch held, known := containerHeld(c.State); {
		case held:
			return deferral(g.Type(), clip(c.name())+" is "+c.State, "")
		case !known:
			odd = fmt.Sprintf("%s is %q, whatever that means", c.name(), c.State)
		}
	}
	if odd != "" {
		return unknown(g.Type(), odd)
	}
	return proceed(g.Type(), "free", fmt.Sprintf("none of %d containers is in the way", len(all)))
}

// containerHeld says what a state means. The last ones are Podman's.
func containerHeld(state string) (held, known bool) {
	switch strings.ToLower(state) {
	case "created", "running", "paused", "restarting", "removing", "configured", "initialized", "stopping":
		return true, true
	case "exited", "dead", "stopped":
		return false, true
	}
	return false, false
}

// matcher is the test for the containers of one ref.
func (g *containers) matcher(a Ask) (func(container) bool, error) {
	named, value := func(string) bool { return true }, ""
	var err error
	if g.name != nil {
		if named, err = g.name.match(a.Ref, a.Sha); err != nil {
			return nil, err
		}
	}
	if g.label != "" {
		if value, err = slot.ExpandFunc(g.labelValue, a.Ref, a.Sha, func(v string) string { return v }); err != nil {
			return nil, err
		}
	}
	return func(c container) bool {
		if g.label != "" {
			has, ok := c.Labels[g.label]
			if !ok || !g.anyValue && !strings.EqualFold(has, value) {
				return false
			}
		}
		return g.name == nil || c.anyName(named)
	}, nil
}

// own reports whether the container is that of the claim that is asked for.
func (c container) own(self string) bool {
	return self != "" && (c.Labels[LabelRun] == self || c.Labels[LabelClaim] == self)
}

func (c container) anyName(test func(string) bool) bool {
	for _, name := range c.Names {
		// Docker puts a slash before names, and lists links as /other/name.
		if name = strings.TrimPrefix(name, "/"); !strings.Contains(name, "/") && test(name) {
			return true
		}
	}
	return false
}

func (c container) name() string {
	if len(c.Names) == 0 {
		return "a container without a name"
	}
	return strings.TrimPrefix(c.Names[0], "/")
}

// read lists the containers that could be anybody's, whatever their state: an
// engine that is asked for some states refuses those it does not know.
func (g *containers) read(ctx context.Context) ([]container, error) {
	filters := map[string][]string{}
	if g.name != nil {
		filters["name"] = []string{g.name.regexp()}
	}
	if g.label != "" {
		filters["label"] = []string{g.label}
	}
	text, err := json.Marshal(filters)
	if err != nil {
		return nil, err
	}
	body, err := g.engine.get(ctx, "/containers/json?all=1&filters="+url.QueryEscape(string(text)))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return parseContainers(body)
}
