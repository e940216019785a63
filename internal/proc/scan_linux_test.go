package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// fakeProc is a /proc with these parents of processes, and the kernel's lists
// of children unless they are left out.
func fakeProc(t *testing.T, parents map[int]int, lists bool) procfs {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	children := make(map[int]string)
	for pid, ppid := range parents {
		children[ppid] += strconv.Itoa(pid) + " "
		write(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (p) S %d 1 1 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 %d 0 0\n", pid, ppid, pid))
	}
	for pid := range parents {
		write(fmt.Sprintf("%d/task/%d/comm", pid, pid), "p\n")
		if lists {
			write(fmt.Sprintf("%d/task/%d/children", pid, pid), "")
			// Another thread has them all.
			write(fmt.Sprintf("%d/task/%d/children", pid, pid+1000), children[pid])
		}
	}
	return procfs(dir)
}

func TestBelowByTheKernelsLists(t *testing.T) {
	parents := map[int]int{2: 1, 10: 2, 11: 10, 12: 10, 13: 11, 20: 2}
	for name, lists := range map[string]bool{"with lists": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			v := view{fs: fakeProc(t, parents, lists)}
			root, err := v.fs.stat(10, nil)
			if err != nil {
				t.Fatal(err)
			}
			all, _, err := v.below([]stat{root, root})
			if !lists {
				if !errors.Is(err, errors.ErrUnsupported) {
					t.Fatalf("below = %v, %v", all, err)
				}
				if all, _, err = v.scan(); err != nil {
					t.Fatal(err)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			marked := make(map[int]bool)
			descend(all, map[int]bool{10: true}, marked)
			var pids []int
			for pid := range marked {
				pids = append(pids, pid)
			}
			slices.Sort(pids)
			if !slices.Equal(pids, []int{11, 12, 13}) {
				t.Errorf("below 10: %v", pids)
			}
		})
	}
}

func TestBelowWhoHasEnded(t *testing.T) {
	v := view{fs: fakeProc(t, map[int]int{10: 1}, true)}
	root, err := v.fs.stat(10, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(v.fs.path(10, "")); err != nil {
		t.Fatal(err)
	}
	if all, hazy, err := v.below([]stat{root}); len(all) != 1 || !hazy || err != nil {
		t.Errorf("below = %v, %v, %v", all, hazy, err)
	}
}

// Numbers read at different moments make families that never were.
func TestC51_NobodyIsOlderThanItsParent(t *testing.T) {
	all := []stat{
		{pid: 500, ppid: 1, ticks: 900}, // a member, with the number of the parent that 600 had
		{pid: 600, ppid: 500, ticks: 100},
		{pid: 601, ppid: 500, ticks: 900},
	}
	marked := map[int]bool{500: true}
	descend(all, nil, marked)
	if marked[600] || !marked[601] {
		t.Errorf("marked %v", marked)
	}
}

func TestCarries(t *testing.T) {
	dir := t.TempDir()
	v := view{fs: procfs(dir)}
	st := stat{pid: 7, state: 'S', threads: 1}
	put := func(environ, state, flags, envStart, envEnd string) {
		text := "7 (p) " + state + " 1 1 1 0 -1 " + flags + " 1 0 0 0 0 0 0 0 20 0 1 0 9 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 " +
			envStart + " " + envEnd + " 0\n"
		if err := errors.Join(os.MkdirAll(v.fs.path(7, ""), 0o755),
			os.WriteFile(v.fs.path(7, "environ"), []byte(environ), 0o644),
			os.WriteFile(v.fs.path(7, "stat"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		environ, state, flags, envStart, envEnd string

		yes bool
		saw haze
	}{
		{"A=b\x00ONESLOT_RUN=r1\x00", "S", "0", "29", "99", true, sharp},
		{"A=b\x00", "S", "0", "29", "99", false, sharp},
		{"", "S", "0", "99", "99", false, sharp}, // env -i
		{"", "S", "0", "0", "0", false, veiled},  // between two programs
		{"", "S", "0", "29", "99", false, hazy},  // it was, when the environment was read
		{"", "R", "4", "0", "0", false, hazy},    // it is about to end
		{"", "Z", "0", "0", "0", false, hazy},    // it ended since it was listed
	} {
		put(c.environ, c.state, c.flags, c.envStart, c.envEnd)
		if yes, saw := v.carries(st, "r1", nil); yes != c.yes || saw != c.saw {
			t.Errorf("%+v: %v, %v", c, yes, saw)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if yes, saw := v.carries(st, "r1", nil); yes || saw != hazy {
		t.Errorf("of one that has ended: %v, %v", yes, saw)
	}
}

// childrenOf lists the children of the process with the number pid, zombies
// included. It costs little where the kernel keeps such lists, and a look at
// all processes elsewhere. While children end, the list may miss one; an empty
// list is the truth. The error is os.ErrProcessDone if pid has ended.
func childrenOf(pid int) ([]int, error) {
	v, err := newView()
	if err != nil {
		return nil, err
	}
	if !v.foreign {
		pids, err := v.fs.children(pid)
		if absent(err) {
			return nil, os.ErrProcessDone
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return pids, err
		}
	}
	all, _, err := v.scan()
	if err != nil {
		return nil, err
	}
	parent := -1
	for _, st := range all {
		if v.number(st) == pid {
			parent = st.pid
		}
	}
	if parent < 0 {
		return nil, os.ErrProcessDone
	}
	var pids []int
	for _, st := range all {
		if st.ppid == parent {
			pids = append(pids, v.number(st))
		}
	}
	return pids, nil
}
