package doctor

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// File is one file of a bundle.
type File struct {
	Name string
	Data []byte
}

// WriteBundle writes files as a gzipped tar, each without secrets. at is the time
// that they get.
func WriteBundle(w io.Writer, r *Redactor, at time.Time, files []File) error {
	zip := gzip.NewWriter(w)
	t := tar.NewWriter(zip)
	for _, f := range files {
		data := r.Redact(f.Data)
		err := t.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: "oneslot-bundle/" + f.Name, Mode: 0o600, Size: int64(len(data)), ModTime: at,
		})
		if err == nil {
			_, err = t.Write(data)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), zip.Close())
}

// Facts says what machine this is, for somebody who cannot look.
func Facts(ctx context.Context, s *Subject) map[string]string {
	facts := map[string]string{"os": runtime.GOOS, "arch": runtime.GOARCH}
	var name unix.Utsname
	if err := unix.Uname(&name); err == nil {
		facts["kernel"] = unix.ByteSliceToString(name.Release[:])
	}
	if s.Store != nil {
		if kind, _, err := s.Machine.FileSystem(nearest(s.Store.Dir())); err == nil {
			facts["store_file_system"] = kind
		}
	}
	facts["cgroup"] = s.Machine.Cgroup(os.Getpid())
	if s.Daemon != nil {
		if pid, err := s.Daemon(); err == nil && pid != 0 {
			facts["daemon_cgroup"] = s.Machine.Cgroup(pid)
		}
	}
	facts["first_pid_namespace"] = map[bool]string{true: "yes", false: "no"}[s.Machine.First]
	facts["path"], _ = s.Env("PATH")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "systemctl", "--version").Output(); err == nil {
		facts["systemd"], _, _ = strings.Cut(string(out), "\n")
	}
	return facts
}
