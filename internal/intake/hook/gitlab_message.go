package hook

import "strings"

// gitlabMessage is what GitLab sends, as far as it matters.
type gitlabMessage struct {
	Kind       string       `json:"object_kind"`
	Event      string       `json:"event_name"` // of system hooks without a kind
	User       gitlabUser   `json:"user"`
	Project    project      `json:"project"`
	Attributes attributes   `json:"object_attributes"`
	Labels     []gitlabName `json:"labels"`
	Changes    struct {
		Draft       gitlabChange[bool]         `json:"draft"`
		WIP         gitlabChange[bool]         `json:"work_in_progress"`
		Title       *gitlabChange[string]      `json:"title"`
		Description *gitlabChange[string]      `json:"description"`
		Labels      gitlabChange[[]gitlabName] `json:"labels"`
		Assignees   gitlabChange[[]gitlabUser] `json:"assignees"`
		Reviewers   gitlabChange[[]gitlabUser] `json:"reviewers"`
	} `json:"changes"`
	Issue  *attributes `json:"issue"`         // that a note is about
	Merge  *attributes `json:"merge_request"` // that a note or a pipeline is about
	Commit struct {
		ID string `json:"id"`
	} `json:"commit"`

	// A push, its user, and a job.
	Before       string `json:"before"`
	After        string `json:"after"`
	Ref          string `json:"ref"`
	UserUsername string `json:"user_username"`
	Sha          string `json:"sha"`
	BuildID      int64  `json:"build_id"`
	BuildName    string `json:"build_name"`
	BuildStatus  string `json:"build_status"`
	BuildEnd     string `json:"build_finished_at"`
	MayFail      bool   `json:"build_allow_failure"`

	// A system event of a project.
	ProjectID int64  `json:"project_id"`
	Path      string `json:"path_with_namespace"`
	OldPath   string `json:"old_path_with_namespace"`
}

// attributes are those of an issue, a merge request, a note or a pipeline.
type attributes struct {
	ID         int64  `json:"id"`
	IID        int64  `json:"iid"`
	Action     string `json:"action"`
	State      string `json:"state"`
	Title      string `json:"title"`
	Draft      bool   `json:"draft"`
	WIP        bool   `json:"work_in_progress"`
	AuthorID   int64  `json:"author_id"`
	CreatedAt  string `json:"created_at"`
	UpdatedAt  string `json:"updated_at"`
	OldRev     string `json:"oldrev"`
	LastCommit struct {
		ID string `json:"id"`
	} `json:"last_commit"`
	SourceBranch  string       `json:"source_branch"`
	TargetBranch  string       `json:"target_branch"`
	SourceProject int64        `json:"source_project_id"`
	TargetProject int64        `json:"target_project_id"`
	Labels        []gitlabName `json:"labels"`

	// A note.
	Note     string `json:"note"`
	Noteable string `json:"noteable_type"`
	Type     string `json:"type"`
	System   bool   `json:"system"`

	// A pipeline.
	Ref        string `json:"ref"`
	Sha        string `json:"sha"`
	Status     string `json:"status"`
	Name       string `json:"name"`
	FinishedAt string `json:"finished_at"`
}

type gitlabChange[T any] struct {
	Previous T `json:"previous"`
	Current  T `json:"current"`
}

type gitlabName struct {
	Title string `json:"title"`
}

type gitlabUser struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	// A reviewer's.
	State       string `json:"state"`
	ReRequested bool   `json:"re_requested"`
}

type project struct {
	ID         int64  `json:"id"`
	Path       string `json:"path_with_namespace"`
	WebURL     string `json:"web_url"`
	Visibility *int64 `json:"visibility_level"` // 20 is public
}

// bot reports whether it is the user of an access token: GitLab names those itself
// ("project_12_bot_…"), and lets nobody else have such a name.
func (u gitlabUser) bot() bool {
	rest, ok := strings.CutPrefix(u.Username, "project_")
	if !ok {
		rest, ok = strings.CutPrefix(u.Username, "group_")
	}
	id, _, bot := strings.Cut(rest, "_bot")
	return ok && bot && id != "" && strings.Trim(id, "0123456789") == ""
}

// state as other forges name it.
func (a *attributes) state() string {
	switch a.State {
	case "closed", "merged":
		return a.State
	}
	return "open"
}
