package failpoint

import (
	"testing"
	"time"
)

type still struct{}

func (still) Boot() time.Duration  { return time.Hour }
func (still) Awake() time.Duration { return time.Hour }
func (still) Wall() time.Time      { return time.Unix(1, 0) }
func (still) BootID() string       { return "b" }

func TestNothingAskedNothingDone(t *testing.T) {
	Hit(BeforeFork)
	if got := Clock(still{}).Wall(); !got.Equal(time.Unix(1, 0)) {
		t.Errorf("wall = %v", got)
	}
}
