package race

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The processes of this host, read here once more so that nothing is believed
// that the program under test says of them.

// seen is one living process.
type seen struct {
	pid int
	env map[string]string
}

func (s seen) String() string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", s.pid))
	return fmt.Sprintf("%d (%s, run %q)", s.pid, strings.TrimSpace(string(name)), s.env["ONESLOT_RUN"])
}

// processes lists those for whose environment keep says yes.
func processes(keep func(env map[string]string) bool) ([]seen, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var all []seen
	for _, dir := range dirs {
		data, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(data, []byte("ONESLOT_")) && !bytes.Contains(data, []byte(worldVar)) {
			continue // it has ended, or is a stranger
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return nil, err
		}
		env := map[string]string{}
		for kv := range strings.SplitSeq(string(data), "\x00") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				env[k] = v
			}
		}
		if keep(env) && pid != os.Getpid() {
			all = append(all, seen{pid, env})
		}
	}
	return all, nil
}

// ticks is when a process was started, by the kernel's count; 0 if it is gone.
// Together with its number it names one process.
func ticks(pid int) uint64 {
	f := stat(pid)
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return 0
	}
	n, err := strconv.ParseUint(f[19], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// stopped reports whether a process is frozen by a signal.
func stopped(pid int) bool {
	f := stat(pid)
	return len(f) > 0 && f[0] == "T"
}

// stat gives the fields of /proc/PID/stat from the state on.
func stat(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(data[bytes.LastIndexByte(data, ')')+1:]), " ")
	return strings.Fields(rest)
}
