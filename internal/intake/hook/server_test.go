package hook

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/slot"
)

func (b *rig) handler() *handler { return b.Handler.(*handler) }

func (b *rig) serve(t testing.TB) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(b)
	t.Cleanup(s.Close)
	return s
}

// send posts a signed delivery to a server.
func send(t testing.TB, s *httptest.Server, body []byte) *http.Response {
	t.Helper()
	r := request("issues", body)
	r.RequestURI = ""
	u, err := url.Parse(s.URL + "/hooks/test")
	if err != nil {
		t.Fatal(err)
	}
	r.URL = u
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// sized is a delivery of n bytes.
func sized(n int) []byte {
	const begin, end = `{"action":"opened","issue":{"number":1,"body":"`, `"},"repository":{"full_name":"a/b"}}`
	return []byte(begin + strings.Repeat("x", n-len(begin)-len(end)) + end)
}

// C38: sizes.
func TestC38_Sizes(t *testing.T) {
	b := newRig(t)
	s := b.serve(t)
	for _, c := range []struct {
		size, want int
		file       bool
	}{
		{457_522, 202, false},
		{spoolOver, 202, false},
		{spoolOver + 1, 202, true},
		{26_109_542, 202, true}, // 24.9 MiB
		{maxBody, 202, true},
		{maxBody + 1, 413, false},
	} {
		body, before := sized(c.size), len(b.deliveries())
		if resp := send(t, s, body); resp.StatusCode != c.want {
			t.Errorf("%d bytes: %s", c.size, resp.Status)
			continue
		}
		if c.want != http.StatusAccepted {
			continue
		}
		d := b.deliveries()[before].Delivery
		got := d.Body
		if c.file {
			info, err := os.Stat(d.File)
			if err != nil || info.Mode() != 0o600 || filepath.Dir(d.File) != b.dir || d.Body != nil {
				t.Fatalf("%d bytes: %v, %v", c.size, info, err)
			}
			got, _ = os.ReadFile(d.File)
		}
		if !bytes.Equal(got, body) || d.Size != int64(c.size) {
			t.Errorf("%d bytes: %d kept", c.size, len(got))
		}
	}
	if n := len(b.files(t)); n != 3 {
		t.Errorf("%d files: %q", n, b.files(t))
	}
}

// C38: without a length, the limit is the same.
func TestC38_Chunked(t *testing.T) {
	b := newRig(t)
	s := b.serve(t)
	for n, want := range map[int]int{2 << 10: 202, 2 << 20: 202, maxBody + 1: 413} {
		body := sized(n)
		r := request("issues", body)
		req, err := http.NewRequest(http.MethodPost, s.URL+"/hooks/test", io.MultiReader(bytes.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = r.Header
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != want || req.ContentLength > 0 {
			t.Errorf("%d bytes: %s", n, resp.Status)
		}
	}
	if n := len(b.files(t)); n != 1 {
		t.Errorf("files left: %q", b.files(t))
	}
}

// What is turned down, or not kept, leaves no file.
func TestSpoolIsCleared(t *testing.T) {
	big := sized(2 << 20)
	for name, c := range map[string]struct {
		change func(*rig, *http.Request)
		want   int
		files  int
	}{
		"wrong signature": {func(_ *rig, r *http.Request) {
			r.Header.Set("X-Hub-Signature-256", "sha256="+mac("guess", string(big)))
		}, 401, 0},
		"no event":    {func(_ *rig, r *http.Request) { r.Header.Del("X-Github-Event") }, 400, 0},
		"sink fails":  {func(b *rig, _ *http.Request) { b.err = io.ErrClosedPipe }, 503, 0},
		"sink unsure": {func(b *rig, _ *http.Request) { b.err = fmt.Errorf("commit: %w", slot.ErrUnknown) }, 503, 1},
		"no folder":   {func(b *rig, _ *http.Request) { _ = os.Remove(b.dir) }, 503, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newRig(t)
			r := request("issues", big)
			c.change(b, r)
			if w := b.do(r); w.Code != c.want {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
			_ = os.Mkdir(b.dir, 0o700) // again, for "no folder"
			if files := b.files(t); len(files) != c.files {
				t.Errorf("files left: %q", files)
			}
		})
	}
}

func TestTidy(t *testing.T) {
	b := newRig(t)
	for _, name := range []string{"1.body.part", "2.body", "other.part"} {
		if err := os.WriteFile(filepath.Join(b.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Tidy(b.dir); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(b.files(t), " "); got != "2.body other.part" {
		t.Errorf("left: %s", got)
	}
}

// C38: at most so many large bodies at once; the others wait their turn, and normal
// deliveries for none of them.
func TestC38_LargeOnesWait(t *testing.T) {
	b := newRig(t)
	b.handler().patience.turn = 20 * time.Millisecond
	inside, leave := make(chan bool, largeAtOnce), make(chan bool)
	b.enter = func() { inside <- true; <-leave }
	var busy sync.WaitGroup
	for range largeAtOnce {
		busy.Go(func() {
			if w := b.do(request("issues", sized(2<<20))); w.Code != http.StatusAccepted {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
		<-inside
	}
	if w := b.do(request("issues", sized(2<<20))); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more: %d", w.Code)
	}
	busy.Go(func() {
		if w := b.do(request("issues", sized(1<<10))); w.Code != http.StatusAccepted {
			t.Errorf("small: %d", w.Code)
		}
	})
	<-inside // though no large one has left
	close(leave)
	busy.Wait()
	b.enter = nil
	if w := b.do(request("issues", sized(2<<20))); w.Code != http.StatusAccepted {
		t.Errorf("afterwards: %d", w.Code)
	}
	if b.count("test busy") != 1 {
		t.Error("not counted")
	}
}

// C38: a sender that drips is given up, and one that says a wrong length.
func TestC38_DripsAndLies(t *testing.T) {
	b := newRig(t)
	b.handler().patience.read = 50 * time.Millisecond
	s := b.serve(t)
	body := sized(1 << 10)
	header := "POST /hooks/test HTTP/1.1\r\nHost: x\r\nX-Github-Event: issues\r\nX-Hub-Signature-256: sha256=" + mac("test-secret", string(body)) + "\r\n"
	for _, c := range []struct {
		name, send string
		shut       bool
		want       string
	}{
		{"drip", header + "Content-Length: 1024\r\n\r\n{", false, "408"},
		{"drip, refused", strings.Replace(header, "sha256", "sha1", 1) + "Content-Length: 1024\r\n\r\n{", false, "401"},
		{"too short", header + "Content-Length: 2000\r\n\r\n" + string(body), true, "400"},
		{"cut by its length", header + "Content-Length: 1000\r\n\r\n" + string(body), true, "401"},
		{"25 MiB and one, never sent", header + "Content-Length: 26214401\r\n\r\n", false, "413"},
		{"negative", header + "Content-Length: -1\r\n\r\n", true, "400"},
		{"two lengths", header + "Content-Length: 1024\r\nContent-Length: 1000\r\n\r\n", true, "400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn, c.send); err != nil {
				t.Fatal(err)
			}
			if c.shut {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || !strings.Contains(line, " "+c.want+" ") {
				t.Errorf("%q, %v; want %s", line, err, c.want)
			}
		})
	}
	if resp := send(t, s, body); resp.StatusCode != http.StatusAccepted {
		t.Errorf("a normal one: %s", resp.Status)
	}
}

// C38: a large body has a place of few, which nobody keeps by dripping; one that
// comes at a steady pace may take longer than any portion of it.
func TestC38_ALargeBodyKeepsItsPace(t *testing.T) {
	b := newRig(t)
	b.handler().patience.spool = time.Second
	s := b.serve(t)
	body := sized(2 << 20)
	for name, c := range map[string]struct {
		drip bool
		want string
	}{"dripping": {true, "408"}, "steady": {false, "202"}} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			fmt.Fprintf(conn, "POST /hooks/test HTTP/1.1\r\nHost: x\r\nX-Github-Event: issues\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n",
				mac("test-secret", string(body)), len(body))
			first := spoolOver + portion
			if _, err := conn.Write(body[:first]); err != nil {
				t.Fatal(err)
			}
			if !c.drip {
				for rest := body[first:]; len(rest) > 0; {
					time.Sleep(400 * time.Millisecond) // of the second for each portion; all together take longer
					n := min(len(rest), portion)
					if _, err := conn.Write(rest[:n]); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
			}
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || !strings.Contains(line, " "+c.want+" ") {
				t.Errorf("%q, %v; want %s", line, err, c.want)
			}
		})
	}
}

// A store that takes its time outlasts the time that a body has.
func TestSlowSink(t *testing.T) {
	b := newRig(t)
	b.handler().patience.read = 20 * time.Millisecond
	s := b.serve(t)
	b.enter = func() { time.Sleep(60 * time.Millisecond) }
	if resp := send(t, s, sized(1<<10)); resp.StatusCode != http.StatusAccepted {
		t.Errorf("%s", resp.Status)
	}
}

// P4: what was sent is kept, though the forge hung up before the answer.
func TestP4_ForgeHangsUp(t *testing.T) {
	b := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.enter = cancel
	b.do(request("issues", sized(1<<10)).WithContext(ctx))
	if len(b.deliveries()) != 1 {
		t.Error("lost")
	}
}

// A sender that closes after the answer still writes when the reason is known: it is
// to get the reason, not a broken pipe.
func TestRefusalsAreRead(t *testing.T) {
	b := newRig(t)
	for what, change := range map[string]func(*http.Request){
		"no signature": func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") },
		"no such hook": func(r *http.Request) { r.URL.Path = "/hooks/nobody" },
	} {
		r := request("issues", sized(100<<10))
		r.Close = true
		change(r)
		if w := b.do(r); w.Code/100 != 4 {
			t.Errorf("%s: %d", what, w.Code)
		}
		if n, _ := io.Copy(io.Discard, r.Body); n != 0 {
			t.Errorf("%s: %d bytes of the body were not read", what, n)
		}
	}
}

// C36: a compressed body is verified as it came, and then refused.
func TestC36_Compressed(t *testing.T) {
	b := newRig(t)
	plain := sized(1 << 10)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(plain)
	_ = z.Close()
	r := request("issues", packed.Bytes())
	r.Header.Set("Content-Encoding", "gzip")
	if w := b.do(r); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("signed as sent: %d", w.Code)
	}
	r = request("issues", packed.Bytes())
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("X-Hub-Signature-256", "sha256="+mac("test-secret", string(plain)))
	if w := b.do(r); w.Code != http.StatusUnauthorized {
		t.Errorf("signed over the text: %d", w.Code)
	}
}

// GitHub can be told to send a form. Its signature is over the form, and what is
// kept is the payload in it.
func TestForm(t *testing.T) {
	for _, n := range []int{1 << 10, 2 << 20} {
		b := newRig(t, testHook(GitHub), Hook{Name: "gitea", Forge: Gitea, Host: "git.example.com", Secret: []byte("test-secret")})
		plain := sized(n)
		body := []byte(url.Values{"payload": {string(plain)}}.Encode())
		post := func(body []byte, path string) *httptest.ResponseRecorder {
			r := request("issues", body)
			r.URL.Path = path
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return b.do(r)
		}
		answerOf(t, post(body, "/hooks/test"))
		d := b.deliveries()[0].Delivery
		if got := d.Body; n > spoolOver {
			if got, _ = os.ReadFile(d.File); !bytes.Equal(got, plain) {
				t.Error("the file has something else")
			}
		} else if !bytes.Equal(got, plain) {
			t.Error("something else was kept")
		}
		for _, odd := range []string{"payload=", "x=1", "payload=%zz", "payload={}&payload={}"} {
			if w := post([]byte(odd), "/hooks/test"); w.Code != http.StatusBadRequest {
				t.Errorf("%s: %d", odd, w.Code)
			}
		}
		if w := post(body, "/hooks/gitea"); w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("Gitea: %d", w.Code)
		}
	}
}

// The whole way, for each recorded delivery: over a real connection, with the
// headers, the signature and the bytes as they came.
func TestRecordedDeliveries(t *testing.T) {
	b := newRig(t, testHook(Gitea))
	s := b.serve(t)
	n := 0
	for _, r := range rows(t) {
		if !strings.HasPrefix(r.file, "gitea-recorded/") {
			continue
		}
		req, err := http.NewRequest(http.MethodPost, s.URL+"/hooks/test", bytes.NewReader(read(t, r.file)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = r.header(t)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusAccepted {
			t.Errorf("%s: %s: %s", r.file, resp.Status, text)
		}
		if d := b.deliveries()[n].Delivery; d.GUID != req.Header.Get("X-Gitea-Delivery") || !bytes.Equal(d.Body, read(t, r.file)) {
			t.Errorf("%s: kept as %s", r.file, d.GUID)
		}
		n++
	}
}
