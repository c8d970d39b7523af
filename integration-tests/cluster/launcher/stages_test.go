package launcher

import (
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"sigs.k8s.io/yaml"
)

// evaluate runs one of the stages' expressions on a pod; "" = no result, at once.
func evaluate(t *testing.T, expression, pod string) string {
	t.Helper()
	query, err := gojq.Parse(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	var input map[string]any
	if err := yaml.Unmarshal([]byte(pod), &input); err != nil {
		t.Fatal(err)
	}
	value, ok := query.Run(input).Next()
	if !ok {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		t.Fatalf("%s gives %v", expression, value)
	}
	if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
		t.Error(err)
	}
	return text
}

func TestAPodGoesWhenItsTerminationIsOver(t *testing.T) {
	for _, c := range []struct{ name, pod, want string }{
		{"without the annotation at once",
			`metadata: {deletionTimestamp: "2026-01-01T00:00:40Z", deletionGracePeriodSeconds: 30}`, ""},
		{"else so long after the deletion, counted from the next whole second",
			`metadata: {deletionTimestamp: "2026-01-01T00:00:40Z", deletionGracePeriodSeconds: 30, annotations: {esi-test/termination-seconds: "5"}}`,
			"2026-01-01T00:00:16Z"},
		{"at most the grace period",
			`metadata: {deletionTimestamp: "2026-01-01T00:00:12Z", deletionGracePeriodSeconds: 2, annotations: {esi-test/termination-seconds: "5"}}`,
			"2026-01-01T00:00:13Z"},
	} {
		if got := evaluate(t, endOfTermination, c.pod); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDelaysCountFromWhatThePodCarries(t *testing.T) {
	expression := after(".status.startTime", runSeconds)
	pod := `{metadata: {annotations: {esi-test/run-seconds: "10"}}, status: {startTime: "2026-01-01T00:00:00Z"}}`
	if got, want := evaluate(t, expression, pod), "2026-01-01T00:00:11Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := evaluate(t, expression, `{status: {startTime: "2026-01-01T00:00:00Z"}}`); got != "" {
		t.Errorf("a pod without the annotation waits until %q", got)
	}
}

func TestTheApplicationsPodsDoNotEndByThemselves(t *testing.T) {
	content, err := kwokConfig()
	if err != nil {
		t.Fatal(err)
	}
	var keys []string // of which none may give anything
	for _, document := range strings.Split(string(content), "---\n")[1:] {
		var stage struct {
			Metadata struct{ Name string }
			Spec     struct {
				Selector struct {
					MatchExpressions []struct{ Key, Operator string }
				}
			}
		}
		if err := yaml.Unmarshal([]byte(document), &stage); err != nil {
			t.Fatal(err)
		}
		for _, expression := range stage.Spec.Selector.MatchExpressions {
			if stage.Metadata.Name == "pod-run-seconds" && expression.Operator == "DoesNotExist" {
				keys = append(keys, expression.Key)
			}
		}
	}
	for _, c := range []struct {
		pod  string
		ends bool
	}{
		{`{metadata: {}}`, true},
		{`{metadata: {labels: {type: other}}}`, true},
		{`{metadata: {labels: {spark-role: driver}}}`, false},
		{`{metadata: {labels: {type: flink-standalone-kubernetes}}}`, false},
	} {
		ends := true
		for _, key := range keys {
			if present(t, key, c.pod) {
				ends = false
			}
		}
		if ends != c.ends {
			t.Errorf("%s ends by itself: %v, want %v", c.pod, ends, c.ends)
		}
	}
}

// present says whether a selector's key gives anything but null.
func present(t *testing.T, key, pod string) bool {
	t.Helper()
	query, err := gojq.Parse(key)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	var input map[string]any
	if err := yaml.Unmarshal([]byte(pod), &input); err != nil {
		t.Fatal(err)
	}
	value, ok := query.Run(input).Next()
	if fault, isError := value.(error); isError {
		t.Fatalf("%s: %v", key, fault)
	}
	return ok && value != nil
}

func TestEachStageHasANameOfItsOwn(t *testing.T) {
	content, err := kwokConfig()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, document := range strings.Split(string(content), "---\n")[1:] {
		var stage struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(document), &stage); err != nil {
			t.Fatal(err)
		}
		name := stage.Kind + " " + stage.Metadata.Name
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
	for _, name := range []string{"KwokConfiguration kwok", "Stage node-initialize", "Stage pod-ready", "Stage pod-delete"} {
		if !seen[name] {
			t.Errorf("there is no %s in %v", name, seen)
		}
	}
}
