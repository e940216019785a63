// Package gitea asks Gitea, Forgejo and Gogs, through Gitea's own library.
//
// What is special about them, as measured and as their sources say:
//
//   - The comments of an issue come whole, whatever page is asked for, and are there
//     right after the write was answered. No list has an ETag.
//   - A draft is a pull request whose title starts with "WIP:" or "[WIP]".
//   - "mergeable": false also means that the check for conflicts still runs, failed, or
//     was left out because of the draft.
//   - The counter of a pull request's comments counts reviews, too, or answers at lines,
//     for good. Some lists' totals count what is hidden: drafts of reviews, repositories.
//   - Who may read may push to refs/for/BRANCH. The head of such a pull request is said to
//     be in the repository itself; it has no label.
//   - A review that was begun as a draft bears the time of its beginning.
//   - A renamed repository answers with a redirect (307), for reads and writes.
//
// Forgejo has no lock for conversations. Gogs has issues, comments and labels, and
// nothing else that is asked for here: the rest is forge.ErrUnsupported.
//
// The package knows its forge alone, and keeps nothing between calls.
package gitea
