package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/internal/slot"
	"github.com/oneslot/oneslot/internal/supervise"
)

// runReport is what --report writes: it tells our exit codes from the
// command's own.
type runReport struct {
	Ran        bool      `json:"ran"`  // the command was started
	Code       int       `json:"code"` // what oneslot exits with
	Ref        *string   `json:"ref"`
	Run        *string   `json:"run"`
	Claim      *string   `json:"claim"`
	Fence      *int64    `json:"fence"`
	Exit       *int      `json:"exit"` // the command's own
	Signal     *string   `json:"signal"`
	Outcome    *string   `json:"outcome"`
	Reason     *string   `json:"reason"`
	Log        *string   `json:"log"`
	LeftBehind int       `json:"left_behind"`
	Kept       int       `json:"kept"`
	Pending    bool      `json:"release_pending"`
	Refusal    *slotView `json:"refusal"` // why nothing was started
}

// reportOf makes the report of a run that got its claim.
func reportOf(r supervise.Report) runReport {
	return runReport{
		Ran: r.Ran, Ref: text(r.Ref.String()), Run: text(r.Run), Claim: text(r.Claim), Fence: number(r.Fence),
		Exit: r.Exit, Signal: r.Signal, Outcome: text(string(r.Outcome)), Reason: r.Reason, Log: r.Log,
		LeftBehind: r.LeftBehind, Kept: r.Kept, Pending: r.Pending,
	}
}

// refuse puts in why nothing was started.
func (r *runReport) refuse(ref slot.Ref, err error) {
	if r.Ref == nil {
		r.Ref = text(ref.String())
	}
	if r.Reason == nil {
		r.Reason = text(err.Error())
	}
	if slot.IsRefusal(err) {
		v := refusalView(ref, err)
		r.Refusal, r.Reason = &v, text(v.Reason)
	}
}

// reportFile is where a report goes. A file is replaced as a whole. What is not a
// file of its own, such as a pipe or /dev/stdout, is written to as it is: to
// rename something over it would break it for everybody.
type reportFile struct {
	path  string
	plain bool // it is, or will be, a file of its own
}

// openReport finds out whether a report can be written, before anything starts.
func openReport(path string) (*reportFile, error) {
	if path == "" {
		return nil, nil
	}
	r := &reportFile{path: path}
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("%w: --report %s cannot be written, so nothing was started: %v", slot.ErrUsage, path, err)
	}
	return r, nil
}

func (r *reportFile) prepare() error {
	info, err := os.Lstat(r.path)
	switch {
	case err != nil && !os.IsNotExist(err):
		return err
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && !info.Mode().IsRegular(): // a link, too
		f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND|unix.O_NONBLOCK, 0)
		switch {
		case os.IsNotExist(err):
			return errors.New("it is a link to what is not there")
		case err != nil:
			return err
		}
		return f.Close()
	}
	r.plain = true
	tmp, err := r.temp()
	if err != nil {
		return err
	}
	tmp.Close()
	return os.Remove(tmp.Name())
}

func (r *reportFile) temp() (*os.File, error) {
	return os.CreateTemp(filepath.Dir(r.path), "."+filepath.Base(r.path)+".*")
}

// write puts the report in place. A nil file takes everything.
func (r *reportFile) write(rep runReport) (err error) {
	if r == nil {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("--report %s could not be written: %w", r.path, err)
		}
	}()
	data, err := json.Marshal(rep)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if !r.plain {
		f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	tmp, err := r.temp()
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), r.path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
