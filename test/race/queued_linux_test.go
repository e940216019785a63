package race

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"time"
)

// endVar, if set, has every run of the queue end well.
const endVar = "RACE_ENDS_WELL"

// told reads what a worker was told of, oldest first, and which try it is. A worker
// that was started without a claim was told nothing.
func told() (ids []string, attempt int, err error) {
	if os.Getenv("ONESLOT_EVENTS") == "" {
		return nil, 0, nil
	}
	data, err := os.ReadFile(os.Getenv("ONESLOT_EVENTS"))
	if err != nil {
		return nil, 0, err
	}
	var events []struct{ ID string }
	if err := json.Unmarshal(data, &events); err != nil {
		return nil, 0, err
	}
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	attempt, err = strconv.Atoi(os.Getenv("ONESLOT_ATTEMPT"))
	return ids, attempt, err
}

// queuedMain is a worker of the daemon. What it does depends on its run alone:
// one in eight fails, one in eight asks for another time, and some leave children.
func queuedMain() error {
	h := fnv.New32a()
	h.Write([]byte(os.Getenv("ONESLOT_RUN")))
	luck := h.Sum32()
	if os.Getenv(untilVar) == "" {
		work := time.Duration(luck>>8%80) * time.Millisecond
		for name, value := range map[string]string{
			shapeVar: []string{plain, plain, stubborn, strayed}[luck%4], workVar: work.String(),
		} {
			if err := os.Setenv(name, value); err != nil {
				return err
			}
		}
	}
	if err := workerMain(); err != nil || os.Getenv(endVar) != "" {
		return err
	}
	switch luck >> 16 % 8 {
	case 0:
		return fmt.Errorf("this run was to fail")
	case 1:
		return os.WriteFile(os.Getenv("ONESLOT_RESULT"), []byte(`{"outcome": "later", "retry_after": "100ms"}`), 0o600)
	}
	return nil
}
