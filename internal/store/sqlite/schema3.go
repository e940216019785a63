package sqlite

// schema3 is what reading forges needs. It only adds, so that runs of the program
// before it go on.
//
// A slot is covered while the claim of its cover is that of the lead and lives. Past
// covers stay for as long as their run is on record: nothing may be left of it when
// the slot is used again. A wanted slot is one that a claim of the asker was refused
// for. also is the claim with the refs that it covers, as JSON; the claim, since
// programs before this one leave it as it was.
//
// The trigger keeps those programs from taking a covered slot: they know of none.
const schema3 = `
ALTER TABLE item ADD COLUMN spent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE slot ADD COLUMN also TEXT NOT NULL DEFAULT '';
CREATE TABLE cover (
	slot  INTEGER NOT NULL,
	lead  INTEGER NOT NULL,
	claim TEXT NOT NULL,
	run   TEXT NOT NULL,
	PRIMARY KEY (slot, claim)
) WITHOUT ROWID;
CREATE INDEX cover_lead ON cover (lead, claim);
CREATE INDEX cover_run ON cover (run);
CREATE TRIGGER slot_covered BEFORE UPDATE OF claim ON slot
WHEN EXISTS (SELECT 1 FROM cover k JOIN slot l ON l.id = k.lead AND l.live = 1 AND l.claim = k.claim WHERE k.slot = OLD.id)
BEGIN
	SELECT RAISE(ABORT, 'the slot is covered by the claim of another; a newer oneslot knows of which');
END;
CREATE TABLE want (
	slot  INTEGER NOT NULL,
	asker INTEGER NOT NULL,
	PRIMARY KEY (slot, asker)
) WITHOUT ROWID;
CREATE INDEX want_asker ON want (asker);
CREATE TABLE cursor (
	key  TEXT PRIMARY KEY,
	text TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE repo (
	host      TEXT NOT NULL,
	id        TEXT NOT NULL,
	canonical TEXT NOT NULL,
	current   TEXT NOT NULL,
	at        INTEGER NOT NULL,
	PRIMARY KEY (host, id)
) WITHOUT ROWID;
CREATE INDEX repo_canonical ON repo (canonical);
CREATE INDEX repo_current ON repo (current);
CREATE TABLE alias (
	name      TEXT PRIMARY KEY,
	canonical TEXT NOT NULL
) WITHOUT ROWID;
`
