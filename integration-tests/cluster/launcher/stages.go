package launcher

import (
	"bytes"
	"encoding/json"
	"fmt"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/yaml"
)

// Annotations by which a test says what becomes of a pod on a pretended node.
// All are whole seconds. The API keeps times of pods in whole seconds, so what
// happens n seconds after something happens between n and n+1 seconds after it.
const (
	// Still running so long after its deletion, or until its grace period is over.
	terminationSeconds = "esi-test/termination-seconds"
	// Pending (as if pulling images) so long after it was bound.
	startSeconds = "esi-test/start-seconds"
	// Succeeded so long after its start. Not for Spark's and Flink's pods: for
	// those it is the application's, played by its stand-in.
	runSeconds = "esi-test/run-seconds"
	// Failed, exit code 1, so long after its start.
	failAfter = "esi-test/fail-after"
)

// kwokConfig is kwok's configuration: its own stages for nodes and for pods that
// start at once, and ours for pods that take their time.
//
// A stage with a plain delay starts it again at each update of the pod, so the
// delays here are absolute times, worked out from what the pod carries.
func kwokConfig() ([]byte, error) {
	var stages []object
	for _, text := range []string{nodefast.DefaultNodeInit, nodeheartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady, podfast.DefaultPodComplete} {
		var stage object
		if err := yaml.Unmarshal([]byte(text), &stage); err != nil {
			return nil, fmt.Errorf("a stage of kwok's own: %w", err)
		}
		stages = append(stages, stage)
	}
	ready := stages[2]
	// PodScheduled is written with the binding; without it the pod came with a nodeName.
	bound := `(([.status.conditions[]? | select(.type == "PodScheduled") | .lastTransitionTime] | first) // .metadata.creationTimestamp)`
	ready["spec"].(object)["delay"] = delayUntil(after(bound, startSeconds))
	// kwok takes one of the stages that match at random. So a pod of a Job whose end is
	// said in an annotation must not match the stage that ends it at once.
	completes := stages[3]["spec"].(object)["selector"].(object)
	completes["matchExpressions"] = append(completes["matchExpressions"].([]any),
		missing(annotation(runSeconds)), missing(annotation(failAfter)))

	stages = append(stages,
		podStage("pod-delete", []any{exists(".metadata.deletionTimestamp")},
			object{"delete": true}, delayUntil(endOfTermination)),
		podStage("pod-run-seconds", []any{
			missing(".metadata.deletionTimestamp"), running(),
			exists(annotation(runSeconds)), missing(annotation(failAfter)), missing(`.metadata.labels["spark-role"]`),
			missing(`.metadata.labels | select(.type == "flink-standalone-kubernetes")`)},
			object{"statusTemplate": endedStatus("Succeeded", "Completed", 0)},
			delayUntil(after(".status.startTime", runSeconds))),
		podStage("pod-fail-after", []any{
			missing(".metadata.deletionTimestamp"), running(), exists(annotation(failAfter))},
			object{"statusTemplate": endedStatus("Failed", "Error", 1)},
			delayUntil(after(".status.startTime", failAfter))),
	)
	var out bytes.Buffer
	config := object{
		"apiVersion": "config.kwok.x-k8s.io/v1alpha1",
		"kind":       "KwokConfiguration",
		"metadata":   object{"name": "kwok"},
		"options": object{"podPlayStageParallelism": 16, "nodePlayStageParallelism": 8,
			"nodeLeaseDurationSeconds": 40, "nodeLeaseParallelism": 8,
			"nodeIP": "127.0.0.1", "cidr": "10.0.0.1/8"},
	}
	for _, document := range append([]object{config}, stages...) {
		content, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(content)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

func annotation(name string) string { return fmt.Sprintf(".metadata.annotations[%q]", name) }

// after is the time (jq) that lies an annotation's seconds behind another one;
// nothing, which means at once, if the pod has no such annotation.
func after(from, name string) string {
	return fmt.Sprintf(`if %[2]s then (%[1]s | fromdateiso8601) + 1 + (%[2]s | tonumber) | todateiso8601 else empty end`,
		from, annotation(name))
}

// The API server sets deletionTimestamp to the time of the deletion plus the
// grace period. Like a kubelet, no pod is given more than that.
var endOfTermination = fmt.Sprintf(`if %[1]s then .metadata | (.deletionGracePeriodSeconds // 0) as $grace `+
	`| (.deletionTimestamp | fromdateiso8601) - $grace + 1 + ([$grace, (.annotations[%[2]q] | tonumber)] | min) `+
	`| todateiso8601 else empty end`, annotation(terminationSeconds), terminationSeconds)

func delayUntil(jq string) object {
	return object{"durationMilliseconds": 0, "durationFrom": object{"expressionFrom": jq}}
}

func podStage(name string, selector []any, next, delay object) object {
	return object{
		"apiVersion": "kwok.x-k8s.io/v1alpha1",
		"kind":       "Stage",
		"metadata":   object{"name": name},
		"spec": object{
			"resourceRef": object{"apiGroup": "v1", "kind": "Pod"},
			"selector":    object{"matchExpressions": selector},
			"delay":       delay,
			"next":        next,
		},
	}
}

func exists(key string) object  { return object{"key": key, "operator": "Exists"} }
func missing(key string) object { return object{"key": key, "operator": "DoesNotExist"} }
func running() object {
	return object{"key": ".status.phase", "operator": "In", "values": []any{"Running"}}
}

// endedStatus is the status of a pod whose containers all ended alike.
func endedStatus(phase, reason string, exitCode int) string {
	return fmt.Sprintf(`{{ $now := Now }}
{{ $root := . }}
phase: %s
conditions:
- lastTransitionTime: {{ $now | Quote }}
  type: Ready
  status: "False"
  reason: PodCompleted
- lastTransitionTime: {{ $now | Quote }}
  type: ContainersReady
  status: "False"
  reason: PodCompleted
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  started: false
  restartCount: 0
  state:
    terminated:
      exitCode: %d
      reason: %s
      startedAt: {{ $root.status.startTime | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
`, phase, exitCode, reason)
}
