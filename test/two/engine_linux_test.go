package two

import (
	"testing"
	"time"

	"github.com/oneslot/oneslot/test/rig"
)

// containerGate is the gate of the daemon beside a monitor that starts containers.
const containerGate = `[[gate]]
type  = "docker"
name  = "bob-pm-*-slot-{dashed}"
every = "10m"
`

// removal is what the engine may take from the end of a container's process until the
// container is gone; there is no hold for containers.
const removal = 2 * time.Second

// P4 P6 P7 P9, beside containers: the daemon starts beside one only if that came after
// the last peek, and once it is gone, what was put off starts.
func TestTwoDispatchersContainers(t *testing.T) {
	e := rig.StartDocker(t)
	rounds := max(2, number(t, "ONESLOT_ROUNDS", 10)/5)
	w := newWorld(t, []string{"DOCKER_HOST=unix://" + e.Socket}, containerGate, quiet.String(), daemonWork)
	w.serve()
	stop := w.monitor("monitor-docker.sh", "--volume", worker+":/worker:ro", "--volume", w.dir+":"+w.dir,
		rig.Image, "/worker", monitorSide, "NUMBER", "-", w.path("journal"), monitorWork.String(), "--")
	poll(t, patience, "the monitor's first containers", func() bool { return len(w.stints(monitorSide, "")) > 0 })
	w.rounds(rounds, time.Second)
	stop()
	poll(t, patience, "the containers' end", func() bool {
		out, err := e.Run("ps", "--all", "--quiet")
		return err == nil && out == ""
	})
	w.inWindow(w.judge(rounds))
	free, freed := w.waits(quiet)
	if len(free) > 0 {
		w.within(time.Second, "starts on a free slot, from the end of the quiet window", free)
	}
	if len(freed) > 0 {
		w.within(time.Second+removal, "starts after a deferral, from the end of the container's process", freed)
	}
	w.shortWindow()
}

// P8 P10: an engine that is gone fails open, and the record says so.
func TestEngineGone(t *testing.T) {
	w := newWorld(t, []string{"DOCKER_HOST=unix:///nowhere/docker.sock"}, containerGate, "0s", daemonWork)
	w.serve()
	w.ended(w.deliver("1"))
	if _, ok := w.says("1", "proceed", "docker: unknown", "on_error = open: went on"); !ok {
		_, all := w.why("1")
		t.Errorf("the record does not say that the gate failed open: %+v", all)
	}
}
