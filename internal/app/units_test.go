package app

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// systemd gives a daemon that is told to end the time to take back what it is about to
// reserve: half a minute (as package reserve bounds it) after its last answers at most.
func TestUnitsLeaveTheDaemonTimeToEnd(t *testing.T) {
	for _, name := range []string{"oneslot.service", "user/oneslot.service"} {
		text, err := os.ReadFile("../../packaging/systemd/" + name)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s bounds no stop", name)
		}
		if s, _ := strconv.Atoi(string(m[1])); time.Duration(s)*time.Second <= 30*time.Second+answerMost {
			t.Errorf("%s: a stop has %d seconds", name, s)
		}
	}
}
