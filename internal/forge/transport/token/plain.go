package token

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxFile bounds a file with a token or a key, in bytes.
const maxFile = 64 << 10

// File gives the token in a file. The file is read for each request, so that a token
// that was replaced counts at once; one line end at its end is dropped.
func File(path string) Plain {
	return func() (string, error) {
		text, err := readFile(path)
		if err != nil {
			return "", err
		}
		line := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
		if line == "" {
			return "", fmt.Errorf("%s is empty", path)
		}
		return line, nil
	}
}

// Env gives the token in a variable of the environment, as lookup tells it (os.LookupEnv).
func Env(name string, lookup func(string) (string, bool)) Plain {
	return func() (string, error) {
		value, _ := lookup(name)
		if value == "" {
			return "", fmt.Errorf("%s is not set, or empty", name)
		}
		return value, nil
	}
}

// Plain is a token that others take care of: it is read, and read again when the forge
// rejects it.
type Plain func() (string, error)

// Token implements transport.TokenSource.
func (p Plain) Token(context.Context) (string, error) { return p() }

// Renew implements transport.TokenSource.
func (p Plain) Renew(context.Context, string) (string, error) { return p() }

// readFile reads a file with a token or a key. Its errors repeat nothing of it.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than 64 KiB", path)
	}
	return text, nil
}
