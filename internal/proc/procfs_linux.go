package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// procfs is the folder of a mounted /proc. Its numbers are those of the pid
// namespace that it was mounted in.
type procfs string

func (d procfs) path(pid int, name string) string {
	return string(d) + "/" + strconv.Itoa(pid) + "/" + name
}

// slurp reads a small file of /proc: no stat before it and no poller, as this
// is done thousands of times in a scan. It reuses buf.
func slurp(path string, buf []byte) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	buf = buf[:0]
	for {
		buf = slices.Grow(buf, 1024)
		n, err := retry(func() (int, error) { return unix.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return buf, nil
		}
		buf = buf[:len(buf)+n]
	}
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// absent reports that there was no such process when /proc was asked, as far
// as /proc tells: it may hide one.
func absent(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

func (d procfs) stat(pid int, buf []byte) (stat, error) {
	b, err := slurp(d.path(pid, "stat"), buf)
	if err != nil {
		return stat{}, err
	}
	s, err := parseStat(b)
	if err != nil || s.pid != pid {
		return stat{}, fmt.Errorf("%s: %w", d.path(pid, "stat"), errStat)
	}
	return s, nil
}

func (d procfs) status(pid int) (status, error) {
	b, err := slurp(d.path(pid, "status"), nil)
	if err != nil {
		return status{}, err
	}
	return parseStatus(b)
}

// namespace gives the inode of the pid namespace of "self" or a number.
func (d procfs) namespace(pid string) (uint64, error) {
	link, err := os.Readlink(string(d) + "/" + pid + "/ns/pid")
	if err != nil {
		return 0, err
	}
	inode, ok := strings.CutPrefix(strings.TrimSuffix(link, "]"), "pid:[")
	if !ok {
		return 0, fmt.Errorf("%s: not a pid namespace", link)
	}
	return strconv.ParseUint(inode, 10, 64)
}

// program gives the name of the file that "self" or a number runs.
func (d procfs) program(pid string) (string, error) {
	exe, err := os.Readlink(string(d) + "/" + pid + "/exe")
	return filepath.Base(strings.TrimSuffix(exe, " (deleted)")), err
}

// pids lists all processes that /proc shows.
func (d procfs) pids() ([]int, error) {
	f, err := os.Open(string(d))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	return numbers(names), nil
}

// children lists the children of a process, in the numbers of /proc, as the
// kernel keeps them for each of its threads. The error is errors.ErrUnsupported
// on kernels without such lists.
//
// While children end, the list may miss one. An empty list is the truth.
func (d procfs) children(pid int) ([]int, error) {
	for {
		before, err := d.threads(pid)
		if err != nil {
			return nil, err
		}
		var all []int
		for _, tid := range before {
			b, err := slurp(d.path(pid, "task/"+strconv.Itoa(tid)+"/children"), nil)
			switch {
			case err == nil:
				all = append(all, numbers(strings.Fields(string(b)))...)
			case !absent(err):
				return nil, err
			case tid == pid:
				return nil, d.whyNoChildren(pid, err)
			}
		}
		// A thread that ends gives its children to another one, which may
		// have been asked already.
		if after, err := d.threads(pid); err != nil || slices.Equal(before, after) {
			return all, err
		}
	}
}

// whyNoChildren tells a process that has just ended from a kernel that keeps
// no lists.
func (d procfs) whyNoChildren(pid int, err error) error {
	if _, gone := d.stat(pid, nil); gone != nil {
		return err
	}
	return errors.ErrUnsupported
}

func (d procfs) threads(pid int) ([]int, error) {
	f, err := os.Open(d.path(pid, "task"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return numbers(names), err
}
