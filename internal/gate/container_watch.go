package gate

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
)

// Watch calls changed when a container that may have been in somebody's way has
// ended, or goes by another name.
func (g *containers) Watch(ctx context.Context, changed func()) error {
	if _, err := g.engine.sockets(); err != nil {
		return err
	}
	return keepWatching(ctx, changed, g.watch)
}

// event is what an engine says of a change.
type event struct {
	Action string
	Actor  struct{ Attributes map[string]string }
}

func (g *containers) watch(ctx context.Context, changed, started func()) error {
	body, err := g.engine.get(ctx, `/events?filters=%7B%22type%22%3A%5B%22container%22%5D%7D`)
	if err != nil {
		return err
	}
	defer body.Close()
	started()
	for dec := json.NewDecoder(body); ; {
		var e event
		if err := dec.Decode(&e); err != nil {
			return err
		}
		if g.concerns(e) {
			changed()
		}
	}
}

func (g *containers) concerns(e event) bool {
	switch e.Action {
	case "die", "died", "stop", "destroy", "remove", "cleanup", "rename":
	default:
		return false
	}
	if g.label != "" {
		if _, ok := e.Actor.Attributes[g.label]; !ok {
			return false
		}
	}
	return g.name == nil || e.Action == "rename" || fits(globs(g.name.wide("*")), e.Actor.Attributes["name"])
}

// regexp is the wide pattern as an engine reads it. Sets of characters become any
// character; names are looked at again.
func (p pattern) regexp() string {
	var out strings.Builder
	out.WriteString("(?i)^/?")
	for i, text := 0, p.wide("*"); i < len(text); i++ {
		switch end := strings.IndexByte(text[i:], ']'); {
		case text[i] == '*':
			out.WriteString(".*")
		case text[i] == '?':
			out.WriteByte('.')
		case text[i] == '[' && end > 0:
			out.WriteByte('.')
			i += end
		default:
			out.WriteString(regexp.QuoteMeta(text[i : i+1]))
		}
	}
	out.WriteByte('$')
	return out.String()
}
