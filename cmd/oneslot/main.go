//go:debug updatemaxprocs=0

// Command oneslot is the gate that every dispatcher can ask: one worker per ref.
package main

import (
	"os"

	"github.com/oneslot/oneslot/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.System()))
}
