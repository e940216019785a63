package poll

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/oneslot/oneslot/internal/forge"
	"github.com/oneslot/oneslot/internal/intake/hook"
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
