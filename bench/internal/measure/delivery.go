package measure

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

const (
	hookName   = "bench"
	hookSecret = "a secret that signs what GitHub sends"
)

// deliveries makes signed webhook requests out of recorded GitHub payloads of 22 to
// 26 KB: a check's result, an edited pull request, a review. No two are alike.
type deliveries struct {
	bodies []payload
	n      int
}

// payload is a recorded body, and what of it is replaced.
type payload struct {
	event        string
	text         []byte
	number, once string // by the number of the pull request, and by something new
	refs         int    // how many pull requests it is about
}

// newDeliveries reads the payloads from oneslot's source.
func (b *Bench) newDeliveries() (*deliveries, error) {
	d := &deliveries{bodies: []payload{
		{"workflow_run", nil, `"number": 2,`, "3484a3fb816e0859fd6e1cea078d76385ff50625", 200},
		{"pull_request", nil, `"number": 1,`, "Update .drone.yml", 200},
		{"pull_request_review", nil, `"number": 8,`, "2626884", 200},
	}}
	for i, name := range []string{"34-workflow_run.completed", "16-pull_request.edited", "24-pull_request_review.submitted"} {
		text, err := os.ReadFile(filepath.Join(b.module, "internal", "intake", "hook", "testdata", "github", name+".json"))
		if err != nil {
			return nil, err
		}
		for _, part := range []string{d.bodies[i].number, d.bodies[i].once} {
			if !bytes.Contains(text, []byte(part)) {
				return nil, fmt.Errorf("%s does not have %s any more", name, part)
			}
		}
		d.bodies[i].text = text
	}
	return d, nil
}

// next is the next delivery, as it goes over the wire to host.
func (d *deliveries) next(host string) []byte {
	d.n++
	p := d.bodies[d.n%len(d.bodies)]
	return d.post(host, p, d.n/len(d.bodies)%p.refs+1)
}

// result is a delivery of a check's result for one pull request.
func (d *deliveries) result(host string, pull int) []byte {
	d.n++
	return d.post(host, d.bodies[0], pull)
}

func (d *deliveries) post(host string, p payload, pull int) []byte {
	text := bytes.ReplaceAll(p.text, []byte(p.number), fmt.Appendf(nil, `"number": %d,`, pull))
	once := fmt.Sprint(1_000_000 + d.n)
	if len(p.once) == 40 {
		once = fmt.Sprintf("%040x", d.n)
	}
	text = bytes.ReplaceAll(text, []byte(p.once), []byte(once))
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(text)
	head := fmt.Sprintf("POST /hooks/%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: GitHub-Hookshot/bench\r\nContent-Type: application/json\r\n"+
		"X-GitHub-Event: %s\r\nX-GitHub-Delivery: 72d3162e-cc78-11e3-81ab-%012x\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n",
		hookName, host, p.event, d.n, hex.EncodeToString(mac.Sum(nil)), len(text))
	return append([]byte(head), text...)
}

// some makes n deliveries.
func (d *deliveries) some(host string, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = d.next(host)
	}
	return all
}
