package slot

import "testing"

func TestRefIn(t *testing.T) {
	for _, c := range []struct{ ref, repo, want string }{
		{"github.com/octo/hello#7", "github.com/octo/new", "github.com/octo/new#7"},
		{"gitlab.com/a/b/c!7", "gitlab.com/x/y", "gitlab.com/x/y!7"},
		{"github.com/octo/hello@main:build", "github.com/other/hello", "github.com/other/hello@main:build"},
		{"key:anything", "github.com/octo/new", "key:anything"},
		{"github.com/octo/hello#7", "github.com/octo", ""},
		{"github.com/octo/hello#7", "", ""},
		{"github.com/octo/hello#7", "github.com/octo/new#8", ""},
	} {
		ref, err := ParseCanonical(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ref.In(c.repo)
		if got.String() != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s in %s: %s, %v", c.ref, c.repo, got, err)
		}
	}
}
