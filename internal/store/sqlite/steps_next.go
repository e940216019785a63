//go:build oneslot_next

package sqlite

// The program after this one, for the upgrade tests: it only adds.
func nextSteps() []step {
	return []step{{version: 4, minProgram: 1, sql: `ALTER TABLE slot ADD COLUMN later TEXT NOT NULL DEFAULT ''`}}
}
