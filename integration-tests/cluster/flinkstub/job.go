package flinkstub

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The states of a job, in Flink's words.
const (
	stateCreated    = "CREATED"
	stateRunning    = "RUNNING"
	stateRestarting = "RESTARTING"
	stateFinished   = "FINISHED"
	stateFailed     = "FAILED"
	stateCanceled   = "CANCELED"
)

// A job is the one that a JobManager of an application cluster has. look says what
// became of it; it does nothing else, so it can be tested.
type job struct {
	id       string
	name     string
	needs    int  // TaskManagers
	restarts bool // when one of them is lost

	state   string
	created time.Time
	changed time.Time // the last change of state
	ran     time.Time // since when it runs, this time
	cause   failure   // why it failed
	uses    []string  // uids of the TaskManagers that it runs on
	entered map[string]time.Time
}

// failure is an exception as Flink reports it.
type failure struct{ class, message string }

func (f failure) String() string { return f.class + ": " + f.message }

func newJob(id, name string, c conf, now time.Time) (*job, error) {
	needs, err := c.taskManagers()
	if err != nil {
		return nil, err
	}
	j := &job{id: id, name: name, needs: needs, restarts: c.restarts(), created: now, entered: map[string]time.Time{}}
	j.enter(stateCreated, now)
	return j, nil
}

func (j *job) enter(state string, now time.Time) {
	j.state, j.changed = state, now
	j.entered[state] = now
}

func (j *job) over() bool {
	return j.state == stateFinished || j.state == stateFailed || j.state == stateCanceled
}

func (j *job) fail(now time.Time, class, message string) {
	j.cause = failure{class, message}
	j.enter(stateFailed, now)
}

// cancel is what Flink's web page, and the operator, ask for.
func (j *job) cancel(now time.Time) {
	if !j.over() {
		j.enter(stateCanceled, now)
	}
}

// look takes the TaskManagers as they are now, and what the script says.
func (j *job) look(taskManagers []*corev1.Pod, s script, now time.Time) {
	if j.over() {
		return
	}
	ready := registered(taskManagers)
	switch j.state {
	case stateCreated:
		if s.submitFail != "" {
			j.fail(now, "org.apache.flink.client.program.ProgramInvocationException", s.submitFail)
			return
		}
		j.begin(ready, now)
	case stateRestarting:
		j.begin(ready, now)
	case stateRunning:
		if lost := j.lost(ready); lost != "" && j.restarts {
			j.enter(stateRestarting, now)
			return
		} else if lost != "" {
			j.fail(now, "org.apache.flink.runtime.JobException",
				fmt.Sprintf("Recovery is suppressed by NoRestartBackoffTimeStrategy; the TaskManager with uid %s is lost", lost))
			return
		}
		if now.Sub(j.ran) < s.run {
			return
		}
		if s.fail {
			j.fail(now, "java.lang.RuntimeException", "asked to fail by the annotation "+annotationFail)
			return
		}
		j.enter(stateFinished, now)
	}
}

// begin starts the job if there are slots for all of it.
func (j *job) begin(ready []*corev1.Pod, now time.Time) {
	if len(ready) < j.needs {
		return
	}
	j.uses = nil
	for _, pod := range ready[:j.needs] {
		j.uses = append(j.uses, string(pod.UID))
	}
	j.ran = now
	j.enter(stateRunning, now)
}

// lost is the uid of a TaskManager on which the job runs and that is not there.
func (j *job) lost(ready []*corev1.Pod) string {
	for _, uid := range j.uses {
		if !slices.ContainsFunc(ready, func(pod *corev1.Pod) bool { return string(pod.UID) == uid }) {
			return uid
		}
	}
	return ""
}

// registered are the TaskManagers that a JobManager would know: they run, and
// nobody told them to stop. Ordered, so that it does not change which are used.
func registered(pods []*corev1.Pod) []*corev1.Pod {
	var ready []*corev1.Pod
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			ready = append(ready, pod)
		}
	}
	slices.SortFunc(ready, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return ready
}
