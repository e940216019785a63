//go:build oneslot_breaking

package sqlite

// A later program that older ones cannot live with, for the upgrade tests.
func nextSteps() []step {
	return []step{{version: 4, minProgram: 4, sql: `ALTER TABLE slot ADD COLUMN later TEXT NOT NULL DEFAULT ''`}}
}
