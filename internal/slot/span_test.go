package slot

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		7 * day: "7d", 36 * time.Hour: "1d12h", day: "24h", 15 * time.Minute: "15m", 0: "0s", 90 * time.Second: "1m30s",
		time.Hour: "1h", 10 * time.Hour: "10h", time.Hour + time.Second: "1h0m1s",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
}
