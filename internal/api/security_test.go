package api

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/wire"
)

const (
	aClaim = `{"ref":"octo-org/octo-repo#12"}`
	aHold  = `{"scope":"octo-org/octo-repo","reason":"freeze"}`
	aStop  = `{"ref":"octo-org/octo-repo#12","reason":"enough"}`
	bearer = "Authorization: Bearer "
)

// A page in somebody's browser reaches loopback, too, and must get nothing.
func TestSecurity_ForeignPages(t *testing.T) {
	s := startServer(t, nil)
	port := s.tcp[strings.LastIndex(s.tcp, ":"):]
	for _, headers := range [][]string{
		{"Origin: https://evil.example.org"},
		{"Origin: null"},
		{"Origin: http://127.0.0.1:1"},
		{"Sec-Fetch-Site: cross-site"},
		{"Sec-Fetch-Site: same-site"},
	} {
		for _, path := range []string{"", "unix:"} {
			s.want(403, "POST", path+"/api/v1/claims", aClaim, headers...)
			s.want(403, "GET", path+"/api/v1/claims", "", headers...)
		}
	}
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
		s.want(415, "POST", "/api/v1/claims", aClaim, "Content-Type: "+kind)
	}
	// A name that somebody had lead here (DNS rebinding), and what a proxy passed on.
	for _, host := range []string{"evil.example.org" + port, "127.0.0.1.evil.example.org", "localhost.evil.example.org", "10.0.0.1"} {
		s.want(401, "GET", "/api/v1/claims", "", "Host: "+host)
		s.want(401, "POST", "/api/v1/claims", aClaim, "Host: "+host)
	}
	s.want(401, "GET", "/api/v1/claims", "", "X-Forwarded-For: 192.0.2.1")
	if s.want(200, "GET", "/api/v1/claims", "").body != "{\"claims\":[]}\n" {
		t.Error("something was claimed")
	}
	for _, host := range []string{"127.0.0.1" + port, "localhost" + port, "[::1]" + port, "localhost"} {
		s.want(200, "GET", "/api/v1/claims", "", "Host: "+host)
	}
	s.want(200, "POST", "/api/v1/claims", aClaim, "Origin: "+s.tcp, "Sec-Fetch-Site: same-origin", "Content-Type: application/json; charset=utf-8")
}

// What ends or keeps out somebody else's work is admin's: over TCP by token, over
// the unix socket by uid.
func TestSecurity_WhoMayWhat(t *testing.T) {
	closed := startServer(t, func(o *Options) { o.Open, o.Broker = false, &broker{} })
	open := startServer(t, func(o *Options) { o.Broker = &broker{} })
	for _, c := range []struct {
		method, path, body string
	}{
		{"GET", "/api/v1/claims", ""},
		{"POST", "/api/v1/claims", aClaim},
		{"POST", "/api/v1/events", `{"ref":"octo-org/octo-repo#12"}`},
		{"POST", "/api/v1/holds", aHold},
		{"POST", "/api/v1/stop", aStop},
	} {
		for _, shown := range []string{"", "Basic ZDpkaXNwYXRjaC10b2tlbg==", "Bearer ", "Bearer dispatch-toke", "Bearer dispatch-token2", "bearer dispatch-token"} {
			if shown == "" {
				closed.want(401, c.method, c.path, c.body)
				continue
			}
			a := closed.ask(c.method, c.path, c.body, "Authorization: "+shown)
			if a.StatusCode != 401 && a.StatusCode != 429 {
				t.Errorf("%s with %q: %s", c.path, shown, a.Status)
			}
		}
	}
	// The wrong ones above have used up the tries of this address.
	closed.want(429, "GET", "/api/v1/claims", "", bearer+"admin-token")
	// But those of a right one that nobody finds by trying.
	closed.want(200, "GET", "/api/v1/claims", "", bearer+longSecret)
	closed = startServer(t, func(o *Options) { o.Open, o.Broker = false, &broker{} })
	for _, c := range []struct {
		method, path, body          string
		read, dispatch, admin, open int
	}{
		{"GET", "/api/v1/claims", "", 200, 200, 200, 200},
		{"POST", "/api/v1/claims", aClaim, 403, 200, 409, 200},
		{"POST", "/api/v1/events", `{"ref":"octo-org/octo-repo#12"}`, 403, 200, 200, 200},
		{"POST", "/api/v1/stop", aStop, 403, 403, 200, 403},
		{"POST", "/api/v1/takeover", aStop, 403, 403, 200, 403},
		{"POST", "/api/v1/holds", aHold, 403, 403, 200, 403},
		{"POST", "/api/v1/holds/end", `{"scope":"octo-org/octo-repo"}`, 403, 403, 200, 403},
	} {
		closed.want(c.read, c.method, c.path, c.body, bearer+"read-token")
		closed.want(c.dispatch, c.method, c.path, c.body, bearer+"dispatch-token")
		closed.want(c.admin, c.method, c.path, c.body, bearer+"admin-token")
		open.want(c.open, c.method, c.path, c.body)
	}
	open.want(200, "POST", "unix:/api/v1/holds", aHold)
	open.want(200, "POST", "/api/v1/holds", aHold, bearer+"admin-token")

	stranger := startServer(t, func(o *Options) { o.UID, o.Broker = -7, &broker{} })
	stranger.want(403, "POST", "unix:/api/v1/events", `{"ref":"key:a","run":["id"],"dir":"/"}`)
}

