package doctor_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/claim"
	"github.com/oneslot/oneslot/internal/clock"
	"github.com/oneslot/oneslot/internal/config"
	"github.com/oneslot/oneslot/internal/doctor"
	"github.com/oneslot/oneslot/internal/proc"
	"github.com/oneslot/oneslot/internal/queue"
	"github.com/oneslot/oneslot/internal/rundir"
	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/store/sqlite"
)

// breakages are the ways to bring about each finding. Files and processes are
// real; only what no test may do to its machine is put in from outside.
func breakages() map[string]func(*bench) {
	ctx := context.Background()
	return map[string]func(*bench){
		"config-bad": func(b *bench) { b.configure("stroe = 'x'\n") },
		"config-warning": func(b *bench) {
			b.must(os.Chmod(filepath.Join(b.TempDir, "oneslot.toml"), 0o666))
			b.configure("") // which writes to the file that is there
		},
		"config-odd": func(b *bench) { // C35
			b.write(filepath.Join(b.TempDir, "secret"), "s3cret\n", 0o600)
			b.configure(hook + "secret = { file = 'secret' }\n")
		},
		"secret-bad": func(b *bench) { // C35
			b.write(filepath.Join(b.TempDir, "secret"), "", 0o600)
			b.configure(hook + "secret = { file = 'secret' }\n")
		},
		"secret-unset": func(b *bench) { b.configure(hook + "secret = { env = 'NOBODY_SETS_THIS' }\n") },
		"program-missing": func(b *bench) { // C54
			b.configure("[[rule]]\nname = 'fix'\non = ['ci_failed']\nrun = ['./not-there.sh']\n")
		},
		"reservation-shown": func(b *bench) {
			b.configure("store = 'unix:/run/o.sock'\n[[forge]]\nhost = 'git.example.com'\ntype = 'gitea'\n[reservation]\nenabled = true\nkey.env = 'K'\n")
		},
		"host-untyped": func(b *bench) { b.configure("default_host = 'git.example.org'\n") },

		"store-unreachable": func(b *bench) {
			file := filepath.Join(b.TempDir, "x.db")
			b.write(file, "no database", 0o600)
			b.Store = nil
			_, b.StoreErr = sqlite.Open(file, sqlite.Options{Clock: b.Clock})
		},
		"store-foreign": func(b *bench) {
			b.Store, b.StoreErr = nil, fmt.Errorf("%w: it belongs to user 7", slot.ErrNotAllowed)
		},
		"store-damaged":     damaged,
		"store-newer":       func(b *bench) { b.sql("UPDATE meta SET version = 99, min_program = 99") },
		"store-folder-mode": func(b *bench) { b.must(os.Chmod(b.dir, 0o755)) },
		"store-file-mode":   func(b *bench) { b.must(os.Chmod(b.store.Path(), 0o644)) },
		"store-volatile": func(b *bench) {
			b.Machine.FileSystem = doctor.System().FileSystem
			dir, err := os.MkdirTemp("/dev/shm", "oneslot-test")
			if err == nil {
				b.Cleanup(func() { os.RemoveAll(dir) })
			}
			if kind, volatile, e := b.Machine.FileSystem(dir); err != nil || e != nil || !volatile {
				b.Logf("no memory file system at /dev/shm (%s): one is made up", kind)
				b.Machine.FileSystem = func(string) (string, bool, error) { return "tmpfs", true, nil }
				return
			}
			b.open(filepath.Join(dir, "s"))
		},
		"write-denied": func(b *bench) {
			dir := "/proc/self" // not writable for root either
			s, err := sqlite.Open(dir+"/oneslot/x.db", sqlite.Options{Clock: b.Clock})
			b.must(err)
			b.Store = s
		},
		"write-frozen": func(b *bench) {
			cmd := exec.Command("flock", b.store.Path()+".lock", "sh", "-c", "echo up; kill -STOP $PPID $$")
			out, err := cmd.StdoutPipe()
			b.must(err)
			b.must(cmd.Start())
			b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			_, err = out.Read(make([]byte, 3))
			b.must(err)
			p := b.identify(cmd.Process.Pid)
			b.until("stopped", func() bool { return proc.Look(p).Stopped })
		},
		"write-failed": func(b *bench) {
			// Somebody else's write lock: SQLite waits for it in vain.
			db, err := sql.Open("sqlite", "file:"+b.store.Path()+"?_txlock=immediate")
			b.must(err)
			tx, err := db.Begin()
			b.must(err)
			b.Cleanup(func() { tx.Rollback(); db.Close() })
		},
		"write-slow": func(b *bench) { b.Limits.Write = 0 },
		"disk-full":  func(b *bench) { b.Limits.FreeFail = 1 << 62 },
		"disk-low":   func(b *bench) { b.Limits.FreeWarn = 1 << 62 },

		"clock-broken": func(b *bench) { b.Clock, b.ClockErr = nil, errBroken },
		"clock-behind": func(b *bench) {
			ahead := clock.NewManual(time.Now().Add(time.Hour))
			s, err := sqlite.Open(b.store.Path(), sqlite.Options{Clock: ahead})
			b.must(err)
			defer s.Close()
			was := b.store
			b.store = s
			b.claim("a", nil)
			b.store = was
		},
		"proc-blind":       func(b *bench) { b.Machine.Proc = func() error { return errBroken } },
		"kernel-pidfd":     func(b *bench) { b.Machine.Pidfd = func() error { return unix.ENOSYS } },
		"kernel-subreaper": func(b *bench) { b.Machine.Subreaper = func() error { return unix.EPERM } },

		"claim-dead": func(b *bench) { // C12
			cmd := b.sleeper()
			b.claim("a", func(r *claim.Request) { r.Holder.Process = b.identify(cmd.Process.Pid) })
			b.must(cmd.Process.Kill())
			cmd.Wait()
		},
		"claim-overdue": func(b *bench) {
			man := b.manual()
			b.claim("a", func(r *claim.Request) { r.Kind, r.Run, r.Dir = slot.Detached, "", "" })
			man.Advance(2 * time.Minute)
		},
		"claim-starting": func(b *bench) {
			man := b.manual()
			req := b.claim("a", nil)
			man.Advance(20 * time.Second)
			_, err := b.store.Renew(ctx, req.Key)
			b.must(err)
			man.Advance(20 * time.Second)
		},
		"claim-pending": func(b *bench) { // C10
			req := b.claim("a", nil)
			d, err := rundir.In(b.dir).Create(req.Run)
			b.must(err)
			b.must(d.WriteOutcome(slot.Outcome{Result: slot.Done}))
		},
		"claim-frozen": func(b *bench) {
			cmd := b.sleeper()
			p := b.identify(cmd.Process.Pid)
			b.claim("a", func(r *claim.Request) { r.Holder.Process = p })
			b.must(cmd.Process.Signal(syscall.SIGSTOP))
			b.until("stopped", func() bool { return proc.Look(p).Stopped })
		},
		"hold-everything": func(b *bench) {
			b.must(b.store.Hold(b.Context(), slot.Hold{Scope: slot.Everything, By: "ann@desk", Reason: "release day", At: time.Now()}))
		},
		"claim-unseen": func(b *bench) {
			man := b.manual()
			b.claim("a", func(r *claim.Request) { r.Holder.Process = slot.Process{Boot: "elsewhere", NS: 1, PID: 7, Ticks: 1} })
			man.Advance(2 * time.Minute)
		},
		"run-orphan": func(b *bench) {
			b.must(rundir.In(b.dir).Enter("slug", "orphan"))
			cmd := b.sleeper(proc.RunVariable + "=orphan")
			b.until("its environment", func() bool {
				members, _ := proc.Tree{Run: "orphan"}.Members()
				return len(members) == 1 && members[0].PID == cmd.Process.Pid
			})
		},
		"run-stale": func(b *bench) { b.must(rundir.In(b.dir).Enter("slug", "gone")) },
		"run-foreign": func(b *bench) {
			b.must(rundir.In(b.dir).Enter("slug", "theirs"))
			b.UID = os.Getuid() + 1
		},
		"run-kept": func(b *bench) {
			b.write(filepath.Join(b.dir, "runs", "theirs", "log"), "x", 0o600)
			b.UID = os.Getuid() + 1
		},
		"run-old": func(b *bench) {
			file := filepath.Join(b.dir, "runs", "old", "log")
			b.write(file, "x", 0o600)
			long := time.Now().Add(-15 * 24 * time.Hour)
			b.must(os.Chtimes(file, long, long))
		},
		"run-large": func(b *bench) {
			b.configure("[retention]\nlogs_bytes = '1KB'\n")
			b.write(filepath.Join(b.dir, "runs", "big", "log"), strings.Repeat("x", 2000), 0o600)
		},

		"daemon-unknown": func(b *bench) { b.Daemon = func() (int, error) { return 0, errBroken } },
		"daemon-none": func(b *bench) {
			b.env["HELLO_SECRET"] = "s3cret"
			b.configure(hook + "secret = { env = 'HELLO_SECRET' }\n")
		},
		"daemon-frozen": func(b *bench) {
			cmd := b.sleeper()
			p := b.identify(cmd.Process.Pid)
			b.must(cmd.Process.Signal(syscall.SIGSTOP))
			b.until("stopped", func() bool { return proc.Look(p).Stopped })
			b.Daemon = func() (int, error) { return p.PID, nil }
		},
		"hook-hostless": func(b *bench) {
			b.configure("[[hook]]\nname = 'hello'\nforge = 'gitea'\nunsigned = true\n")
		},
		"hook-unsigned": func(b *bench) { b.configure(hook + "unsigned = true\n") },
		"listen-open": func(b *bench) {
			b.env["OPS_TOKEN"] = "long enough"
			b.configure("listen = '0.0.0.0:7180'\n[api]\ntokens = [{ name = 'ops', role = 'read', env = 'OPS_TOKEN' }]\n")
		},
		"spool-denied": func(b *bench) { b.write(filepath.Join(b.dir, "deliveries"), "a file", 0o600) },
		"linger-off": func(b *bench) { // C47
			b.configure("[[gate]]\ntype = 'systemd'\nuser = true\nunits = ['x-{number}.service']\n")
			b.Machine.Linger = func(int) (bool, bool) { return false, true }
		},
		"forge-unreachable": func(b *bench) { // C46
			b.configure("[[forge]]\nhost = 'git.example.com'\ntype = 'gitea'\n")
			b.Greet = func(context.Context, config.Forge) (string, error) { return "", errBroken }
		},
		"gate-blind": func(b *bench) { // C47
			b.configure("[[gate]]\ntype = 'systemd'\nuser = true\nunits = ['x-{number}.service']\n")
			b.Peek = func(context.Context, config.Gate) error { return errBroken }
		},
		"queue-idle": func(b *bench) { b.wish("o/r#1") },
		"queue-dead": func(b *bench) {
			look := b.wish("o/r#1")
			b.must(b.store.Queue().Kill(ctx, look.Item.ID, "", slot.Decision{Ref: look.Item.Ref, Verdict: slot.Skip, Reason: "rule"}))
		},
		"queue-late": func(b *bench) {
			man := b.manual()
			look := b.wish("o/r#1")
			until := b.Clock.Wall().Add(24 * time.Hour)
			b.must(b.store.Queue().Defer(ctx, look.Item.ID, "", until, slot.Decision{Ref: look.Item.Ref, Verdict: slot.Defer, Reason: "systemd: x-1.service is active"}))
			man.Advance(7 * time.Hour)
		},

		"env-path": func(b *bench) { delete(b.env, "PATH") },
		"env-home": func(b *bench) { delete(b.env, "HOME") },
		"env-ci":   func(b *bench) { b.env["CI"] = "true"; b.configure("") },
		"socket-long": func(b *bench) {
			b.open(filepath.Join(b.TempDir, strings.Repeat("x", 90), "s"))
		},
		"socket-denied": func(b *bench) {
			b.open(filepath.Join(b.TempDir, strings.Repeat("x", 90), "s"))
			b.must(os.Mkdir(filepath.Join(b.TempDir, fmt.Sprintf("oneslot-%d", b.UID)), 0o755))
		},
	}
}

