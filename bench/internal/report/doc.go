// Package report is what the measurements say and how it is written down: one
// table for people, one JSON document for programs.
package report