// The API takes no command to run, but from the server's own user.
func TestSecurity_NoCommands(t *testing.T) {
	b := &broker{}
	s := startServer(t, func(o *Options) { o.Broker = b })
	withCommand := `{"ref":"octo-org/octo-repo#12","run":["sh","-c","id"],"dir":"/tmp"}`
	for _, headers := range [][]string{nil, {bearer + "dispatch-token"}, {bearer + "admin-token"}} {
		if p := s.want(403, "POST", "/api/v1/events", withCommand, headers...).problem(t); p.Type != wire.TypeNotAllowed {
			t.Errorf("refused as %s", p.Type)
		}
	}
	if len(b.wishes) != 0 {
		t.Fatalf("the broker was told of %+v", b.wishes)
	}
	s.want(200, "POST", "unix:/api/v1/events", withCommand)
	if len(b.wishes) != 1 || b.wishes[0].Run[0] != "sh" || b.wishes[0].Dir != "/tmp" {
		t.Errorf("the broker was told of %+v", b.wishes)
	}
}

// A slot is taken by force by an admin only, and nobody dies of a caller's word.
func TestSecurity_ForceAndProofs(t *testing.T) {
	alive := sight{claim.Alive}
	s := startServer(t, func(o *Options) { o.Sight = &alive })
	local := fmt.Sprintf(`{"boot":%q,"ns":1,"pid":77,"ticks":5}`, s.opt.Boot)
	s.want(200, "POST", "unix:/api/v1/claims", `{"ref":"key:a","holder":{"host":"h","process":`+local+`}}`)
	holder := s.want(409, "POST", "/api/v1/claims", `{"ref":"key:a"}`).problem(t).Holder
	if holder.Holder.Process.PID != 77 || holder.Holder.Process.Boot != s.opt.Boot {
		t.Fatalf("held by %+v", holder.Holder)
	}
	over := func(why, more string) string {
		return fmt.Sprintf(`{"ref":"key:a","displace":{"claim":%q,"why":%q},"holder":{"host":"x","process":{"boot":%q,"pid":9}}%s}`, holder.Claim, why, s.opt.Boot, more)
	}
	s.want(403, "POST", "/api/v1/claims", over("forced", ""))
	s.want(403, "POST", "/api/v1/claims", over("resumed", ""))
	s.want(403, "POST", "/api/v1/claims", over("ended", ""))
	s.want(403, "POST", "/api/v1/claims", `{"ref":"key:b","head":true}`)
	s.want(409, "POST", "/api/v1/claims", over("dead", "")) // we see it live
	s.want(409, "POST", "/api/v1/claims", over("expired", ""))
	alive.life = claim.Gone
	s.want(200, "POST", "/api/v1/claims", over("dead", ""))

	// Of other hosts, only those of the same host can know.
	far := `{"ref":"key:c","holder":{"host":"h","process":{"boot":"far-boot","pid":3}}}`
	s.want(200, "POST", "/api/v1/claims", far)
	c := s.want(409, "POST", "/api/v1/claims", `{"ref":"key:c"}`).problem(t).Holder
	dead := func(boot string) string {
		return fmt.Sprintf(`{"ref":"key:c","displace":{"claim":%q,"why":"dead"},"holder":{"process":{"boot":%q,"pid":9}}}`, c.Claim, boot)
	}
	s.want(409, "POST", "/api/v1/claims", dead("third-boot"))
	s.want(409, "POST", "/api/v1/claims", dead(""))
	s.want(200, "POST", "/api/v1/claims", dead("far-boot"))
}

