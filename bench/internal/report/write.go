package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Report is one run of the measurements.
type Report struct {
	At      string `json:"at"`
	Machine string `json:"machine"`
	Folder  string `json:"folder"`
	Took    string `json:"took"`
	Rows    []Row  `json:"rows"`
}

// Passed reports whether every row was measured and met its bound.
func (r Report) Passed() bool {
	for _, row := range r.Rows {
		if !row.Pass {
			return false
		}
	}
	return true
}

// JSON writes the report for programs.
func (r Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Table writes the report for people.
func (r Report) Table(w io.Writer) error {
	fmt.Fprintf(w, "%s\n%s\nfolder %s, took %s\n\n", r.At, r.Machine, r.Folder, r.Took)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "#\twhat\tmeasured\tlimit\tbound\tquotient\t\tothers")
	for _, x := range r.Rows {
		if x.Error != "" {
			fmt.Fprintf(t, "%d\t%s\t-\t%s\t-\t-\tERROR\t\n", x.Number, x.What, x.Limit)
			continue
		}
		sign := "≤"
		if x.AtLeast {
			sign = "≥"
		}
		verdict := "pass"
		if !x.Pass {
			verdict = "FAIL"
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s %s\t%.2f\t%s\t%.0f %%\n", x.Number, x.What, number(x.Measured, x.Unit), x.Limit,
			sign, number(x.Bound, x.Unit), x.Ratio, verdict, x.Others)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, x := range r.Rows {
		if x.Error != "" {
			fmt.Fprintf(w, "%d  not measured: %s\n", x.Number, x.Error)
			continue
		}
		var beside []string
		for _, f := range x.Figures {
			beside = append(beside, f.What+" "+number(f.Value, f.Unit))
		}
		fmt.Fprintf(w, "%d  %s: %s (rounds %d, load %.1f)\n", x.Number, x.What, strings.Join(beside, ", "), x.Rounds, x.Load)
		for _, p := range x.Peers {
			fmt.Fprintf(w, "     beside it: %s %s. %s\n", p.What, number(p.Value, p.Unit), p.Lacks)
		}
	}
	_, err := fmt.Fprintln(w, `
quotient: measured / bound, median over rounds that each took both; others: the share of the machine that
other processes used meanwhile. Above some 10 % believe no row that fails.`)
	return err
}

func number(v float64, unit string) string {
	digits := 2
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a < 1e6, a >= 100:
		digits = 0
	case a >= 10:
		digits = 1
	case a < 0.1:
		digits = 3
	}
	s := fmt.Sprintf("%.*f", digits, v)
	if unit == "" {
		return s
	}
	return s + " " + unit
}
