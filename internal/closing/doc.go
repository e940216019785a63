// Package closing reads which issues a text closes once it is on the default branch:
// the text of a pull request, or a commit's message. It asks nobody, and believes
// the forge's rules only as far as they are written down; where they are vague, a
// text closes less.
//
// The rules of each forge:
//
//   - GitHub: a keyword directly before each reference, in any case, with or without
//     a colon (docs.github.com, "Linking a pull request to an issue").
//   - Gitea and Forgejo: the same words, "!12" means "#12" (go-gitea/gitea,
//     modules/references). Gogs is read like them.
//   - GitLab: more words, of which only the first letter may have either case, and
//     one keyword for a whole list: "Closes #4, #6, and #7" (docs.gitlab.com,
//     "Default closing pattern").
package closing
