package hook

import (
	"strings"

	"github.com/oneslot/oneslot/internal/intake/mark"
)

// message is what GitHub, Forgejo, Gitea and Gogs send, as far as it matters. The
// last three copied the first, and differ in a few names.
type message struct {
	Action      string   `json:"action"`
	Number      int64    `json:"number"`
	Issue       *thing   `json:"issue"`
	Pull        *thing   `json:"pull_request"`
	IsPull      bool     `json:"is_pull"` // Gitea: the issue is a pull request
	Comment     *comment `json:"comment"`
	Review      *comment `json:"review"`
	Label       named    `json:"label"`
	Assignee    *user    `json:"assignee"`
	Reviewer    *user    `json:"requested_reviewer"`
	Team        named    `json:"requested_team"`
	Changes     changes  `json:"changes"`
	Repository  repo     `json:"repository"`
	Sender      user     `json:"sender"`
	CheckRun    *check   `json:"check_run"`
	CheckSuite  *check   `json:"check_suite"`
	WorkflowRun *check   `json:"workflow_run"`

	// A commit status.
	ID        int64   `json:"id"`
	Sha       string  `json:"sha"`
	State     string  `json:"state"`
	Context   string  `json:"context"`
	UpdatedAt string  `json:"updated_at"`
	Branches  []named `json:"branches"`

	// A push.
	Before string `json:"before"`
	After  string `json:"after"`
}

// thing is an issue or a pull request.
type thing struct {
	Number      int64   `json:"number"`
	State       string  `json:"state"`
	Title       string  `json:"title"`
	Draft       *bool   `json:"draft"` // nil in old payloads
	Merged      bool    `json:"merged"`
	MergedAt    string  `json:"merged_at"`
	User        user    `json:"user"`
	Labels      []named `json:"labels"`
	Association string  `json:"author_association"`
	CreatedAt   string  `json:"created_at"`
	UpdatedAt   string  `json:"updated_at"`
	Head        *end    `json:"head"`
	Base        *end    `json:"base"`
	App         *app    `json:"performed_via_github_app"`

	// Pull is there if an issue is a pull request.
	Pull *struct {
		Merged   bool   `json:"merged"`
		MergedAt string `json:"merged_at"`
	} `json:"pull_request"`

	// Gogs has these instead of Head and Base.
	HeadBranch string  `json:"head_branch"`
	BaseBranch string  `json:"base_branch"`
	HeadRepo   *origin `json:"head_repo"`
	BaseRepo   *origin `json:"base_repo"`
}

// end is one end of a pull request.
type end struct {
	Label string  `json:"label"` // Gitea, Forgejo: of a head that is on no branch, empty
	Ref   string  `json:"ref"`
	Sha   string  `json:"sha"`
	Repo  *origin `json:"repo"` // null if it is gone
}

// comment is a comment or a review; Gitea's reviews have no more than Type and
// Content.
type comment struct {
	ID          int64  `json:"id"`
	Body        string `json:"body"`
	Content     string `json:"content"`
	Type        string `json:"type"`
	State       string `json:"state"`
	User        user   `json:"user"`
	Association string `json:"author_association"`
	CreatedAt   string `json:"created_at"`
	UpdatedAt   string `json:"updated_at"`
	SubmittedAt string `json:"submitted_at"`
	App         *app   `json:"performed_via_github_app"`
}

// check is a check run, a check suite or a workflow run.
type check struct {
	ID          int64       `json:"id"`
	Name        string      `json:"name"`
	HeadSha     string      `json:"head_sha"`
	HeadBranch  string      `json:"head_branch"`
	Status      string      `json:"status"`
	Conclusion  string      `json:"conclusion"`
	CompletedAt string      `json:"completed_at"`
	UpdatedAt   string      `json:"updated_at"`
	Attempt     int64       `json:"run_attempt"`
	App         *app        `json:"app"`
	HeadRepo    *origin     `json:"head_repository"`
	Suite       *check      `json:"check_suite"`
	Pulls       []checkPull `json:"pull_requests"`
}

type checkPull struct {
	Number int64 `json:"number"`
	Head   end   `json:"head"`
	Base   end   `json:"base"`
}

// origin is the repository that a branch is in.
type origin struct {
	ID int64 `json:"id"`
}

type repo struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
	Name     string `json:"name"`
	Owner    user   `json:"owner"`
	HTMLURL  string `json:"html_url"`
	Private  *bool  `json:"private"`
}

type user struct {
	Login    string `json:"login"`
	Username string `json:"username"` // in old payloads
	Type     string `json:"type"`
}

type app struct {
	ID   int64  `json:"id"`
	Slug string `json:"slug"`
}

type named struct {
	Name string `json:"name"`
}

// changes are former values.
type changes struct {
	Title      *former `json:"title"`
	Body       *former `json:"body"`
	Repository struct {
		Name former `json:"name"`
	} `json:"repository"`
	Owner struct {
		From struct {
			User         user `json:"user"`
			Organization user `json:"organization"`
		} `json:"from"`
	} `json:"owner"`
}

type former struct {
	From string `json:"from"`
}

func (u user) name() string {
	if u.Login == "" {
		return u.Username
	}
	return u.Login
}

// path is owner/repo.
func (r repo) path() string {
	if r.FullName == "" {
		return r.Owner.name() + "/" + r.Name
	}
	return r.FullName
}

// names are all that the app is known by.
func (a *app) names() []string {
	switch {
	case a == nil:
		return nil
	case a.ID == 0:
		return []string{a.Slug}
	}
	return []string{a.Slug, number(a.ID)}
}

// name of the app: its slug if it has one.
func (a *app) name() string {
	switch {
	case a == nil:
		return ""
	case a.Slug == "" && a.ID != 0:
		return number(a.ID)
	}
	return mark.Line(a.Slug)
}

// draft reports whether a pull request is one. Old servers do not say so.
func (t *thing) draft(forge string) bool {
	if t.Draft != nil {
		return *t.Draft
	}
	return forge != GitHub && wip(t.Title)
}

// wip reports whether Gitea and Forgejo take a pull request of that title for a
// draft, unless they were told other marks.
func wip(title string) bool {
	for _, prefix := range []string{"WIP:", "[WIP]"} {
		if len(title) >= len(prefix) && strings.EqualFold(title[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}
