package sqlite

// schema2 is the queue. It only adds, so that runs of the program before it go on.
//
// A delivery's body is packed as S2 does; size is that of what came.
//
// An item waits in a lane exactly while it is pending: that of its repository among
// those of equal rank. Lanes of a rank take turns.
const schema2 = `
ALTER TABLE meta ADD COLUMN listener TEXT NOT NULL DEFAULT '';
CREATE TABLE delivery (
	n      INTEGER PRIMARY KEY AUTOINCREMENT,
	hook   TEXT NOT NULL,
	guid   TEXT NOT NULL,
	event  TEXT NOT NULL,
	action TEXT NOT NULL,
	at     INTEGER NOT NULL,
	size   INTEGER NOT NULL,
	body   BLOB,
	file   TEXT NOT NULL
);
CREATE UNIQUE INDEX delivery_guid ON delivery (hook, guid) WHERE guid <> '';
CREATE INDEX delivery_at ON delivery (at);
CREATE INDEX delivery_file ON delivery (file) WHERE file <> '';
CREATE TABLE event (
	n           INTEGER PRIMARY KEY AUTOINCREMENT,
	item        INTEGER NOT NULL,
	state       TEXT NOT NULL,
	rule        TEXT NOT NULL,
	path        TEXT NOT NULL,
	repo        TEXT NOT NULL,
	kind        TEXT NOT NULL,
	sha         TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	key         TEXT NOT NULL,
	facts       TEXT NOT NULL,
	delivery    INTEGER NOT NULL,
	at          INTEGER NOT NULL,
	run         TEXT NOT NULL DEFAULT '',
	by          INTEGER NOT NULL DEFAULT 0,
	reason      TEXT NOT NULL DEFAULT '',
	ended_at    INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX event_item ON event (item, fingerprint);
CREATE INDEX event_waiting ON event (item) WHERE state = 'waiting';
CREATE INDEX event_dead ON event (item) WHERE state = 'dead';
CREATE INDEX event_unresolved ON event (repo, fingerprint) WHERE state = 'unresolved';
CREATE INDEX event_key ON event (item, key) WHERE key <> '';
CREATE INDEX event_delivery ON event (delivery) WHERE delivery <> 0;
CREATE INDEX event_run ON event (run) WHERE run <> '';
CREATE INDEX event_ended ON event (ended_at) WHERE ended_at <> 0;
CREATE TABLE lane (
	id       INTEGER PRIMARY KEY,
	person   INTEGER NOT NULL,
	priority INTEGER NOT NULL,
	repo     TEXT NOT NULL,
	items    INTEGER NOT NULL,
	turn     INTEGER NOT NULL,
	UNIQUE (person, priority, repo)
);
CREATE INDEX lane_turn ON lane (person DESC, priority DESC, turn);
CREATE TABLE item (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	slot     INTEGER NOT NULL,
	rule     TEXT NOT NULL,
	policy   TEXT NOT NULL,
	state    TEXT NOT NULL,
	lane     INTEGER NOT NULL,
	run      TEXT NOT NULL,
	told     INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	laters   INTEGER NOT NULL,
	defers   INTEGER NOT NULL,
	sha      TEXT NOT NULL,
	kinds    TEXT NOT NULL,
	fresh    INTEGER NOT NULL,
	reason   TEXT NOT NULL,
	detail   TEXT NOT NULL,
	due      INTEGER NOT NULL,
	age      INTEGER NOT NULL,
	burst    INTEGER NOT NULL,
	last     INTEGER NOT NULL,
	deferred INTEGER NOT NULL,
	person   INTEGER NOT NULL,
	asked    INTEGER NOT NULL,
	UNIQUE (slot, rule)
);
CREATE INDEX item_lane ON item (lane, due) WHERE lane <> 0;
CREATE INDEX item_due ON item (due, lane, age, deferred) WHERE lane <> 0;
CREATE INDEX item_run ON item (run) WHERE run <> '';
CREATE INDEX item_dead ON item (id) WHERE state = 'dead';
CREATE INDEX item_deferred ON item (reason) WHERE deferred <> 0;
CREATE TABLE gate_failure (
	gate  TEXT NOT NULL,
	slug  TEXT NOT NULL,
	since INTEGER NOT NULL,
	PRIMARY KEY (gate, slug)
) WITHOUT ROWID;
`
