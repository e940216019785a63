package hook

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// tellEvery is how often the log tells of a hook's requests with a bad signature:
// strangers, who can send any number, do not fill it.
const tellEvery = 10 * time.Minute

// unheard counts the requests with a bad signature that the log did not tell of yet.
type unheard struct {
	mu    sync.Mutex
	hooks map[string]*silence
}

type silence struct {
	count int
	told  time.Time
}

// add counts one more for a hook. If it is time to tell of them, it says how many
// there were, and counts anew.
func (u *unheard) add(hook string, now time.Time) (count int, tell bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.hooks[hook]
	if s == nil {
		s = &silence{}
		if u.hooks == nil {
			u.hooks = map[string]*silence{}
		}
		u.hooks[hook] = s
	}
	s.count++
	if now.Sub(s.told).Abs() < tellEvery {
		return 0, false
	}
	count, s.count, s.told = s.count, 0, now
	return count, true
}

// unsigned turns down a request with a bad signature. Of what a stranger wrote nothing
// goes to the log.
func (s *handler) unsigned(h Hook, err error) error {
	if count, tell := s.unheard.add(h.Name, s.Now()); tell {
		what, do := "wrong", "compare the secret at the forge with that of this hook"
		if errors.Is(err, errMissing) {
			what, do = "missing", "give the forge's webhook the secret of this hook"
		}
		s.Log.Warn("delivery turned down: its signature is "+what, "hook", h.Name, "since_last_told", count, "do", do)
	}
	return refuse(http.StatusUnauthorized, "unauthorized", errUnsigned.Error())
}
