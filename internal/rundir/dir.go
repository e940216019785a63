package rundir

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Dir is the folder of one run.
type Dir struct{ path string }

// At names the folder of a run by its path, as found in a claim's record.
func At(path string) Dir { return Dir{path} }

// Path is where the folder lies.
func (d Dir) Path() string { return d.path }

// Run is the run's id: the name of the folder.
func (d Dir) Run() string { return filepath.Base(d.path) }

// LogPath, EventsPath and ResultPath are the files that others open by name.
func (d Dir) LogPath() string    { return filepath.Join(d.path, "log") }
func (d Dir) EventsPath() string { return filepath.Join(d.path, "events.json") }
func (d Dir) ResultPath() string { return filepath.Join(d.path, "result.json") }

// WriteEvents stores what the worker is told, as JSON made by the caller.
func (d Dir) WriteEvents(events []byte) error { return d.write("events.json", events) }

// Keep puts a file for the worker into the folder and returns its path.
func (d Dir) Keep(name string, data []byte) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return filepath.Join(d.path, name), d.write(name, data)
}

// write replaces a file as a whole.
func (d Dir) write(name string, data []byte) (err error) {
	path := filepath.Join(d.path, name)
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(path + ".tmp")
		return err
	}
	// Nothing is synced: a machine that goes down may lose it or show half of it, and
	// takes the run's tree with it.
	return os.Rename(path+".tmp", path)
}

func (d Dir) writeJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return d.write(name, append(data, '\n'))
}

// read returns a file that a stranger may have put there: it follows no link,
// waits for no pipe, and takes no more than limit bytes.
func (d Dir) read(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, nil
}
