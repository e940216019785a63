// Command bench measures oneslot against its promises of speed and size, in one
// run and in one table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/measure"
	"github.com/oneslot/oneslot/bench/internal/report"
)

type options struct {
	only, folder, program, json, profile string
	tries                                int
	longest                              time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 2 && os.Args[1] == measure.HelperVerb {
		if err := measure.Helper(ctx, os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "bench %s: %v\n", os.Args[2], err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.StringVar(&o.only, "only", "", "measure these alone, as in `3,4`")
	flag.StringVar(&o.folder, "folder", os.TempDir(), "where the stores are made: the file `system` to measure on")
	flag.StringVar(&o.program, "oneslot", "", "the oneslot `program` to measure (default: it is built)")
	flag.StringVar(&o.json, "json", "bench.json", "`file` for the report as JSON")
	flag.StringVar(&o.profile, "cpuprofile", "", "`file` for a profile of this process")
	flag.IntVar(&o.tries, "tries", 2, "how often one that fails while others use the machine is measured")
	flag.DurationVar(&o.longest, "longest", 15*time.Minute, "longest time of all")
	flag.Parse()
	passed, err := run(ctx, o)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	case !passed:
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (passed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.longest)
	defer cancel()
	chosen, err := choose(o.only)
	if err != nil {
		return false, err
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/oneslot/oneslot").Output()
	if err != nil {
		return false, fmt.Errorf("where oneslot's source is (run this in its bench folder): %w", err)
	}
	module := strings.TrimSpace(string(out))
	b, err := measure.New(o.folder, o.program, module)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return false, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return false, err
		}
		defer pprof.StopCPUProfile()
	}
	began := time.Now()
	rep := report.Report{At: began.Format(time.RFC3339), Machine: machine.Describe(), Folder: o.folder}
	for i, d := range chosen {
		var rows []report.Row
		for try := 1; try <= o.tries; try++ {
			at := time.Now()
			rows = one(ctx, b, d, try)
			left := o.longest - time.Since(began) - time.Since(at)
			for _, later := range chosen[i+1:] {
				left -= 2 * later.Takes
			}
			if left < 0 || !shaken(rows) {
				break
			}
		}
		rep.Rows = append(rep.Rows, rows...)
	}
	rep.Took = time.Since(began).Round(time.Second).String()
	return rep.Passed(), errors.Join(rep.Table(os.Stdout), write(o.json, rep))
}

// one takes a measurement, with the mood of the machine beside it.
func one(ctx context.Context, b *measure.Bench, d measure.Demand, try int) []report.Row {
	fmt.Fprintf(os.Stderr, "bench: %d  %s\n", d.Number, d.What)
	before, err := machine.Now()
	var rows []report.Row
	if err == nil {
		rows, err = d.Run(ctx, b)
	}
	after, e := machine.Now()
	if err = errors.Join(err, e); err != nil {
		rows = []report.Row{{What: d.What, Error: err.Error()}}
	}
	for i := range rows {
		rows[i].Number, rows[i].Tries = d.Number, try
		rows[i].Others, rows[i].Load = after.Others(before), machine.Load1()
	}
	return rows
}

// shaken reports whether something went wrong while others used the machine.
func shaken(rows []report.Row) bool {
	return slices.ContainsFunc(rows, func(r report.Row) bool { return !r.Pass && r.Others > 10 })
}

func choose(only string) ([]measure.Demand, error) {
	all := measure.Demands()
	if only == "" {
		return all, nil
	}
	var chosen []measure.Demand
	for word := range strings.SplitSeq(only, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(all) {
			return nil, fmt.Errorf("-only %s: there are the numbers 1 to %d", only, len(all))
		}
		chosen = append(chosen, all[n-1])
	}
	return chosen, nil
}

func write(path string, rep report.Report) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(rep.JSON(f), f.Close())
}
