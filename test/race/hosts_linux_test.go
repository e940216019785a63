package race

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge/forgetest"
	"github.com/oneslot/oneslot/internal/slot"
)

// hostConfig is of a host that shares nothing with others but a forge and the key of
// the reservations there.
const hostConfig = `
host   = %q
listen = "unix:%s"

[[forge]]
host  = "forge.test"
type  = %q
api   = %q
token = { file = "token" }

[reservation]
enabled           = true
recheck           = "%s"
ttl               = "4m"
key               = { file = "key" }
lock_conversation = %t

[[rule]]
name  = "work"
on    = ["manual"]
run   = [%q]
quiet = "20ms"
ttl   = "3s"
grace = "100ms"
`

// apart are hosts with a forge of one kind in common. All their workers write one
// journal.
type apart struct {
	t     testing.TB
	dir   string
	forge *forgetest.World
	api   string
	hosts []*host

	offset int64 // of the journal that was read
}

// host is one of them, with a store, a state folder and a token of its own.
type host struct {
	*world
	name, login string
	env         []string
}

// settings of all the hosts.
type settings struct {
	kind    forgetest.Kind
	hosts   int
	recheck string
	lock    bool
}

const repo = "octo-org/octo-repo"

func newApart(t testing.TB, s settings) *apart {
	t.Helper()
	a := &apart{t: t, dir: t.TempDir(), forge: forgetest.New(s.kind, nil)}
	t.Cleanup(a.endAll)
	a.api = forgetest.Serve(t, a.forge)
	a.forge.AddRepo(repo)
	for n := range s.hosts {
		// The third is an account of the first: a login is no identity.
		login := []string{"alice", "bob"}[n%2]
		a.forge.AddUser(forgetest.User{Login: login, Token: "token-of-" + login, Writer: true, Association: "collaborator"})
		a.hosts = append(a.hosts, a.newHost(n, login, s))
	}
	return a
}

func (a *apart) newHost(n int, login string, s settings) *host {
	a.t.Helper()
	h := &host{world: newWorld(a.t, hookedProgram), name: fmt.Sprintf("host-%d", n+1), login: login}
	api := a.api
	if s.kind != forgetest.GitHub {
		api = api[:strings.LastIndex(api, "/api/")]
	}
	for file, text := range map[string]string{
		"token": "token-of-" + login, "key": "a key that all hosts have",
		"oneslot.toml": fmt.Sprintf(hostConfig, h.name, h.path("sock"), s.kind, api, s.recheck, s.lock, helperProgram),
	} {
		if err := os.WriteFile(h.path(file), []byte(text), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	h.env = []string{"ONESLOT_CONFIG=" + h.path("oneslot.toml"), worldVar + "=" + a.dir, nameVar + "=" + h.name}
	return h
}

// issue opens one, with a word of a stranger on it, and a reservation that he made up.
func (a *apart) issue() (at forgetest.At, ref slot.Ref) {
	at = a.forge.AddIssue(repo, "octocat", "An issue", "")
	first := a.forge.AddComment(at, "mallory", "I have seen this, too.")
	a.forge.AddComment(at, "mallory", fmt.Sprintf("<!-- oneslot:reservation v1 state=running id=mallory renewal=0 posting=60000 ttl=86400000 "+
		"host=host-9 path=manual forced=0 comment=%d mac=%s -->\nmine", first.ID+1, strings.Repeat("ab", 32)))
	return at, a.forge.Ref("forge.test", at)
}

// run is `oneslot run` on this host.
func (h *host) run(ref slot.Ref, work []string, flags ...string) job {
	return run(ref, append(slices.Clone(h.env), work...), flags...)
}

// tidy lets a process of the host's folder run, whose work is about something else.
func (h *host) tidy() {
	h.want(0, h.run(ref(h.t, "something else"), work(plain, 0)))
}

// rests waits until no process of a run of the host is left.
func (h *host) rests() {
	poll(h.t, patience, "its workers end", func() bool { return len(h.mine()) == 0 })
}

// lines are those of the journal that are new since the last call.
func (a *apart) lines() []line {
	a.t.Helper()
	lines, offset, err := readJournal(filepath.Join(a.dir, "journal"), a.offset)
	if err != nil {
		a.t.Error(err)
	}
	a.offset = offset
	return lines
}

// worked reports that a worker of the slot has ended by itself.
func (r *race) worked() bool {
	lines, _, err := readJournal(filepath.Join(r.dir, "journal"), r.offset)
	return err == nil && slices.ContainsFunc(lines, func(l line) bool { return l.Event == "end" && l.Slot == r.ref.Slug() })
}

// both tells of two workers at once. Fences of different stores are not comparable.
func both(lines []line) []string {
	return slices.DeleteFunc(judge(lines), func(fault string) bool { return strings.HasPrefix(fault, "P2") })
}

// left are the comments on a thread that a host has made; of all hosts, if h is nil.
func (a *apart) left(at forgetest.At, h *host) (texts []string) {
	for _, c := range a.forge.Comments(at) {
		if c.Author == "mallory" {
			continue
		}
		if h == nil || strings.Contains(c.Body, " host="+h.name+" ") {
			texts = append(texts, fmt.Sprintf("%d by %s: %.120s", c.ID, c.Author, c.Body))
		}
	}
	return texts
}

// untouched finds fault with what became of a stranger's comments and of the lock.
func (a *apart) untouched(at forgetest.At) (faults []string) {
	n := 0
	for _, c := range a.forge.Comments(at) {
		if c.Author == "mallory" && c.Updated.Equal(c.Created) {
			n++
		}
	}
	if n != 2 {
		faults = append(faults, fmt.Sprintf("%d of the 2 comments of a stranger are as they were", n))
	}
	if thread, _ := a.forge.Thread(at); thread.Locked {
		faults = append(faults, "the conversation is locked")
	}
	return faults
}

// calm has the forge answer as it should from now on, with nothing under way.
func (a *apart) calm(remove []func()) {
	for _, f := range remove {
		f()
	}
	a.forge.SetReads(forgetest.Reads{})
	time.Sleep(late + early) // what was answered shows, and what was not is not answered any more
}

// The forge's lists are behind an answered write, and a comment may have its id before
// it can be seen, by so much at most.
const (
	late  = 250 * time.Millisecond
	early = 300 * time.Millisecond
)

// endAll ends what a failed test left.
func (a *apart) endAll() {
	live, err := processes(func(env map[string]string) bool { return env[worldVar] == a.dir })
	if err != nil {
		a.t.Error(err)
	}
	for _, p := range live {
		killPID(a.t, p.pid)
	}
}

// together runs tests that wait for the most of their time: all at once, whatever
// -parallel says.
func together(t *testing.T, all map[string]func(*testing.T)) {
	var wg sync.WaitGroup
	for name, f := range all {
		wg.Go(func() { t.Run(name, f) })
	}
	wg.Wait()
}
