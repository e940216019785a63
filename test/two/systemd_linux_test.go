package two

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oneslot/oneslot/test/rig"
)

// unitGate is the gate of the daemon beside the monitor. Its every is so long that no
// start can be due to it.
const unitGate = `[[gate]]
type  = "systemd"
user  = true
units = ["bob-pm-*-slot-{dashed}.service"]
every = "10m"
`

const holdUnit = `hold_unit = "bob-pm-fast-slot-{dashed}.service"
`

// The quiet window of the rounds.
const quiet = 100 * time.Millisecond

// offsets are drawn over more than a period of the monitor.
const offsets = 400 * time.Millisecond

// One manager for all: there is one at a time on a machine.
func TestTwoDispatchersUnits(t *testing.T) {
	s := rig.StartSystemd(t)
	n := number(t, "ONESLOT_ROUNDS", 10)
	t.Run("hold unit", func(t *testing.T) { testHoldUnit(t, s, n) })
	t.Run("peek only", func(t *testing.T) { testPeekOnly(t, s, n) })
	t.Run("twin without a gate", func(t *testing.T) { testNoGate(t, s) })
	t.Run("absent monitor", func(t *testing.T) { testAbsent(t, s) })
	t.Run("wake", func(t *testing.T) { testWake(t, s) })
	t.Run("packaged unit", func(t *testing.T) { testPackagedUnit(t, s) })
	t.Run("bus gone", func(t *testing.T) { testBusGone(t, s) }) // the last: nothing is left of the manager
}

// twoSides runs the rounds beside the monitor and returns what came of it.
func twoSides(t *testing.T, s *rig.Systemd, gates string, rounds int) (*world, []overlap) {
	t.Helper()
	w := newWorld(t, s.Env(), gates, quiet.String(), daemonWork)
	w.serve()
	stop := w.unitMonitor()
	w.rounds(rounds, offsets)
	stop()
	for _, number := range numbers { // the monitor's last ones
		poll(t, patience, "the units' end", func() bool { return unitState(s, number) == "inactive" })
	}
	return w, w.judge(rounds)
}

func unitOf(number string) string { return "bob-pm-fast-slot-" + dashed + number + ".service" }

func unitState(s *rig.Systemd, number string) string {
	out, _ := s.Run("systemctl", "--user", "show", "--property=ActiveState", "--value", unitOf(number))
	return out[:max(len(out)-1, 0)]
}

// P1 P4 P6 P9, over both dispatchers: with a hold unit there is never more than one.
func testHoldUnit(t *testing.T, s *rig.Systemd, rounds int) {
	w, found := twoSides(t, s, unitGate+holdUnit, rounds)
	for _, o := range found {
		t.Errorf("%v, and beside it %v", o.second, o.first)
	}
	w.starts(t)
}

// P7: with peeks alone, the daemon starts beside a unit only if that came after the
// last peek. (A monitor that does not look starts beside a run whenever it likes;
// nothing but a hold unit can keep it from that.)
func testPeekOnly(t *testing.T, s *rig.Systemd, rounds int) {
	w, found := twoSides(t, s, unitGate, rounds)
	w.inWindow(found)
	w.starts(t)
	w.shortWindow()
}

// starts checks that all started in time.
func (w *world) starts(t *testing.T) {
	t.Helper()
	free, freed := w.waits(quiet)
	w.within(time.Second, "starts on a free slot, from the end of the quiet window", free)
	if len(freed) > 0 {
		w.within(time.Second, "starts after a deferral, from the other side's end", freed)
	}
}

