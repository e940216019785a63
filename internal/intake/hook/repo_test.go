package hook

import (
	"net/http"
	"testing"
)

// C40: a delivery tells the id of its repository, which stays, with the name of now.
func TestC40_WhoseDelivery(t *testing.T) {
	github := http.Header{"X-Github-Event": {"issues"}, "X-Github-Delivery": {"d"}}
	gitlab := http.Header{"X-Gitlab-Event": {"Issue Hook"}}
	for _, c := range []struct {
		name, forge, body string
		header            http.Header
		want              Repo
	}{
		{"GitHub", GitHub, `{"repository":{"id":7,"full_name":"Octo/Hello"},"issue":{"number":1}}`, github, Repo{"7", "github.com/octo/hello"}},
		{"GitLab", GitLab, `{"object_kind":"issue","project":{"id":8,"path_with_namespace":"a/b/c"}}`, gitlab, Repo{"8", "gitlab.com/a/b/c"}},
		{"GitLab, a project's own event", GitLab, `{"event_name":"project_rename","project_id":9,"path_with_namespace":"a/new","old_path_with_namespace":"a/old"}`, gitlab, Repo{"9", "gitlab.com/a/new"}},
		{"no id", GitHub, `{"repository":{"full_name":"octo/hello"},"issue":{"number":1}}`, github, Repo{}},
		{"no name", GitHub, `{"repository":{"id":7},"issue":{"number":1}}`, github, Repo{}},
	} {
		p, err := Parse(Hook{Forge: c.forge}, c.header, []byte(c.body))
		if err != nil || p.Repo != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, p.Repo, err, c.want)
		}
	}
}
