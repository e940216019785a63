package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// StartError says why a command could not be started. Code is what a shell
// would exit with: 127 not found, 126 found but of no use.
type StartError struct {
	Code int
	Err  error
	Path string // the PATH that was searched; empty for none
}

func (e *StartError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + " (searched PATH=" + e.Path + ")"
}

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// defaultPath is searched when the worker's environment has no PATH.
const defaultPath = "/usr/bin:/bin"

// lookup finds the program that the worker's own environment means, before
// anything is forked. dir is the worker's working folder; the result is a path
// to run from there.
func lookup(name, dir string, env []string) (string, error) {
	if info, err := os.Stat(dir); err != nil {
		return "", &StartError{Code: exitCannotRun, Err: fmt.Errorf("the working folder cannot be used: %w", err)}
	} else if !info.IsDir() {
		return "", &StartError{Code: exitCannotRun, Err: fmt.Errorf("the working folder %s is not a folder", dir)}
	}
	if name == "" {
		return "", &StartError{Code: exitNotFound, Err: errors.New("the command has no name")}
	}
	if strings.Contains(name, "/") {
		err := executable(dir, name)
		switch {
		case err == nil:
			return name, nil
		case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENOTDIR):
			return "", &StartError{Code: exitNotFound, Err: fmt.Errorf("command not found: %s", name)}
		}
		return "", &StartError{Code: exitCannotRun, Err: fmt.Errorf("command cannot be run: %s: %w", name, err)}
	}
	search, ok := lookupEnv(env, "PATH")
	if !ok {
		search = defaultPath
	}
	var found error
	for _, folder := range filepath.SplitList(search) {
		if folder == "" {
			folder = "."
		}
		path := filepath.Join(folder, name)
		if !strings.Contains(path, "/") {
			path = "./" + path
		}
		switch err := executable(dir, path); {
		case err == nil:
			return path, nil
		case !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) && found == nil:
			found = fmt.Errorf("%s: %w", path, err)
		}
	}
	if found != nil {
		return "", &StartError{exitCannotRun, fmt.Errorf("command cannot be run: %w", found), search}
	}
	return "", &StartError{exitNotFound, fmt.Errorf("command not found: %s", name), search}
}

func executable(dir, path string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return unix.EISDIR
	}
	return unix.Access(path, unix.X_OK)
}

// startError reads what fork or exec answered.
func startError(path string, err error) error {
	code := exitCannotRun
	if errors.Is(err, unix.ENOENT) { // it was there: its interpreter is not
		code, err = exitNotFound, fmt.Errorf("it, or the interpreter it names, is not there")
	}
	return &StartError{Code: code, Err: fmt.Errorf("command cannot be run: %s: %w", path, err)}
}
