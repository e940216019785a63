package two

import (
	"testing"

	"github.com/oneslot/oneslot/test/rig"
)

func testPackagedUnit(t *testing.T, s *rig.Systemd) { t.Skip("to be written") }
