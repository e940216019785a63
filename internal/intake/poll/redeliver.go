package poll

import "time"

const (
	// redeliverEach is how often the forge is asked for what its webhooks lost.
	redeliverEach = 6 * time.Hour
	// redeliverFirst is how far back that goes for a repository nobody ever polled.
	redeliverFirst = 24 * time.Hour
)

func (r *repo) hooked() bool { return r.src.Redeliver != nil && r.src.Redeliver(r.Name) }

// redeliver asks the forge for the deliveries that failed since it was asked last. What
// they tell is found by polling, too, where it is still so.
func (p *pass) redeliver() error {
	r := p.repo
	if !r.hooked() {
		return nil
	}
	n, err := p.src.Client.Redeliver(p.ctx, r.Name, r.askedTill)
	p.src.count("redeliver", err)
	if err != nil && !r.withhold("webhook deliveries", err) {
		return err
	}
	if n > 0 {
		r.src.o.Log.Info("webhook deliveries that failed were asked for again", "repo", r.Name, "deliveries", n)
	}
	r.askedAt, r.askedTill = p.now, r.clock.Add(-overlap)
	return nil
}
