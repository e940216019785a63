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

# After how long something that is deferred again and again is reported.
#defer_alarm = "6h"

# ---- Webhooks: POST /hooks/NAME. A secret stands in a file or in a variable, never
# here.

#[[hook]]
#name     = "hello"
#forge    = "github"             # github, forgejo, gitea, gogs, gitlab
#secret   = { env = "HELLO_SECRET" }
#commands = ["/oneslot"]         # what a line of a comment begins with to be a command

# ---- Forges: what a start depends on is read there, and what webhooks missed is found
# there. Refs of a host are read by its type. The token is { file = "PATH" },
# { env = "NAME" }, { app_id = 7, key = "app.pem" } or { helper = true }.

#[[forge]]
#host  = "git.example.org"
#type  = "forgejo"
#api   = "https://git.example.org"   # only if it is elsewhere
#token = { file = "forge.token" }
#repos = ["octo-org/*"]
#poll  = "2m"                    # off if not set

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
#again     = "30m"               # until what still fails is tried again at the same head
#every     = "6h"                # look at every open ref that matches; off if not set
#link      = true                # an issue and the pull request that closes it: one slot

# ---- Who and what is asked before a start. hold, trust, already_handled, capacity and
# breaker are asked anyway, and of a [[forge]] closed, draft, head_moved, open_pr,
# still_failing and landed.

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

# Labels that keep everybody away, people that an issue is assigned to, and claims of
# other tools in comments.

#[[gate]]
#type   = "label"
#labels = ["blocked"]

#[[gate]]
#type = "assignee"

#[[gate]]
#type    = "comment"
#pattern = "<!-- claimed by .* -->"   # beside the markers of tools that are known

#[[gate]]
#type = "open_pr"
#then = "defer"                  # or "skip", the default

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

# A comment on the forge for those that do not share this store. All hosts have one key.

#[reservation]
#enabled           = false
#key               = { file = "reservation.key" }
#recheck           = "5s-15s"    # wait before a second look; "0" for never
#ttl               = "2h"
#delete_at_end     = true        # else the comment tells the outcome
#lock_conversation = false
#ticket            = "none"      # or "comment", "label": show the state there

#[sweep]
#every = "5m"

#[retention]
#decisions  = "30d"
#deliveries = "7d"
#logs       = "14d"
#log_bytes  = "50MB"
#logs_bytes = "2GB"
`
