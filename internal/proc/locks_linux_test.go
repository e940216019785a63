package proc

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLockOwners(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db-shm")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	dev := uint64(st.Dev)
	if owners, err := LockOwners(dev, st.Ino); err != nil || len(owners) != 0 {
		t.Errorf("of a free file: %+v, %v", owners, err)
	}

	cmd := part(t, "lock", file)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, cmd)
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "<nil>\n" {
		t.Fatalf("lock: %q, %v", line, err)
	}
	owners, err := LockOwners(dev, st.Ino)
	want := []Owner{{PID: p.PID, Kind: "POSIX", Exclusive: true, Start: 120, End: 127}}
	if err != nil || !slices.Equal(owners, want) {
		t.Errorf("owners = %+v, %v", owners, err)
	}
	// As on btrfs: stat and the kernel's list name different devices.
	if owners, err := LockOwners(dev+1, st.Ino); err != nil || len(owners) != 0 {
		t.Errorf("of another device: %+v, %v", owners, err)
	}
}

func TestParseLocks(t *testing.T) {
	const text = `1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF
1: -> POSIX  ADVISORY  WRITE 3569 fd:00:2531452 0 EOF
2: FLOCK  ADVISORY  READ 8616 103:a:9977911 0 EOF
3: OFDLCK ADVISORY  READ -1 00:1a:8713 128 135
4: DELEG  ACTIVE    READ 3000 fe:00:12 0 EOF
5: POSIX  ADVISORY  WRITE
`
	want := []lockLine{
		{Owner{3568, "POSIX", true, 0, -1}, 0xfd, 0, 2531452},
		{Owner{8616, "FLOCK", false, 0, -1}, 0x103, 0xa, 9977911},
		{Owner{-1, "OFDLCK", false, 128, 135}, 0, 0x1a, 8713},
	}
	if got := parseLocks([]byte(text)); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func FuzzParseLocks(f *testing.F) {
	f.Add([]byte("1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF\n"))
	f.Add([]byte("1: -> FLOCK  ADVISORY  READ -1 fd:00:2531452 10 20"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := parseLocks(b)
		if max := strings.Count(string(b), "\n") + 1; len(got) > max {
			t.Errorf("%d locks of %d lines", len(got), max)
		}
		for _, l := range got {
			if l.Kind != "FLOCK" && l.Kind != "POSIX" && l.Kind != "OFDLCK" {
				t.Errorf("kind %q", l.Kind)
			}
		}
	})
}
