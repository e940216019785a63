// Package ticket shows on an issue or pull request how its work stands: one sticky
// comment that is edited, or one label that is changed. It is for people alone. It
// starts nothing, nothing of ours reads it back to decide, and it is written only
// when what it says has changed.
package ticket
