package poll

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/hook"
	"github.com/oneslot/oneslot/internal/slot"
)

// C01, C02: GitLab's verdicts have no id. One verdict is one event, by whatever path; two
// are two, of two reviewers in one second as of one reviewer at two times.
func TestC01_GitLabsVerdicts(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ by, at, kind string }{
		{"ann", "2026-01-02 03:04:05", "changes_requested"},
		{"bob", "2026-01-02 03:04:05", "changes_requested"},
		{"ann", "2026-01-02 04:04:05", "changes_requested"},
		{"ann", "2026-01-02 05:04:05", "approved"},
		{"ann", "2026-01-02 06:04:05", "approved"},
	} {
		change := `"action":"approved"`
		if c.kind == "changes_requested" {
			change = `"action":"update"`
		}
		body := fmt.Sprintf(`{"object_kind":"merge_request","user":{"id":9,"username":%q},
			"project":{"id":1,"path_with_namespace":"octo/hello","web_url":"https://%s/octo/hello"},
			"object_attributes":{"iid":2,"state":"opened",%s,"updated_at":"%s UTC","last_commit":{"id":%q}},
			"changes":{"reviewers":{"previous":[{"username":%[1]q,"state":"unreviewed"}],"current":[{"username":%[1]q,"state":"requested_changes"}]}}}`,
			c.by, host, change, c.at, sha(1))
		parsed, err := hook.Parse(hook.Hook{Forge: "gitlab", Host: host}, http.Header{"X-Gitlab-Event": {"Merge Request Hook"}}, []byte(body))
		if err != nil || len(parsed.Events) != 1 || string(parsed.Events[0].Kind) != c.kind {
			t.Fatalf("%+v, %v", parsed, err)
		}
		want := parsed.Events[0]
		found := polled(t, "gitlab", want, nil, func(f *fake, _ map[string]any, th *forge.Thread) {
			at := mustTime(c.at[:10] + "T" + c.at[11:] + ".123Z")
			f.reviews[th.Ref] = forge.Reviews{Known: true, Reviews: []forge.Review{{
				Author: forge.Person{Login: c.by}, State: c.kind, At: at, UpdatedText: at.Format("2006-01-02T15:04:05.000Z07:00"),
			}}}
		})
		twin := false
		for _, f := range found {
			twin = twin || f.Kind == want.Kind && f.Fingerprint == want.Fingerprint && f.Facts.Actor == c.by
		}
		if other := seen[want.Fingerprint]; !twin || other != "" {
			t.Errorf("%+v: no twin of %q (as %q) in %+v", c, want.Fingerprint, other, found)
		}
		seen[want.Fingerprint] = c.by + " at " + c.at
	}
}

// C24: a verdict stays the same one when commits are pushed after it, on every forge.
func TestC24_AVerdictBeforeAPush(t *testing.T) {
	for _, kind := range []string{"github", "forgejo"} {
		t.Run(kind, func(t *testing.T) {
			in(t, []slot.EventKind{slot.ChangesRequested}, func(b *bench) {
				b.o.Sources[0].Type = kind
				b.put(pull(2))
				time.Sleep(time.Hour)
				b.want(b.tick(), "")
				judge := func(id int64) {
					now := time.Now().Truncate(time.Second)
					b.reviews[ref(2)] = forge.Reviews{Reviews: []forge.Review{{
						ID: id, Author: author, State: "changes_requested", Sha: b.threads[ref(2)].Head.Sha, At: now, UpdatedText: written(now),
					}}}
					b.edit(ref(2), func(*forge.Thread) {})
				}
				judge(9)
				b.want(b.soon(), "changes_requested #2!")
				for n := range 3 {
					b.edit(ref(2), func(t *forge.Thread) { t.Head.Sha = sha(100 + n) })
					b.want(b.soon(), "")
				}
				judge(10)
				b.want(b.soon(), "changes_requested #2!")
			})
		})
	}
}

// C27: a command in a thread that nobody resolved counts once, while it is fresh; the
// thread counts for as long as it stands.
func TestC27_AnOldCommandInAnUnresolvedThread(t *testing.T) {
	in(t, nil, func(b *bench) {
		say := func(id int64) {
			now := time.Now().Truncate(time.Second)
			b.reviews[ref(2)] = forge.Reviews{Known: true, Unresolved: []forge.Talk{{ID: "x", Last: forge.Comment{
				ID: id, Author: author, Body: "/run", Created: now, Updated: now, UpdatedText: written(now)}}}}
		}
		b.put(pull(2))
		say(70)
		time.Sleep(90 * 24 * time.Hour)
		b.want(b.tick(), "review_comment #2!")
		say(71)
		b.edit(ref(2), func(*forge.Thread) {})
		b.want(b.soon(), "command #2, review_comment #2!")
		b.desk.known = map[string]bool{} // as a queue forgets, after a while
		time.Sleep(time.Hour)
		again := ""
		for range 3 * rotate {
			again += b.tick()
		}
		b.want(again, "review_comment #2!")
	})
}

// A command of a review that was begun long ago counts from when others can see it.
func TestC27_ACommandOfADraft(t *testing.T) {
	in(t, nil, func(b *bench) {
		begun := time.Now().Truncate(time.Second)
		b.put(pull(2))
		time.Sleep(time.Hour)
		b.want(b.tick(), "")
		now := time.Now().Truncate(time.Second)
		b.reviews[ref(2)] = forge.Reviews{Known: true, Unresolved: []forge.Talk{{ID: "x", Last: forge.Comment{
			ID: 70, Author: author, Body: "/run", Created: begun, Shown: now, Updated: now, UpdatedText: written(now)}}}}
		b.edit(ref(2), func(*forge.Thread) {})
		b.want(b.soon(), "command #2, review_comment #2!")
	})
}
