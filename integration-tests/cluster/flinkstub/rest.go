package flinkstub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// body is a JSON object on its way out.
type body = map[string]any

// The answers of a JobManager's REST interface, as far as the operator asks:
// https://nightlies.apache.org/flink/flink-docs-release-1.17/docs/ops/rest_api/

var taskStates = []string{"created", "scheduled", "deploying", "running", "finished", "canceling", "canceled",
	"failed", "reconciling", "initializing"}

// tasks counts a vertex's tasks by state: here they are all in the job's.
func (j *job) tasks() body {
	counts := body{"total": j.needs}
	for _, state := range taskStates {
		counts[state] = 0
	}
	if _, known := counts[strings.ToLower(j.state)]; known {
		counts[strings.ToLower(j.state)] = j.needs
	} else {
		counts["created"] = j.needs
	}
	return counts
}

func (j *job) times(now time.Time) (begin, end, duration int64) {
	begin, end = j.created.UnixMilli(), -1
	if !j.over() {
		return begin, end, now.UnixMilli() - begin
	}
	end = j.changed.UnixMilli()
	return begin, end, end - begin
}

// overview is the job's line in GET /jobs/overview.
func (j *job) overview(now time.Time) body {
	begin, end, duration := j.times(now)
	return body{"jid": j.id, "name": j.name, "state": j.state, "start-time": begin, "end-time": end,
		"duration": duration, "last-modification": j.changed.UnixMilli(), "tasks": j.tasks()}
}

// details is GET /jobs/ID.
func (j *job) details(now time.Time) body {
	begin, end, duration := j.times(now)
	entered := body{}
	for _, state := range []string{"INITIALIZING", stateCreated, stateRunning, "FAILING", stateFailed, "CANCELLING",
		stateCanceled, stateFinished, stateRestarting, "SUSPENDED", "RECONCILING"} {
		entered[state] = int64(0)
		if at, ok := j.entered[state]; ok {
			entered[state] = at.UnixMilli()
		}
	}
	return body{"jid": j.id, "name": j.name, "isStoppable": false, "state": j.state, "start-time": begin,
		"end-time": end, "duration": duration, "maxParallelism": -1, "now": now.UnixMilli(), "timestamps": entered,
		"vertices": []any{}, "status-counts": body{}, "plan": body{"jid": j.id, "name": j.name, "nodes": []any{}}}
}

// exceptions is GET /jobs/ID/exceptions.
func (j *job) exceptions() body {
	answer := body{"root-exception": nil, "timestamp": nil, "all-exceptions": []any{}, "truncated": false,
		"exceptionHistory": body{"entries": []any{}, "truncated": false}}
	if j.state == stateFailed {
		at := j.changed.UnixMilli()
		answer["root-exception"], answer["timestamp"] = j.cause.String(), at
		answer["exceptionHistory"] = body{"truncated": false, "entries": []any{body{
			"exceptionName": j.cause.class, "stacktrace": j.cause.String(), "timestamp": at,
			"taskName": nil, "location": nil, "concurrentExceptions": []any{}}}}
	}
	return answer
}

// result is GET /jobs/ID/execution-result.
func (j *job) result() body {
	if !j.over() {
		return body{"status": body{"id": "IN_PROGRESS"}}
	}
	application := map[string]string{stateFinished: "SUCCEEDED", stateFailed: "FAILED", stateCanceled: "CANCELED"}
	result := body{"id": j.id, "application-status": application[j.state], "accumulator-results": body{},
		"net-runtime": j.changed.Sub(j.created).Milliseconds()}
	if j.state == stateFailed {
		result["failure-cause"] = body{"class": j.cause.class, "stack-trace": j.cause.String(),
			"serialized-throwable": serializedThrowable(j.cause)}
	}
	return body{"status": body{"id": "COMPLETED"}, "job-execution-result": result}
}

// checkpoints is GET /jobs/ID/checkpoints: there are none.
func checkpoints() body {
	return body{"counts": body{"restored": 0, "total": 0, "in_progress": 0, "completed": 0, "failed": 0},
		"latest":  body{"completed": nil, "savepoint": nil, "failed": nil, "restored": nil},
		"history": []any{}}
}

func taskManagers(pods []*corev1.Pod, slots int, used int) body {
	list := []any{}
	for i, pod := range registered(pods) {
		var cpu float64
		var memory int64
		for _, container := range pod.Spec.Containers {
			cpu += container.Resources.Limits.Cpu().AsApproximateFloat64()
			memory += container.Resources.Limits.Memory().Value()
		}
		free := slots
		if i < used {
			free = 0
		}
		resource := body{"cpuCores": cpu, "taskHeapMemory": memory >> 20, "taskOffHeapMemory": 0,
			"managedMemory": 0, "networkMemory": 0, "extendedResources": body{}}
		list = append(list, body{"id": pod.Name, "path": "akka.tcp://flink@" + pod.Status.PodIP + ":6122/user/rpc/taskmanager_0",
			"dataPort": 6121, "jmxPort": -1, "timeSinceLastHeartbeat": time.Now().UnixMilli(),
			"slotsNumber": slots, "freeSlots": free, "totalResource": resource, "freeResource": resource,
			"hardware":            body{"cpuCores": max(int(cpu), 1), "physicalMemory": memory, "freeMemory": memory, "managedMemory": 0},
			"memoryConfiguration": body{"totalProcessMemory": memory, "totalFlinkMemory": memory}})
	}
	return body{"taskmanagers": list}
}

func configuration(flinkVersion string) body {
	return body{"refresh-interval": 3000, "timezone-name": "Coordinated Universal Time", "timezone-offset": 0,
		"flink-version": flinkVersion, "flink-revision": "stand-in", "features": body{
			"web-submit": false, "web-cancel": false, "web-rescale": false, "web-history": false}}
}

func reply(w http.ResponseWriter, status int, content any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(content)
}

func refuse(w http.ResponseWriter, status int, format string, values ...any) {
	reply(w, status, body{"errors": []string{fmt.Sprintf(format, values...)}})
}
