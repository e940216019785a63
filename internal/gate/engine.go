package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// listMax bounds what an engine may answer, in bytes.
const listMax = 64 << 20

// engine is Docker's API, which Podman has too, over its local socket.
type engine struct {
	kind   string // docker or podman
	getenv func(string) string
}

// sockets lists where the engine may be, the best first.
func (e engine) sockets() ([]string, error) {
	name, list := "DOCKER_HOST", []string{"/var/run/docker.sock"}
	if e.kind == "podman" {
		name, list = "CONTAINER_HOST", []string{"/run/podman/podman.sock"}
		if dir := e.getenv("XDG_RUNTIME_DIR"); dir != "" {
			list = append([]string{filepath.Join(dir, "podman", "podman.sock")}, list...)
		}
	}
	host := e.getenv(name)
	if host == "" {
		return list, nil
	}
	path, ok := strings.CutPrefix(host, "unix://")
	if !ok || path == "" {
		return nil, fmt.Errorf("%s is no unix socket, and only those are looked at", name)
	}
	return []string{path}, nil
}

// get asks the engine and returns the body of a good answer.
func (e engine) get(ctx context.Context, path string) (io.ReadCloser, error) {
	sockets, err := e.sockets()
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialFirst(ctx, sockets)
		},
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.kind+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", e.kind, bare(err))
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		why, _ := io.ReadAll(io.LimitReader(resp.Body, detailMax))
		return nil, fmt.Errorf("%s answered %s%s", e.kind, resp.Status, after(": ", strings.TrimSpace(string(why))))
	}
	return resp.Body, nil
}

// bare takes the request's address off an error: it helps nobody, and may hold what
// is not for a record.
func bare(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// dialFirst connects to the first socket that is there.
func dialFirst(ctx context.Context, paths []string) (net.Conn, error) {
	var failed error
	for _, path := range paths {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return nil, failed
}

// parseContainers reads a list of containers. Whatever is no such list is an error,
// and never an empty one.
func parseContainers(r io.Reader) ([]container, error) {
	limited := &io.LimitedReader{R: r, N: listMax}
	var list []container
	dec := json.NewDecoder(limited)
	err := dec.Decode(&list)
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("the list of containers is larger than %d bytes", listMax)
	case err != nil:
		return nil, fmt.Errorf("the list of containers: %w", err)
	case list == nil:
		return nil, errors.New("the list of containers is missing")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("the list of containers does not end where it should")
	}
	for _, c := range list {
		if c.State == "" {
			return nil, fmt.Errorf("the list of containers: %s has no state", c.name())
		}
	}
	return list, nil
}
