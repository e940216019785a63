package config

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oneslot/oneslot/internal/slot"
)

func TestParseDuration(t *testing.T) {
	good := map[string]time.Duration{
		"0": 0, "0d": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * day, "30d": 30 * day,
		"1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, ".5d": 12 * time.Hour, "1d500ms": day + time.Second/2,
		"106751d": 106751 * day,
	}
	for s, want := range good {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", s, got, err, want)
		}
	}
	bad := []string{"", "d", "7", "7 d", " 7d", "7D", "-7d", "+7d", "-1h", "1d-1h", "1d+1h", "12h1d", "1d1d",
		"1d2", "1e3d", ".d", "1h2", "106752d", "99999999999999d", "106751d23h59m", "292y", "7d\n", "٧d"}
	for _, s := range bad {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("%q = %v, want it refused", s, got)
		}
	}
}

func TestParseBytes(t *testing.T) {
	good := map[string]int64{
		"0": 0, "4096": 4096, "7B": 7, "1kB": 1000, "1KB": 1000, "512KiB": 512 << 10, "50MB": 50e6, "2GB": 2e9,
		"3 GiB": 3 << 30, "1TB": 1e12, "1TiB": 1 << 40, "9223372036854775807": math.MaxInt64,
	}
	for s, want := range good {
		if got, err := parseBytes(s); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", s, got, err, want)
		}
	}
	bad := []string{"", "B", "MB", "-1MB", "+1MB", "1.5GB", "50 megabytes", "50mb", "1M", "1BB", "1MBB", " 1MB", "1MB ",
		"9223372036854775808", "9223372036854775807kB", "99999999TiB", "0x10"}
	for _, s := range bad {
		if got, err := parseBytes(s); err == nil {
			t.Errorf("%q = %v, want it refused", s, got)
		}
	}
}

// What `config show` prints can be written into a file again.
func TestUnitsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "duration"))
		if got, err := ParseDuration(slot.Span(d)); err != nil || got != d {
			t.Fatalf("%v is written %s and read as %v, %v", d, slot.Span(d), got, err)
		}
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "bytes")
		if got, err := parseBytes(formatBytes(n)); err != nil || got != n {
			t.Fatalf("%d is written %s and read as %v, %v", n, formatBytes(n), got, err)
		}
	})
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"7d", "1d12h", "-1d", "1.5d", "106751d23h", "1d-1h", "d", "0.0000001d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("%q = %v", s, d)
		}
		if again, err := ParseDuration(slot.Span(d)); err != nil || again != d {
			t.Fatalf("%q = %v, written %s, read as %v, %v", s, d, slot.Span(d), again, err)
		}
		// Where Go's own syntax has a meaning, it is the same one.
		if std, err := time.ParseDuration(s); err == nil && std != d {
			t.Fatalf("%q = %v, in Go %v", s, d, std)
		}
	})
}