// P11: what a caller over TCP says of its process is hearsay: nobody of this host
// takes it for a process here, and signals it.
func TestSecurity_ProcessesByHearsay(t *testing.T) {
	s := startServer(t, func(o *Options) { o.Broker = &broker{log: "a file of this host"} })
	body := fmt.Sprintf(`{"ref":"key:a","kind":"supervised","run":"r1","warden":true,"holder":{"host":"h","process":{"boot":%q,"ns":1,"pid":1,"ticks":2}}}`, s.opt.Boot)
	s.want(200, "POST", "/api/v1/claims", body)
	ref, _ := slot.ParseCanonical("key:a")
	look, err := s.opt.Claims.Look(t.Context(), ref)
	if err != nil || !look.Newest.Holder.Process.Far() {
		t.Errorf("the store holds %+v, %v", look.Newest, err)
	}
	if open, err := s.opt.Claims.OpenRuns(t.Context(), ref); err != nil || len(open) != 0 {
		t.Errorf("this host would end %+v, %v", open, err)
	}
	mine := fmt.Sprintf("/api/v1/runs/open?ref=key:a&boot=%s", s.opt.Boot)
	if a := s.want(200, "GET", mine, ""); !strings.Contains(a.body, `"run":"r1"`) {
		t.Errorf("its own host is not told: %s", a.body)
	}
	if a := s.want(200, "GET", "unix:"+mine, ""); strings.Contains(a.body, `"run":"r1"`) {
		t.Errorf("the server's host is told: %s", a.body)
	}
	s.want(400, "GET", "/api/v1/runs/r1/log", "", bearer+"admin-token")
}

type sight struct{ life claim.Life }

func (s *sight) Life(slot.Process) (claim.Life, string) { return s.life, "as the test says" }
func (s *sight) Watch(slot.Process) (<-chan struct{}, func(), error) {
	return nil, nil, errors.New("not in this test")
}

func TestSecurity_BoundedBodies(t *testing.T) {
	s := startServer(t, nil)
	p := s.want(413, "POST", "/api/v1/claims", `{"ref":"key:`+strings.Repeat("x", maxBody)+`"}`).problem(t)
	if p.Type != wire.TypeTooLarge {
		t.Errorf("refused as %s", p.Type)
	}
	s.want(413, "POST", "/api/v1/decisions", `{"ref":"key:a","detail":"`+strings.Repeat("x", maxBody)+`"}`)
	s.want(400, "POST", "/api/v1/decisions", `{"ref":"key:a","path":"poll","verdict":"defer","reason":"x","detail":"`+strings.Repeat("x", maxText+1)+`","next":""}`)
	many := `{"claims":[` + strings.Repeat(`{"claim":"c","token":"`+strings.Repeat("x", 200)+`"},`, 4000) + `{"claim":"c","token":"t"}]}`
	s.want(200, "POST", "/api/v1/claims/renew", many)
	for _, body := range []string{"", "null1", "[]", `{"ref":`, aClaim + aClaim, `{"ref":"key:a","nope":1}`, `{"ref":1}`, `{"ref":"key:a","ttl":"soon"}`} {
		s.want(400, "POST", "/api/v1/claims", body)
	}
	s.want(400, "GET", "/api/v1/runs?limit=x", "")
	s.want(400, "GET", "/api/v1/runs?limit=-1", "")
	s.want(400, "GET", "/api/v1/runs?nope=1", "")
	s.want(404, "GET", "/api/v1/nope", "")
	s.want(404, "PUT", "/api/v1/claims", "{}")
}

// Failures are counted by source, in bounded room, and forgiven.
func TestSecurity_RateOfFailures(t *testing.T) {
	now := time.Unix(0, 0)
	l := newLimiter()
	l.now = func() time.Time { return now }
	source := func(n int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 32)
	}
	tries := 0
	for ; l.may(source(1)); tries++ {
		l.failed(source(1))
	}
	if tries != failsMax || !l.may(source(2)) {
		t.Errorf("%d tries; want %d, and none of it another's fault", tries, failsMax)
	}
	now = now.Add(failsEvery)
	if !l.may(source(1)) {
		t.Error("nothing is forgiven")
	}
	for n := range 3 * sourcesMax {
		l.failed(source(n))
	}
	if len(l.free) > sourcesMax {
		t.Errorf("%d sources are remembered", len(l.free))
	}
	r := &http.Request{RemoteAddr: "[2001:db8:1:2:3:4:5:6]:80"}
	if got := sourceOf(r).String(); got != "2001:db8:1:2::/64" {
		t.Errorf("counted as %s", got)
	}
}

// No line of the log can be forged, and no secret is in it.
func TestSecurity_Log(t *testing.T) {
	var log bytes.Buffer
	s := startServer(t, func(o *Options) {
		o.Log, o.Broker = slog.New(slog.NewTextHandler(&log, nil)), &broker{}
	})
	s.want(200, "POST", "/api/v1/claims", `{"ref":"octo-org/octo-repo@x\"level=ERROR","token":"canary-canary-canary"}`)
	s.want(401, "GET", "/api/v1/claims", "", bearer+"canary")
	s.want(200, "POST", "/api/v1/events", `{"ref":"key:a","note":"canary\nlevel=ERROR"}`)
	for _, bad := range []string{"canary", " level=ERROR", "\nlevel=ERROR"} {
		if strings.Contains(log.String(), bad) {
			t.Errorf("the log has %q: %s", bad, log.String())
		}
	}
}
