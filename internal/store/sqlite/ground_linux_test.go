package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/slot"
)

// refused shows that nothing is claimed and that no byte changed.
func refused(t *testing.T, path string, parts ...string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	s, err := open(path)
	if err == nil {
		defer s.Close() //nolint:errcheck
		_, err = s.Acquire(context.Background(), detached(ref(1)))
		if err == nil {
			t.Error("a claim was given")
		}
		for name, f := range map[string]func() error{
			"look": func() error { _, err := s.Look(context.Background(), ref(1)); return err },
			"release": func() error {
				_, err := s.Release(context.Background(), detached(ref(1)).Key, slot.Outcome{})
				return err
			},
		} {
			if err := f(); name == "release" && !errors.Is(err, slot.ErrUnknown) {
				t.Errorf("%s: %v, want unknown", name, err)
			}
		}
	}
	if !errors.Is(err, slot.ErrUnknown) {
		t.Errorf("%v is not unknown", err)
	}
	contains(t, err, parts...)
	after, _ := os.ReadFile(path)
	if string(before) != string(after) {
		t.Error("the file was changed")
	}
}

// closed gives the path of a store at rest. Its -wal, which stays for the next
// process, still has the last pages; without it the file alone counts.
func closed(t *testing.T, s *Store) string {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(s.Path() + end); err != nil {
			t.Fatal(err)
		}
	}
	return s.Path()
}

