//go:build !linux

package cli

import "syscall"

func dieWithUs(*syscall.SysProcAttr) {}
