package rig

import (
	"archive/tar"
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Image is the name of the image that an engine has: busybox, as a shell and all the
// common commands.
const Image = "rig/busybox:1"

// Engine is a container engine.
type Engine struct {
	Socket  string // where its API is
	command []string
	env     []string
	service *service
}

// StartDocker starts a Docker engine without a network.
func StartDocker(t testing.TB) *Engine {
	t.Helper()
	need(t, "dockerd", "containerd", "docker", "iptables")
	busybox := findBusybox(t)
	dir := shortDir(t)
	e := &Engine{Socket: dir + "/docker.sock"}
	e.command = []string{"docker", "--host", "unix://" + e.Socket}
	e.service = start(t, []string{"DOCKER_HOST="}, nil, "dockerd", "--iptables=false", "--bridge=none",
		"--data-root", dir+"/data", "--exec-root", dir+"/exec", "--host", "unix://"+e.Socket, "--pidfile", dir+"/pid")
	e.service.ready(t, e.pings)
	t.Cleanup(func() { e.clear(t) })
	e.load(t, busybox)
	return e
}

// StartPodman starts Podman's service.
func StartPodman(t testing.TB) *Engine {
	t.Helper()
	need(t, "podman")
	runtime := "runc" // crun refuses a mixed layout of control groups
	if _, err := exec.LookPath(runtime); err != nil {
		runtime = "crun"
		need(t, runtime)
	}
	busybox := findBusybox(t)
	dir := shortDir(t)
	e := &Engine{Socket: dir + "/podman.sock"}
	e.command = []string{"podman", "--root", dir + "/root", "--runroot", dir + "/runroot", "--tmpdir", dir + "/tmp",
		"--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file", "--runtime", runtime}
	conf := dir + "/containers.conf"
	if err := os.WriteFile(conf, []byte(podmanConf), 0o600); err != nil {
		t.Fatal(err)
	}
	e.env = []string{"CONTAINERS_CONF=" + conf}
	args := append(e.command[1:], "system", "service", "--time", "0", "unix://"+e.Socket)
	e.service = start(t, e.env, nil, e.command[0], args...)
	e.service.ready(t, e.pings)
	t.Cleanup(func() { e.clear(t) })
	e.load(t, busybox)
	return e
}

// podmanConf asks for no limits above those that a test may set.
const podmanConf = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
`

// shortDir is a folder of the test's with a name that leaves room for sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rig-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Logf("left behind: %v", err)
		}
	})
	return dir
}

func (e *Engine) pings() bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", e.Socket)
		},
	}}
	resp, err := client.Get("http://engine/_ping")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// clear removes all containers: their mounts would keep the folder in use, and an
// engine waits for them when it ends.
func (e *Engine) clear(t testing.TB) {
	ids, err := e.Run("ps", "--all", "--quiet")
	if err == nil && ids != "" {
		ids, err = e.Run(append([]string{"rm", "--force"}, strings.Fields(ids)...)...)
	}
	if err != nil {
		t.Logf("containers may be left: %v: %s", err, ids)
	}
}

// Process is the engine's, for tests that stop or end it.
func (e *Engine) Process() *os.Process { return e.service.cmd.Process }

// Run gives the engine a command: run, stop, rm, ... It returns its output and how
// it ended.
func (e *Engine) Run(args ...string) (string, error) {
	out, err := e.cmd(args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// MustRun is Run where a failure is the test's.
func (e *Engine) MustRun(t testing.TB, args ...string) string {
	t.Helper()
	out, err := e.Run(args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", e.command[0], strings.Join(args, " "), err, out, e.service.said())
	}
	return out
}

func (e *Engine) cmd(args ...string) *exec.Cmd {
	args = append(append([]string{}, e.command[1:]...), args...)
	cmd := exec.Command(e.command[0], args...)
	cmd.Env = append(os.Environ(), e.env...)
	return cmd
}

func findBusybox(t testing.TB) string {
	t.Helper()
	for _, path := range []string{"/bin/busybox", "/usr/bin/busybox"} {
		if exists(path) {
			return path
		}
	}
	skip(t, "busybox-static is not installed")
	return ""
}

// load makes the image out of busybox, since there is no registry to get one from.
func (e *Engine) load(t testing.TB, busybox string) {
	t.Helper()
	program, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	add := func(h tar.Header, body []byte) {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	add(tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}, program)
	for _, name := range []string{"sh", "sleep", "cat", "true", "false", "echo", "kill"} {
		add(tar.Header{Name: filepath.Join("bin", name), Linkname: "busybox", Typeflag: tar.TypeSymlink, Mode: 0o777}, nil)
	}
	for _, dir := range []string{"tmp/", "proc/", "sys/", "dev/", "etc/"} {
		add(tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := e.cmd("import", "-", Image)
	cmd.Stdin = &image
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s\n%s", err, out, e.service.said())
	}
}
