package launcher

import (
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/utils/expression"
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

// A document of kwok's configuration, as far as these tests read it.
type stage struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		ResourceRef struct{ Kind string }
		Selector    struct {
			MatchExpressions []struct {
				Key      string
				Operator internalversion.SelectorOperator
				Values   []string
			}
		}
	}
}

func documents(t *testing.T) []stage {
	t.Helper()
	content, err := kwokConfig()
	if err != nil {
		t.Fatal(err)
	}
	var out []stage
	for _, document := range strings.Split(string(content), "---\n")[1:] {
		var each stage
		if err := yaml.Unmarshal([]byte(document), &each); err != nil {
			t.Fatal(err)
		}
		out = append(out, each)
	}
	return out
}

func TestOneStageAtMostIsAPodsNext(t *testing.T) {
	for _, c := range []struct{ name, pod, want string }{
		{"a pod runs on", `{status: {phase: Running}}`, ""},
		{"a pod ends after its time",
			`{metadata: {annotations: {esi-test/run-seconds: "9"}}, status: {phase: Running}}`, "pod-run-seconds"},
		{"a pod of a Job ends at once",
			`{metadata: {ownerReferences: [{kind: Job}]}, status: {phase: Running}}`, "pod-complete"},
		{"a pod of a Job with a time ends after it",
			`{metadata: {ownerReferences: [{kind: Job}], annotations: {esi-test/run-seconds: "9"}}, status: {phase: Running}}`,
			"pod-run-seconds"},
		{"a pod of a Job that is to fail fails",
			`{metadata: {ownerReferences: [{kind: Job}], annotations: {esi-test/fail-after: "9"}}, status: {phase: Running}}`,
			"pod-fail-after"},
		{"of both times the one to fail counts",
			`{metadata: {annotations: {esi-test/run-seconds: "3", esi-test/fail-after: "9"}}, status: {phase: Running}}`,
			"pod-fail-after"},
		{"a driver ends when the stand-in for Spark ends it",
			`{metadata: {labels: {spark-role: driver}, annotations: {esi-test/run-seconds: "9"}}, status: {phase: Running}}`, ""},
		{"a JobManager ends when the stand-in for Flink ends it",
			`{metadata: {labels: {type: flink-standalone-kubernetes}, annotations: {esi-test/run-seconds: "9"}}, status: {phase: Running}}`,
			""},
		{"a pod of another type is none of Flink's",
			`{metadata: {labels: {type: other}, annotations: {esi-test/run-seconds: "9"}}, status: {phase: Running}}`,
			"pod-run-seconds"},
		{"a deleted pod goes, whatever it has",
			`{metadata: {deletionTimestamp: "2026-01-01T00:00:40Z", ownerReferences: [{kind: Job}], annotations: {esi-test/run-seconds: "9"}}, status: {phase: Running}}`,
			"pod-delete"},
		{"a bound pod becomes ready", `{status: {phase: Pending}}`, "pod-ready"},
	} {
		var found []string
		for _, each := range documents(t) {
			if each.Kind == "Stage" && each.Spec.ResourceRef.Kind == "Pod" && each.takes(t, c.pod) {
				found = append(found, each.Metadata.Name)
			}
		}
		if got := strings.Join(found, ", "); got != c.want {
			t.Errorf("%s: the stages %q match, want %q", c.name, got, c.want)
		}
	}
}

// takes says whether the selector matches the pod, by kwok's own code.
func (s stage) takes(t *testing.T, pod string) bool {
	t.Helper()
	var input map[string]any
	if err := yaml.Unmarshal([]byte(pod), &input); err != nil {
		t.Fatal(err)
	}
	for _, each := range s.Spec.Selector.MatchExpressions {
		requirement, err := expression.NewRequirement(each.Key, each.Operator, each.Values)
		if err != nil {
			t.Fatalf("%s: %v", each.Key, err)
		}
		if matches, err := requirement.Matches(t.Context(), input); err != nil {
			t.Fatalf("%s: %v", each.Key, err)
		} else if !matches {
			return false
		}
	}
	return true
}

func TestEachStageHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, each := range documents(t) {
		name := each.Kind + " " + each.Metadata.Name
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
