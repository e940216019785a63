package doctor

import (
	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/proc"
)

// System asks this machine.
func System() Machine {
	return Machine{
		Proc:      func() error { _, err := proc.Self(); return err },
		Pidfd:     func() error { return nil }, // kqueue tells
		Subreaper: proc.Adopt,
		First:     true,
		FileSystem: func(path string) (string, bool, error) {
			var st unix.Statfs_t
			err := unix.Statfs(path, &st)
			return unix.ByteSliceToString(st.Fstypename[:]), false, err
		},
		Free:   free,
		Cgroup: func(int) string { return "" },
		Linger: func(int) (on, known bool) { return false, false },
	}
}
