package supervise

import (
	"slices"
	"strconv"
	"strings"
)

// given are the variables that belong to one run. Those of an outer run never
// reach an inner one.
var given = []string{
	"ONESLOT_REF", "ONESLOT_SLUG", "ONESLOT_RUN", "ONESLOT_RUNS", "ONESLOT_CLAIM", "ONESLOT_TOKEN",
	"ONESLOT_FENCE", "ONESLOT_ATTEMPT", "ONESLOT_PATH", "ONESLOT_RULE", "ONESLOT_EVENTS", "ONESLOT_RESULT",
	"ONESLOT_SOCKET",
}

// environ is the worker's environment: the caller's, without the names to strip,
// with what every worker is given.
func (r *run) environ(socket string) []string {
	env := slices.DeleteFunc(slices.Clone(r.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(given, name) || slices.Contains(r.Strip, name)
	})
	for _, kv := range [][2]string{
		{"ONESLOT_REF", r.Claim.Ref.String()},
		{"ONESLOT_SLUG", r.Claim.Ref.Slug()},
		{"ONESLOT_RUN", r.Claim.Run},
		{"ONESLOT_RUNS", strings.Join(append(slices.Clone(r.Chain), r.Claim.Run), ",")},
		{"ONESLOT_CLAIM", r.Key.Claim},
		{"ONESLOT_TOKEN", r.Key.Token},
		{"ONESLOT_FENCE", strconv.FormatInt(r.Claim.Fence, 10)},
		{"ONESLOT_ATTEMPT", strconv.Itoa(max(r.Attempt, 1))},
		{"ONESLOT_PATH", r.Claim.Holder.Path},
		{"ONESLOT_RULE", r.Rule},
		{"ONESLOT_EVENTS", r.dir.EventsPath()},
		{"ONESLOT_RESULT", r.dir.ResultPath()},
		{"ONESLOT_SOCKET", socket},
	} {
		env = append(env, kv[0]+"="+kv[1])
	}
	return env
}

// lookupEnv finds a variable as the C library would: the first one counts.
func lookupEnv(env []string, name string) (string, bool) {
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			return v, true
		}
	}
	return "", false
}
