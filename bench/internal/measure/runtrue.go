package measure

import (
	"context"
	"os/exec"
	"path/filepath"

	"github.com/oneslot/oneslot/bench/internal/machine"
	"github.com/oneslot/oneslot/bench/internal/report"
)

// runTrue: number 2, the whole way through claim, fork, settle and release.
func runTrue(ctx context.Context, b *Bench) ([]report.Row, error) {
	const rounds = 61
	prog, err := b.oneslot(ctx)
	if err != nil {
		return nil, err
	}
	yes, err := exec.LookPath("true")
	if err != nil {
		return nil, err
	}
	disk, err := machine.NewDisk(b.Folder)
	if err != nil {
		return nil, err
	}
	defer disk.Close() //nolint:errcheck // the folder goes too
	path := b.path()
	env := b.environ(path)
	flock, noFlock := exec.LookPath("flock")
	lock := filepath.Join(b.Folder, "flock")

	var p report.Pairs
	var versions, trues, syncs, flocks []float64
	for i := range rounds + 3 {
		v, err := machine.Exec(ctx, env, prog, "version")
		if err != nil {
			return nil, err
		}
		t, err := machine.Exec(ctx, env, yes)
		if err != nil {
			return nil, err
		}
		two, err := disk.Sync(2)
		if err != nil {
			return nil, err
		}
		r, err := machine.Exec(ctx, env, prog, "run", refOf("run", i).String(), "--", yes)
		if err != nil {
			return nil, err
		}
		if noFlock == nil {
			f, err := machine.Exec(ctx, env, flock, lock, yes)
			if err != nil {
				return nil, err
			}
			flocks = append(flocks, ms(f))
		}
		if i < 3 {
			continue // the first ones make the store
		}
		p.Add(ms(r), ms(v)+ms(t)+ms(two[0]+two[1])+10)
		versions, trues, syncs = append(versions, ms(v)), append(trues, ms(t)), append(syncs, ms(two[0]+two[1])/2)
	}
	row := p.Into(report.Row{What: "oneslot run REF -- true", Unit: "ms", Limit: "version + true + 2 fdatasync + 10 ms"}).
		With("oneslot version", report.Median(versions), "ms").
		With("true", report.Median(trues), "ms").
		With("fdatasync", report.Median(syncs), "ms")
	if noFlock == nil {
		row = row.Beside("flock FILE true", report.Median(flocks), "ms",
			"It writes nothing down: no holder, no fence, no time to live, no record of the run; "+
				"it does not end what true would leave behind; and the lock is gone when the worker closes its descriptors.")
	}
	return []report.Row{row}, nil
}
