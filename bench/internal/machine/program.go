package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Exec runs a program to its end, its output dropped, and gives the time from
// the fork to its collection.
func Exec(ctx context.Context, env []string, argv ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = env
	at := time.Now()
	err := cmd.Run()
	took := time.Since(at)
	if err != nil {
		err = fmt.Errorf("%v: %w", argv, err)
	}
	return took, err
}

// Build compiles the main package pkg, as seen from the folder dir, the way a
// release is built.
func Build(ctx context.Context, dir, pkg, out string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// BuildEmpty makes a Go program that does nothing.
func BuildEmpty(ctx context.Context, folder string) (program string, err error) {
	src := filepath.Join(folder, "empty.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(folder, "empty")
	return program, Build(ctx, folder, src, program)
}