// What the other tests show can be lost: without a gate the daemon starts beside
// units that work already.
func testNoGate(t *testing.T, s *rig.Systemd) {
	for _, c := range []struct {
		gates string
		meet  int
	}{{unitGate + holdUnit, 0}, {unitGate, 0}, {"", len(numbers)}} {
		w := newWorld(t, s.Env(), c.gates, "0s", daemonWork)
		w.serve()
		for _, number := range numbers {
			s.MustRun(t, "systemd-run", "--user", "--quiet", "--unit="+unitOf(number),
				worker, monitorSide, number, "-", w.path("journal"), "2s")
		}
		poll(t, patience, "the units are at work", func() bool { return len(w.stints(monitorSide, "")) == len(numbers) })
		for _, number := range numbers {
			w.ended(w.deliver(number))
		}
		if found := overlaps(w.journal()); len(found) != c.meet {
			t.Errorf("with the gate %q: %d overlaps, not %d: %v", c.gates, len(found), c.meet, found)
		}
		w.settled()
	}
}

// P9: with nobody there each event starts at once, also after the ordinary quiet
// window.
func testAbsent(t *testing.T, s *rig.Systemd) {
	w := newWorld(t, s.Env(), unitGate+holdUnit, "2s", daemonWork)
	w.serve()
	w.rounds(2, offsets)
	w.settled()
	free, freed := w.waits(2 * time.Second)
	w.within(time.Second, "starts with nobody there, from the end of the quiet window", free)
	if len(freed) > 0 {
		t.Errorf("%d starts waited for somebody", len(freed))
	}
}

// P6 P10: what is put off for a unit starts within a second of the unit's end, has
// spent nothing, and `why` has the reason.
func testWake(t *testing.T, s *rig.Systemd) {
	w := newWorld(t, s.Env(), unitGate+holdUnit, "0s", daemonWork)
	w.serve()
	defer w.sample()()
	var list []time.Duration
	for i := range 5 {
		number := fmt.Sprint(100 + i)
		s.MustRun(t, "systemd-run", "--user", "--quiet", "--unit="+unitOf(number), "sleep", "600")
		sha := w.deliver(number)
		poll(t, patience, "it is put off", func() bool {
			_, ok := w.says(number, "defer", "systemd: "+unitOf(number)+" is active", "")
			return ok
		})
		items, _ := w.why(number)
		if len(items) != 1 || items[0].State != "pending" || items[0].Attempts != 0 || items[0].Defers == 0 {
			t.Errorf("while it is put off: %+v", items)
		}
		ended := boot()
		s.MustRun(t, "systemctl", "--user", "stop", unitOf(number))
		list = append(list, w.started(sha).start-ended)
	}
	w.within(time.Second, "from a unit's end to the start", list)
	w.settled()
	w.spent()
}

// P8 P10: with the manager and its bus gone the gate fails as on_error says, and the
// record says so.
func testBusGone(t *testing.T, s *rig.Systemd) {
	w := newWorld(t, s.Env(), unitGate+holdUnit, "0s", daemonWork)
	w.serve()
	w.ended(w.deliver("1"))

	if err := s.Manager().Kill(); err != nil {
		t.Fatal(err)
	}
	w.ended(w.deliver("2"))
	if err := s.Bus().Kill(); err != nil {
		t.Fatal(err)
	}
	w.ended(w.deliver("3"))
	for _, number := range []string{"2", "3"} {
		if _, ok := w.says(number, "proceed", "systemd: unknown", "on_error = open: went on"); !ok {
			_, all := w.why(number)
			t.Errorf("#%s: the record does not say that the gate failed open: %+v", number, all)
		}
	}

	w.configure(unitGate+holdUnit+`on_error = "closed"
`, "0s", daemonWork)
	if err := w.daemon.Process.Signal(unix.SIGHUP); err != nil {
		t.Fatal(err)
	}
	poll(t, patience, "the daemon follows", func() bool { return w.logged("configuration in force") > 1 })
	sha := w.deliver("4")
	poll(t, patience, "it is put off", func() bool {
		_, ok := w.says("4", "defer", "systemd: unknown", "on_error = closed: deferred")
		return ok
	})
	if items, _ := w.why("4"); len(items) != 1 || items[0].State != "pending" || items[0].Attempts != 0 {
		t.Errorf("while it is put off: %+v", items)
	}
	if list := w.stints(daemonSide, sha); len(list) > 0 {
		t.Errorf("it started although it could not look: %v", list)
	}
}
