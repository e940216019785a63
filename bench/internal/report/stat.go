package report

import (
	"math"
	"slices"
	"time"
)

// Median is the middle of the values, NaN if there are none.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Quantile is the value below which the share q (0 to 1) of the values lies,
// NaN if there are none.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	at := q * float64(len(s)-1)
	low := int(at)
	high := min(low+1, len(s)-1)
	return s[low] + (s[high]-s[low])*(at-float64(low))
}

// Mean is the average, NaN of no values.
func Mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Ms is a time in milliseconds.
func Ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
