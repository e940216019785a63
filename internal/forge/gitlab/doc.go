// Package gitlab is the forge.Client for GitLab, on its own client library.
//
// Issues ("#12") and merge requests ("!12") have counters of their own, and are two
// slots. Projects are asked for by their whole path, with all groups; GitLab leads on
// from a former path for reads alone, so that a write to one looks for the project
// first.
//
// It asks its own host alone and changes nothing but comments, labels and locks.
package gitlab
