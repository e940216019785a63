package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/oneslot/oneslot/internal/forge/forgetest"
)

// askers is how many requests of a poller are under way at a time.
const askers = 4

// batch are requests for the bare client.
type batch struct {
	At   int // how many at a time
	List []sent
}

// askerHelper is the bare client: it sends the requests of each line to a forge, with
// net/http alone, and drops the answers.
func askerHelper(ctx context.Context, _ *Bench, args []string) error {
	base, word := "http://"+forgetest.Host(args[1]), "Bearer "
	if args[0] != string(forgetest.GitHub) {
		word = "token "
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	one := func(r sent) error {
		req, err := http.NewRequestWithContext(ctx, r.Method, base+r.URI, strings.NewReader(r.Body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", word+worldToken)
		if r.Match != "" {
			req.Header.Set("If-None-Match", r.Match)
		}
		answer, err := client.Do(req)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode >= http.StatusBadRequest {
			return fmt.Errorf("%s %s: %s", r.Method, r.URI, answer.Status)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	out, in := json.NewEncoder(os.Stdout), json.NewDecoder(os.Stdin)
	for {
		var b batch
		if err := in.Decode(&b); err != nil {
			return nil //nolint:nilerr // the end
		}
		next := make(chan sent, len(b.List))
		for _, r := range b.List {
			next <- r
		}
		close(next)
		runtime.GC() // of what was read
		s := spend(func() error {
			return together(b.At, func(int) error {
				for r := range next {
					if err := one(r); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err := out.Encode(s); err != nil {
			return err
		}
	}
}
