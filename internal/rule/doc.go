// Package rule says which configured rules want an event, and why.
//
// A rule wants an event if `on` names its kind and all of `match` fits what the
// event says. What an event does not say does not fit: a rule that asks for a
// label is not woken by a check whose payload names no labels. An issue has no
// branch. Of an event that does not tell, a pull request counts as no draft.
//
// An event whose ref is to be found later, by its head commit, is judged by what it
// says alone; it is judged again when its ref, and the facts with it, are known.
package rule
