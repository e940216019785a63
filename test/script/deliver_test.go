package script

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// daemonSocket is where the daemons of scripts serve.
const daemonSocket = "oneslot.sock"

// toDaemon sends a request to the script's daemon.
func toDaemon(ts *testscript.TestScript, req *http.Request) (*http.Response, error) {
	socket := filepath.Join(ts.Getenv("WORK"), daemonSocket)
	client := &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	req.URL.Scheme, req.URL.Host, req.RequestURI = "http", "oneslot", ""
	return client.Do(req)
}

// serving waits until the script's daemon answers.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: serving")
	}
	poll(ts, func() bool {
		req, err := http.NewRequest(http.MethodGet, "/readyz", nil)
		ts.Check(err)
		resp, err := toDaemon(ts, req)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, func() string { return "a daemon that answers" })
}

// get asks the daemon, and keeps what it answers in the file "answer".
func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: get PATH")
	}
	req, err := http.NewRequest(http.MethodGet, args[0], nil)
	ts.Check(err)
	resp, err := toDaemon(ts, req)
	ts.Check(err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("answer"), answer, 0o600))
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("status %s: %s", resp.Status, answer)
	}
}

// deliver sends a delivery to a hook. What HEADERS holds is sent as it was
// recorded; with a secret, GitHub's signature is added. The answer goes to the
// file "answer".
func deliver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 || len(args) > 5 {
		ts.Fatalf("usage: deliver STATUS HOOK HEADERS BODY [SECRET]")
	}
	head, _, _ := strings.Cut(ts.ReadFile(args[2]), "#recorded-at")
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.TrimRight(head, "\n") + "\n\n")))
	ts.Check(err)
	body := []byte(ts.ReadFile(args[3]))
	if len(args) == 5 {
		mac := hmac.New(sha256.New, []byte(args[4]))
		mac.Write(body)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	req.Method, req.URL.Path = http.MethodPost, "/hooks/"+args[1]
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp, err := toDaemon(ts, req)
	ts.Check(err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("answer"), answer, 0o600))
	if got := strconv.Itoa(resp.StatusCode); got != args[0] {
		ts.Fatalf("status %s, want %s: %s", got, args[0], answer)
	}
}
