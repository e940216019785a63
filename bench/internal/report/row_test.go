package report

import (
	"bytes"
	"strings"
	"testing"
)

// The verdict rests on the quotient of each round, so that a slow round of the
// machine excuses only what was measured in it.
func TestPairsJudgeRoundByRound(t *testing.T) {
	var p Pairs
	for _, r := range [][2]float64{{1, 2}, {100, 200}, {3, 2}} {
		p.Add(r[0], r[1])
	}
	if r := p.Into(Row{}); !r.Pass || r.Ratio != 0.5 || r.Measured != 3 || r.Bound != 2 {
		t.Errorf("at most: %+v", r)
	}
	if r := p.Into(Row{AtLeast: true}); r.Pass {
		t.Errorf("at least: %+v", r)
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4} {
		if got := Quantile(v, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
}

// What could not be measured is neither passed nor left out.
func TestErrorsAreNotPasses(t *testing.T) {
	rep := Report{Rows: []Row{{Number: 4, What: "something", Error: "no disk"}}}
	var out bytes.Buffer
	if err := rep.Table(&out); err != nil {
		t.Fatal(err)
	}
	if rep.Passed() || !strings.Contains(out.String(), "no disk") {
		t.Errorf("passed %v:\n%s", rep.Passed(), out.String())
	}
}
