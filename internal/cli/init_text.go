package cli

// initText is what `oneslot init` writes. A line that begins with "#" and no blank is
// a setting: with all of these uncommented it is a good configuration, too.
const initText = `# oneslot. Everything here is optional: what is commented out is not set. A "#"
# without a blank behind it is a setting; "oneslot config check" says what is wrong,
# "oneslot config show" what holds and where it came from. The daemon follows changes
# of this file by itself. Relative paths count from its folder.

# Where claims and the queue are kept: a SQLite file on a local disk. All that are to
# exclude each other name the same one.
#store = "sqlite:/var/lib/oneslot/oneslot.db"

# Where "oneslot serve" listens. Off this host it needs [api] tokens.
#listen = "127.0.0.1:7180"

# The forge of refs that name no host.
#default_host = "github.com"

# After how long something that is put off again and again is reported.
#defer_alarm = "6h"

# ---- Webhooks: POST /hooks/NAME. A secret stands in a file or in a variable, never
# here.

#[[hook]]
#name     = "hello"
#forge    = "github"             # github, forgejo, gitea, gogs, gitlab
#secret   = { env = "HELLO_SECRET" }
#commands = ["/oneslot"]         # what a line of a comment begins with to be a command

# Hosts of forges of your own, so that refs there are read right.

#[[forge]]
#host = "git.example.org"
#type = "forgejo"

# ---- What is to run. Placeholders: {ref} {owner} {repo} {number} {sha} {slug} {dashed}.
# Titles, bodies and branch names are never among them; the file that ONESLOT_EVENTS
# names has the payloads.

# For "oneslot dispatch" without a rule.

#[worker]
#run = ["./work.sh", "{ref}"]

#[[rule]]
#name      = "fix-ci"
#on        = ["ci_failed"]
#run       = ["./fix-ci.sh"]
#match     = { labels = ["agent"], branches = ["main", "release/**"], draft = false }
#env       = []                  # secrets of the daemon that the worker is to keep
#priority  = 0                   # higher goes first
#timeout   = "90m"
#ttl       = "60s"               # how long the claim outlives its last renewal
#grace     = "10s"               # from TERM to KILL; at most a third of ttl
#attempts  = 3                   # on unchanged facts
#backoff   = "30s-30m"           # between them
#quiet     = "2s"                # a burst has calmed down after
#max_quiet = "10s"               # and is not waited for longer than this

# ---- Who and what is asked before a start. hold, trust, already_handled, capacity and
# breaker are asked anyway.

# Units of another program that works on the same pull requests. With hold_unit each
# run also holds a unit of that name, so that the other side cannot start beside it.

#[[gate]]
#type      = "systemd"
#user      = true
#units     = ["bob-pm-*-slot-{dashed}.service"]
#hold_unit = "bob-pm-fast-slot-{dashed}.service"
#on_error  = "open"              # open, closed or "closed-for 10m"

#[[gate]]
#type  = "hours"
#hours = ["mon-fri 08:00-18:00"]
#tz    = "Europe/Berlin"

# Whose comments may start something on a public repository.

#[trust]
#associations = ["owner", "member", "collaborator"]
#logins       = []
#bots         = []
#own          = []               # logins and apps of the workers: never a cause

#[limits]
#running      = 4                # at once; unlimited if not set
#per_repo     = 2
#runs_per_ref = "20/24h"

#[sweep]
#every = "5m"

#[retention]
#decisions  = "30d"
#deliveries = "7d"
#logs       = "14d"
#log_bytes  = "50MB"
#logs_bytes = "2GB"
`