// C56: what is no whole database is left as it is.
func TestC56_DamagedFiles(t *testing.T) {
	whole := func(t *testing.T) string {
		s := fresh(t)
		for i := range 200 {
			if _, err := s.Acquire(context.Background(), detached(ref(i+1))); err != nil {
				t.Fatal(err)
			}
		}
		return closed(t, s)
	}
	damage := map[string]struct {
		do   func(path string) error
		says []string
	}{
		"no bytes":     {func(p string) error { return os.Truncate(p, 0) }, []string{"no bytes"}},
		"512 bytes":    {func(p string) error { return os.Truncate(p, 512) }, []string{"512 bytes", "cut off"}},
		"half":         {func(p string) error { return os.Truncate(p, 5*4096) }, []string{"malformed"}},
		"another file": {func(p string) error { return os.WriteFile(p, make([]byte, 8192), 0o600) }, []string{"not a database"}},
		"a page flipped": {func(p string) error {
			f, err := os.OpenFile(p, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			fi, err := f.Stat()
			if err != nil {
				return err
			}
			junk := make([]byte, 4096)
			for i := range junk {
				junk[i] = 0xa5
			}
			for at := int64(4096); at < fi.Size(); at += 4096 { // every page but the first
				if _, err := f.WriteAt(junk, at); err != nil {
					return err
				}
			}
			return nil
		}, []string{"malformed"}},
		"somebody else's database": {func(p string) error {
			os.Remove(p) //nolint:errcheck
			db, err := sql.Open("sqlite", p)
			if err != nil {
				return err
			}
			defer db.Close()
			_, err = db.Exec("CREATE TABLE x (y)")
			return err
		}, []string{"not one of oneslot's"}},
	}
	for name, d := range damage {
		t.Run(name, func(t *testing.T) {
			path := whole(t)
			if err := d.do(path); err != nil {
				t.Fatal(err)
			}
			refused(t, path, d.says...)
		})
	}
}

// C56: one page flipped, which no claim happens to read, is found by Verify.
func TestC56_VerifyFindsAFlippedPage(t *testing.T) {
	s := fresh(t)
	for i := range 300 {
		if _, err := s.Acquire(context.Background(), detached(ref(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(closed(t, s), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 4096), fi.Size()/2/4096*4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s = mustOpen(t, s.Path())
	err = s.Verify(context.Background())
	if !errors.Is(err, slot.ErrUnknown) {
		t.Fatalf("got %v, want unknown", err)
	}
}

// C56: the database or its -wal replaced under an open connection.
func TestC56_ReplacedUnderAnOpenConnection(t *testing.T) {
	for _, end := range []string{"", "-wal"} {
		for _, how := range []string{"removed", "replaced"} {
			t.Run("db"+end+" "+how, func(t *testing.T) {
				s := fresh(t)
				req := detached(ref(1))
				if _, err := s.Acquire(context.Background(), req); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Check(context.Background(), req.Key); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(s.Path()+end, s.Path()+end+".away"); err != nil {
					t.Fatal(err)
				}
				if how == "replaced" {
					b, err := os.ReadFile(s.Path() + end + ".away")
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(s.Path()+end, b, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				_, err := s.Acquire(context.Background(), detached(ref(2)))
				if !errors.Is(err, slot.ErrUnknown) {
					t.Fatalf("got %v, want unknown", err)
				}
				contains(t, err, "replaced or removed")
				if _, err := s.Release(context.Background(), req.Key, slot.Outcome{}); !errors.Is(err, slot.ErrUnknown) {
					t.Fatalf("release said %v", err)
				}
				if end != "" {
					return
				}
				// Neither "ours" nor "free", whatever the old file says.
				if _, err := s.Check(context.Background(), req.Key); !errors.Is(err, slot.ErrUnknown) {
					t.Errorf("check said %v", err)
				}
				if look, err := s.Look(context.Background(), ref(1)); !errors.Is(err, slot.ErrUnknown) {
					t.Errorf("look said %+v, %v", look, err)
				}
			})
		}
	}
}

// C56: a lock file of no bytes blocks nobody.
func TestC56_EmptyLockFile(t *testing.T) {
	s := fresh(t)
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path()+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(context.Background(), detached(ref(1))); err != nil {
		t.Fatal(err)
	}
}

// C56: on a full disk what changes no more than is there goes on: leases are renewed,
// by a process that leaves its -wal to grow, too.
func TestC56_FullDiskRenewalsGoOn(t *testing.T) {
	dir := disk(t, "8m")
	s := mustOpen(t, filepath.Join(dir, "oneslot.db"))
	held := detached(ref(1))
	if _, err := s.Acquire(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	for n := range 2000 {
		if n == 2*manyCommits {
			fillUp(t, dir)
		}
		if _, err := s.Renew(t.Context(), held.Key); err != nil {
			t.Fatalf("renewal %d: %v", n, err)
		}
	}
}

// C56: a disk that is full means no start, says so, and leaves a file that
// works again when there is room.
func TestC56_FullDisk(t *testing.T) {
	dir := disk(t, "1m")
	s := mustOpen(t, filepath.Join(dir, "oneslot.db"))
	held := detached(ref(1))
	if _, err := s.Acquire(context.Background(), held); err != nil {
		t.Fatal(err)
	}
	filled := fillUp(t, dir)
	var failed error
	n := 2
	for ; n < 500 && failed == nil; n++ {
		_, failed = s.Acquire(context.Background(), detached(ref(n)))
	}
	if !errors.Is(failed, slot.ErrUnknown) {
		t.Fatalf("got %v, want unknown", failed)
	}
	contains(t, failed, "full")
	if look, err := s.Look(context.Background(), ref(n-1)); err == nil && look.Live() != nil {
		t.Error("the claim that failed is on record")
	}
	if _, err := s.Check(context.Background(), held.Key); err != nil {
		t.Errorf("a claim held before cannot be checked: %v", err)
	}
	if err := os.Remove(filled); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(context.Background(), detached(ref(n))); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	if err := s.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// C56: a folder that cannot be written (as an ordinary user).
func TestC56_ReadOnlyFolder(t *testing.T) {
	needRoot(t)
	base, err := os.MkdirTemp("/tmp", "oneslot-ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) }) //nolint:errcheck
	if err := os.Chmod(base, 0o555); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(base, "job")
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", bin, filepath.Join(base, "oneslot.db"))
	cmd.Env = append(os.Environ(), jobVar+"=once", "HOME=/nonexistent")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatal("a claim was given")
	}
	contains(t, errors.New(string(out)), "permission denied")
}

// C56: network file systems by their magic numbers, and FUSE by its real type.
func TestC56_NetworkFileSystems(t *testing.T) {
	for magic, name := range network {
		if name == "" || magic == unix.EXT4_SUPER_MAGIC || magic == unix.TMPFS_MAGIC {
			t.Errorf("%#x is called %q", magic, name)
		}
	}
	for line, want := range map[string][2]string{
		"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue": {"98:0", "ext3"},
		"40 35 0:52 / /m rw shared:3 - fuse.sshfs me@there:/ rw":                         {"0:52", "fuse.sshfs"},
		"garbage": {"", ""},
		"1 2 - ":  {"", ""},
	} {
		if dev, kind := mountOf(line); dev != want[0] || kind != want[1] {
			t.Errorf("%q: %s %s", line, dev, kind)
		}
	}
}

func TestC56_FUSE(t *testing.T) {
	needRoot(t)
	for _, tc := range []struct {
		tool    string
		args    func(a, b string) []string
		allowed bool
	}{
		{"bindfs", func(a, b string) []string { return []string{"-o", "subtype=sshfs", a, b} }, false},
		{"fuse-overlayfs", func(a, b string) []string {
			up, work := filepath.Join(a, "up"), filepath.Join(a, "work")
			os.Mkdir(up, 0o700)   //nolint:errcheck
			os.Mkdir(work, 0o700) //nolint:errcheck
			return []string{"-o", "lowerdir=" + a + ",upperdir=" + up + ",workdir=" + work, b}
		}, true},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			bin, err := exec.LookPath(tc.tool)
			if err != nil {
				missing(t, "the Debian package "+tc.tool)
			}
			a, b := t.TempDir(), t.TempDir()
			if out, err := exec.Command(bin, tc.args(a, b)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			t.Cleanup(func() { exec.Command("umount", "-l", b).Run() }) //nolint:errcheck
			path := filepath.Join(b, "oneslot.db")
			if !tc.allowed {
				refused(t, path, "network file system", "fuse")
				if left, _ := os.ReadDir(b); len(left) > 0 {
					t.Errorf("touched: %v", left)
				}
				return
			}
			s := mustOpen(t, path)
			if _, err := s.Acquire(context.Background(), detached(ref(1))); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "root")
	}
}

// missing skips with one clear line; where everything must be there it fails.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("ONESLOT_NO_SKIP") != "" {
		t.Fatalf("needs %s", what)
	}
	t.Skipf("needs %s", what)
}

func FuzzMountOf(f *testing.F) {
	f.Add("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue")
	f.Add("1 2 - ")
	f.Add(" - - - ")
	f.Fuzz(func(t *testing.T, line string) {
		if dev, kind := mountOf(line); (dev == "") != (kind == "") {
			t.Errorf("%q: device %q, type %q", line, dev, kind)
		}
	})
}

// disk is a folder on a disk of its own, of a size.
func disk(t *testing.T, size string) string {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) }) //nolint:errcheck
	return dir
}

// fillUp leaves no room on a disk, until it is removed.
func fillUp(t *testing.T, dir string) (path string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	return f.Name()
}
