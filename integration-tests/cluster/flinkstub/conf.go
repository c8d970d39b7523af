package flinkstub

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// conf is a JobManager's configuration file, as it finds it in its ConfigMap.
type conf map[string]string

// readConf reads flink-conf.yaml as Flink 1.x does: a line for each "key: value",
// no nesting, no quotes.
func readConf(text string) conf {
	c := conf{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			c[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return c
}

func (c conf) positive(key string, fallback int) (int, error) {
	text, ok := c[key]
	if !ok {
		return fallback, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return 0, fmt.Errorf("%s: %q is not a positive number", key, text)
	}
	return number, nil
}

// taskManagers is how many TaskManagers the job needs for its slots.
func (c conf) taskManagers() (int, error) {
	parallelism, err := c.positive("parallelism.default", 1)
	if err != nil {
		return 0, err
	}
	slots, err := c.positive("taskmanager.numberOfTaskSlots", 1)
	if err != nil {
		return 0, err
	}
	return (parallelism + slots - 1) / slots, nil
}

// restarts says whether the job starts again when a TaskManager is lost. Without
// a strategy Flink restarts only jobs that make checkpoints.
func (c conf) restarts() bool {
	for _, key := range []string{"restart-strategy", "restart-strategy.type"} {
		switch c[key] {
		case "":
		case "none", "off", "disable":
			return false
		default:
			return true
		}
	}
	return c["execution.checkpointing.interval"] != ""
}

// jobID is the one that the operator chose, else, as Flink does, one that comes
// of the cluster's name.
func (c conf) jobID(namespace, cluster string) string {
	if id := c["$internal.pipeline.job-id"]; id != "" {
		return id
	}
	digest := sha256.Sum256([]byte(namespace + "/" + cluster))
	return hex.EncodeToString(digest[:16])
}
