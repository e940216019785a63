package token

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
)

const (
	// relist is how long an owner that has no installation is believed to have none.
	relist = time.Minute
	// maxPages bounds the list of installations, 100 each.
	maxPages = 100
)

// installation finds the installation for an owner, or the only one for "".
func (a *App) installation(ctx context.Context, owner string) (int64, error) {
	owner = strings.ToLower(owner)
	a.mu.Lock()
	owners, listed := a.owners, a.listed
	a.mu.Unlock()
	if id, ok := choose(owners, owner); ok {
		return id, nil
	}
	if owners == nil || a.o.Clock.Boot()-listed >= relist {
		// Two that list at the same time do no harm.
		fresh, err := a.list(ctx)
		if err != nil {
			return 0, err
		}
		a.mu.Lock()
		a.owners, a.listed = fresh, a.o.Clock.Boot()
		a.mu.Unlock()
		owners = fresh
	}
	if id, ok := choose(owners, owner); ok {
		return id, nil
	}
	detail := fmt.Sprintf("it has %d installations, and the request names no owner", len(owners))
	if owner != "" {
		detail = "it is not installed at " + owner
	}
	return 0, &forge.Error{Kind: forge.ErrForbidden, Op: "find the app's installation", Detail: detail}
}

func choose(owners map[string]int64, owner string) (int64, bool) {
	if owner == "" && len(owners) == 1 {
		for id := range maps.Values(owners) {
			return id, true
		}
	}
	id, ok := owners[owner]
	return id, ok
}

func (a *App) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.owners = nil
}

// list reads all installations that are not suspended.
func (a *App) list(ctx context.Context) (map[string]int64, error) {
	all := map[string]int64{}
	for page := 1; page <= maxPages; page++ {
		var some []struct {
			ID        int64
			Suspended *time.Time `json:"suspended_at"`
			Account   struct{ Login string }
		}
		if _, err := a.call(ctx, "list the app's installations", http.MethodGet,
			fmt.Sprintf("/app/installations?per_page=100&page=%d", page), &some); err != nil {
			return nil, err
		}
		for _, one := range some {
			if one.Suspended == nil && one.Account.Login != "" {
				all[strings.ToLower(one.Account.Login)] = one.ID
			}
		}
		if len(some) < 100 {
			return all, nil
		}
	}
	return nil, &forge.Error{Kind: forge.ErrShort, Op: "list the app's installations", Detail: "there is no end to it"}
}