// hook is the beginning of a hook's table, without its secret.
const hook = "[[hook]]\nname = 'hello'\nforge = 'github'\n"

// wish puts a person's wish into the queue, and returns its item.
func (b *bench) wish(word string) queue.Look {
	b.Helper()
	ref, err := slot.ParseRef(word, b.Config.Grammar(nil))
	b.must(err)
	_, err = b.store.Queue().Accept(context.Background(), queue.Arrival{Wishes: []queue.Wish{{
		Event:    slot.Event{Path: slot.PathManual, Repo: ref.Repo(), Ref: ref, Kind: slot.Manual},
		Policies: []queue.Policy{{Rule: "fix", Attempts: 3}},
	}}})
	b.must(err)
	looks, err := b.store.Queue().Pick(context.Background(), 1, nil, nil)
	if err != nil || len(looks) != 1 {
		b.Fatal(looks, err)
	}
	return looks[0]
}

// damaged writes over the last pages of the database, which hold claims and not what
// it says of itself.
func damaged(b *bench) {
	for i := range 40 {
		b.claim(fmt.Sprintf("a%d", i), nil)
	}
	b.sql("PRAGMA wal_checkpoint(TRUNCATE)")
	b.must(b.store.Close())
	f, err := os.OpenFile(b.store.Path(), os.O_WRONLY, 0)
	b.must(err)
	info, err := f.Stat()
	b.must(err)
	const pages = 8
	_, err = f.WriteAt([]byte(strings.Repeat("\xff", pages*4096)), info.Size()-pages*4096)
	b.must(err)
	b.must(f.Close())
	s, err := sqlite.Open(b.store.Path(), sqlite.Options{Clock: b.Clock})
	b.must(err)
	b.Cleanup(func() { s.Close() })
	b.Store = s
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// sql changes the database behind the store's back.
func (b *bench) sql(q string) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+b.store.Path())
	b.must(err)
	defer db.Close()
	_, err = db.Exec(q)
	b.must(err)
}

// manual puts a clock in that moves only when told to; its boot id is the real
// one, so that processes can be judged.
func (b *bench) manual() *clock.Manual {
	b.Helper()
	man := clock.NewManual(b.Clock.Wall())
	man.Reboot(b.Clock.BootID())
	man.Advance(time.Second)
	b.must(b.store.Close())
	b.Clock = man
	b.open(filepath.Join(b.TempDir, "m"))
	return man
}
