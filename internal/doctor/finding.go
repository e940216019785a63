package doctor

import "fmt"

// Status is how bad a line is.
type Status string

const (
	OK   Status = "ok"
	Warn Status = "warn" // it works, but not as it should
	Fail Status = "FAIL" // claims cannot be given, or not be relied on
)

// Line is one finding, or the good news that a check has none.
type Line struct {
	Check   string // the check's name
	Finding string // the finding's name; empty if the line is good news
	Status  Status
	What    string // what was seen
	Do      string // what the reader can do; empty if nothing is needed
}

// Finding is something that a check can complain of.
type Finding struct {
	Name   string
	Check  string
	Status Status
	Do     string
}

// Findings lists everything that doctor can complain of.
func Findings() []Finding {
	return []Finding{
		{"config-bad", "configuration", Fail, "correct what is named, then look with `oneslot config show`; a daemon that runs goes by the last good one until then"},
		{"config-warning", "configuration", Warn, "see `oneslot config show`"},
		{"config-odd", "configuration", Warn, "correct it, or leave it if it is meant; `oneslot config check` says the same"},
		{"host-untyped", "default_host", Warn, "add a [[forge]] with host and type, so that `!12` and `#12` are read as that forge means them"},
		{"reservation-shown", "forges", Warn, "turn it off; the daemon that keeps the store can show the state with reservation.ticket"},
		{"secret-bad", "secrets", Fail, "`oneslot serve` does not start without it: put it where the configuration says"},
		{"secret-unset", "secrets", Warn, "set it where `oneslot serve` runs; that environment is not seen from here"},
		{"program-missing", "programs", Warn, "give the whole path, or a PATH that has it, to whoever works the queue: its starts fail (127), or its gate knows nothing"},

		{"store-unreachable", "store", Fail, "until it can be asked nothing is started; see the reason"},
		{"store-foreign", "store", Fail, "use a store of your own, or share one through a server's unix: address"},
		{"store-damaged", "store", Fail, "end the runs listed here, move the file away with its -wal and -shm; the next claim makes a new one"},
		{"store-newer", "store", Fail, "use the newer oneslot"},
		{"store-folder-mode", "store", Warn, "chmod 0700 it: whoever can write there can take any slot"},
		{"store-file-mode", "store", Warn, "chmod 0600 it: whoever can write to it can take any slot"},
		{"store-volatile", "store", Warn, "put the store on a disk: holds, decisions and runs are forgotten when the machine goes down"},
		{"write-denied", "write", Fail, "make the folder writable for this user, or name another store"},
		{"write-frozen", "write", Fail, "let it go on (kill -CONT) or kill it; SQLite survives that"},
		{"write-failed", "write", Fail, "until it can be written nothing is started; see the reason"},
		{"write-slow", "write", Warn, "each claim waits this long; a busy or slow disk is the usual cause"},
		{"disk-full", "disk", Fail, "make room: claims cannot be given or renewed without it"},
		{"disk-low", "disk", Warn, "make room; old logs are in the runs folder"},

		{"clock-broken", "clock", Fail, "deadlines cannot be judged: run outside of the time namespace, or on a newer kernel"},
		{"clock-behind", "clock", Warn, "set the clock (NTP): fences go on growing, but times shown are wrong and a new store would give smaller fences"},
		{"proc-blind", "processes", Fail, "mount /proc for this pid namespace: without it nobody is known to be dead"},
		{"kernel-pidfd", "processes", Warn, "Linux 5.3 or a sandbox that allows pidfd_open: ends of processes are polled for until then"},
		{"kernel-subreaper", "processes", Warn, "workers whose parent ends are found by their environment only"},

		{"claim-dead", "claims", Warn, "nothing: the next claim takes it, and ends first what is left of it; `oneslot stop REF` does it now"},
		{"claim-overdue", "claims", Warn, "nothing: the next claim takes it; `oneslot stop REF` does it now"},
		{"claim-starting", "claims", Warn, "see `oneslot why REF`; `oneslot stop REF` gives the slot back"},
		{"claim-pending", "claims", Warn, "nothing: its work is over; its release is tried again while its supervisor lives, and whoever asks next gets the slot"},
		{"claim-frozen", "claims", Warn, "let its supervisor go on (kill -CONT), or `oneslot stop REF`"},
		{"hold-everything", "claims", Warn, "nothing starts until `oneslot unhold --all`"},
		{"claim-unseen", "claims", Warn, "stop or release it where it runs; it is not taken from here"},
		{"run-orphan", "runs", Fail, "`oneslot stop REF` ends it, and so does the next claim of the slot, before it starts; but not one whose supervisor works for another store: `kill` that"},
		{"run-stale", "runs", Warn, "nothing: the next claim of the slot clears it"},
		{"run-foreign", "runs", Warn, "once that run is over: `oneslot stop REF` as that user, or as root, clears it; until then nothing of yours starts on that slot"},
		{"run-kept", "runs", Warn, "remove those whose run is over, as that user or as root"},
		{"run-old", "runs", Warn, "remove them, or keep them longer with [retention] logs"},
		{"run-large", "runs", Warn, "remove old ones, or allow more with [retention] logs_bytes"},

		{"daemon-unknown", "daemon", Warn, "see the reason"},
		{"daemon-none", "daemon", Warn, "start `oneslot serve`: what forges send meanwhile is lost, unless you have them send it again"},
		{"daemon-frozen", "daemon", Warn, "let it go on (kill -CONT), or restart it: workers outlive it"},
		{"hook-hostless", "daemon", Warn, "set host in the hook, or add a [[forge]] of that type: one name is one slot"},
		{"hook-unsigned", "daemon", Warn, "give it a secret: whoever can reach it can have things started"},
		{"listen-open", "daemon", Warn, "have a proxy with TLS in front, and listen on 127.0.0.1"},
		{"spool-denied", "daemon", Fail, "make it a folder of this user's: deliveries over 1 MiB cannot be taken without it"},
		{"linger-off", "daemon", Warn, "loginctl enable-linger"},
		{"forge-unreachable", "forges", Fail, "mend address, token or network: until then gates that read it go by on_error, and polling finds nothing"},
		{"gate-blind", "gates", Warn, "mend what it asks: until then each start goes by on_error"},
		{"queue-idle", "queue", Warn, "start `oneslot serve`, or `oneslot dispatch REF --wait`"},
		{"queue-late", "queue", Warn, "see `oneslot why REF`; defer_alarm says what is long"},
		{"queue-dead", "queue", Warn, "see `oneslot dead`; `oneslot retry REF` gives one a fresh budget, `oneslot drop REF --reason TEXT` ends it"},

		{"env-path", "environment", Warn, "set PATH, or give commands by their whole path"},
		{"env-home", "environment", Warn, "set HOME: configuration and default store are looked for below it"},
		{"env-ci", "environment", Warn, "use a store that all runners share"},
		{"socket-long", "environment", Warn, "nothing, or a store with a shorter path: sockets lie in the temporary folder instead"},
		{"socket-denied", "environment", Fail, "remove that folder, or use a store with a shorter path"},
	}
}

// Checks lists the names of all checks, in the order of their lines.
func Checks() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// report collects the lines of one check.
type report struct {
	check string
	lines []Line
}

// bad complains. Findings that are not in the table are a fault of ours, which
// the tests find.
func (r *report) bad(finding, format string, args ...any) {
	l := Line{Check: r.check, Finding: finding, Status: Fail, What: fmt.Sprintf(format, args...)}
	for _, f := range Findings() {
		if f.Name == finding {
			l.Status, l.Do = f.Status, f.Do
		}
	}
	r.lines = append(r.lines, l)
}

// good says what is well.
func (r *report) good(format string, args ...any) {
	r.lines = append(r.lines, Line{Check: r.check, Status: OK, What: fmt.Sprintf(format, args...)})
}
