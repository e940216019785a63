package sqlite

// step is one change of the schema. A step that older programs cannot live
// with names the first program that can.
type step struct {
	version    int
	minProgram int
	sql        string
}

// steps lists all changes, oldest first. Written files are at the last one's
// version, which is also this program's level.
func steps() []step {
	return append([]step{
		{version: 1, minProgram: 1, sql: schema1},
		{version: 2, minProgram: 1, sql: schema2},
		{version: 3, minProgram: 1, sql: schema3},
	}, nextSteps()...)
}

// level is what this program can read and write.
func level() int {
	all := steps()
	return all[len(all)-1].version
}

// Times: *_at and expires are wall clock in ms since 1970, for people;
// deadline, began and turn are boot time in ns, for judging.
const schema1 = `
CREATE TABLE meta (
	one         INTEGER PRIMARY KEY CHECK (one = 1),
	version     INTEGER NOT NULL,
	min_program INTEGER NOT NULL,
	boot        TEXT NOT NULL
);
CREATE TABLE slot (
	id       INTEGER PRIMARY KEY,
	slug     TEXT NOT NULL UNIQUE,
	ref      TEXT NOT NULL,
	fence    INTEGER NOT NULL DEFAULT 0,
	live     INTEGER NOT NULL DEFAULT 0,
	waiting  INTEGER NOT NULL DEFAULT 0,
	seq      INTEGER NOT NULL DEFAULT 0,
	said     TEXT NOT NULL DEFAULT '',
	asked    TEXT NOT NULL DEFAULT '',
	claim    TEXT NOT NULL DEFAULT '',
	token    BLOB NOT NULL DEFAULT x'',
	program  INTEGER NOT NULL DEFAULT 0,
	kind     TEXT NOT NULL DEFAULT '',
	phase    TEXT NOT NULL DEFAULT '',
	host     TEXT NOT NULL DEFAULT '',
	boot     TEXT NOT NULL DEFAULT '',
	ns       INTEGER NOT NULL DEFAULT 0,
	pid      INTEGER NOT NULL DEFAULT 0,
	ticks    INTEGER NOT NULL DEFAULT 0,
	holder_boot TEXT NOT NULL DEFAULT '',
	uid      INTEGER NOT NULL DEFAULT 0,
	path     TEXT NOT NULL DEFAULT '',
	command  TEXT NOT NULL DEFAULT '',
	run      TEXT NOT NULL DEFAULT '',
	dir      TEXT NOT NULL DEFAULT '',
	warden   INTEGER NOT NULL DEFAULT 0,
	bound    INTEGER NOT NULL DEFAULT 0,
	ttl      INTEGER NOT NULL DEFAULT 0,
	grace    INTEGER NOT NULL DEFAULT 0,
	began    INTEGER NOT NULL DEFAULT 0,
	deadline INTEGER NOT NULL DEFAULT 0,
	since_at   INTEGER NOT NULL DEFAULT 0,
	renewed_at INTEGER NOT NULL DEFAULT 0,
	expires    INTEGER NOT NULL DEFAULT 0,
	stop     TEXT NOT NULL DEFAULT '',
	ended_at INTEGER NOT NULL DEFAULT 0,
	outcome  TEXT NOT NULL DEFAULT ''
);
CREATE INDEX slot_live ON slot (live) WHERE live = 1;
CREATE TABLE waiter (
	slot   INTEGER NOT NULL,
	seq    INTEGER NOT NULL,
	ticket TEXT NOT NULL UNIQUE,
	boot   TEXT NOT NULL,
	ns     INTEGER NOT NULL,
	pid    INTEGER NOT NULL,
	ticks  INTEGER NOT NULL,
	addr   TEXT NOT NULL,
	turn   INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (slot, seq)
) WITHOUT ROWID;
CREATE TABLE run (
	n        INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	slot     INTEGER NOT NULL,
	rule     TEXT NOT NULL,
	path     TEXT NOT NULL,
	claim    TEXT NOT NULL,
	fence    INTEGER NOT NULL,
	state    TEXT NOT NULL,
	outcome  TEXT NOT NULL DEFAULT '',
	host     TEXT NOT NULL,
	boot     TEXT NOT NULL,
	ns       INTEGER NOT NULL,
	pid      INTEGER NOT NULL,
	ticks    INTEGER NOT NULL,
	uid      INTEGER NOT NULL,
	command  TEXT NOT NULL,
	dir      TEXT NOT NULL,
	started_at INTEGER NOT NULL DEFAULT 0,
	ended_at   INTEGER NOT NULL DEFAULT 0,
	tree_gone_at INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX run_slot ON run (slot);
CREATE INDEX run_open ON run (slot) WHERE tree_gone_at = 0;
CREATE TABLE decision (
	slot    INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	last_at INTEGER NOT NULL,
	count   INTEGER NOT NULL DEFAULT 1,
	path    TEXT NOT NULL,
	verdict TEXT NOT NULL,
	reason  TEXT NOT NULL,
	detail  TEXT NOT NULL,
	next    TEXT NOT NULL,
	fence   INTEGER NOT NULL,
	run     TEXT NOT NULL,
	PRIMARY KEY (slot, seq)
) WITHOUT ROWID;
CREATE TABLE hold (
	scope  TEXT PRIMARY KEY,
	reason TEXT NOT NULL,
	by     TEXT NOT NULL,
	at     INTEGER NOT NULL
) WITHOUT ROWID;
`
