package report

// Row is one demand and how it was met.
type Row struct {
	Number   int     `json:"number"` // of the demand, as in -only
	What     string  `json:"what"`
	Measured float64 `json:"measured"`
	Unit     string  `json:"unit"`
	Limit    string  `json:"limit"` // the demand, in words
	Bound    float64 `json:"bound"` // the demand, as a number on this machine today
	AtLeast  bool    `json:"at_least"`
	// Ratio is the median over the rounds of measured / bound, each taken in
	// the same round: the verdict rests on it.
	Ratio  float64 `json:"ratio"`
	Rounds int     `json:"rounds"`
	Pass   bool    `json:"pass"`

	Figures []Figure `json:"figures"` // the machine's own, and what else is worth a line
	Peers   []Peer   `json:"peers,omitempty"`
	Error   string   `json:"error,omitempty"` // why it could not be measured

	// Others is the share of the machine, in percent, that was used by
	// processes that are not ours while this was measured; Load is the
	// kernel's one-minute load average at its end.
	Others float64 `json:"others_percent"`
	Load   float64 `json:"load1"`
	Tries  int     `json:"tries"`
}

// Figure is a number measured beside.
type Figure struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Peer is how something else did, and what it does not do.
type Peer struct {
	Figure
	Lacks string `json:"lacks"`
}

// Pairs gathers what was measured and its bound, round by round.
type Pairs struct{ measured, bound []float64 }

// Add notes one round.
func (p *Pairs) Add(measured, bound float64) {
	p.measured, p.bound = append(p.measured, measured), append(p.bound, bound)
}

// Into fills the row: medians of both, and the verdict from the median of the
// quotients.
func (p *Pairs) Into(r Row) Row {
	var ratios []float64
	for i := range p.measured {
		ratios = append(ratios, p.measured[i]/p.bound[i])
	}
	r.Measured, r.Bound, r.Ratio, r.Rounds = Median(p.measured), Median(p.bound), Median(ratios), len(ratios)
	r.Pass = r.Ratio <= 1
	if r.AtLeast {
		r.Pass = r.Ratio >= 1
	}
	return r
}

// One fills a row that was measured once against a fixed bound.
func One(r Row, measured, bound float64) Row {
	var p Pairs
	p.Add(measured, bound)
	return p.Into(r)
}

// With adds a figure measured beside.
func (r Row) With(what string, value float64, unit string) Row {
	r.Figures = append(r.Figures, Figure{what, value, unit})
	return r
}

// Beside adds a peer.
func (r Row) Beside(what string, value float64, unit, lacks string) Row {
	r.Peers = append(r.Peers, Peer{Figure{what, value, unit}, lacks})
	return r
}

// Worst is the largest of the measured values.
func (p *Pairs) Worst() float64 { return Quantile(p.measured, 1) }
