package flinkstub

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// scene is a job with TaskManagers that are as a test says, at a time that it says.
type scene struct {
	t    *testing.T
	job  *job
	tms  map[string]*corev1.Pod
	now  time.Time
	what script
}

func newScene(t *testing.T, c conf) *scene {
	t.Helper()
	s := &scene{t: t, tms: map[string]*corev1.Pod{}, now: time.Unix(1000, 0), what: script{run: 3 * time.Second}}
	j, err := newJob("0123", "wordcount", c, s.now)
	if err != nil {
		t.Fatal(err)
	}
	s.job = j
	return s
}

func (s *scene) taskManager(name string, phase corev1.PodPhase) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Status: corev1.PodStatus{Phase: phase}}
	s.tms[name] = pod
	return pod
}

func (s *scene) after(seconds float64, want string) {
	s.t.Helper()
	s.now = s.now.Add(time.Duration(seconds * float64(time.Second)))
	var pods []*corev1.Pod
	for _, pod := range s.tms {
		pods = append(pods, pod)
	}
	s.job.look(pods, s.what, s.now)
	if s.job.state != want {
		s.t.Fatalf("%v after its start the job is %s, want %s", s.now.Sub(s.job.created), s.job.state, want)
	}
}

var twoSlots = conf{"parallelism.default": "2", "restart-strategy": "none"}

func TestAJobWaitsForAllItsTaskManagersThenRunsAndFinishes(t *testing.T) {
	s := newScene(t, twoSlots)
	s.after(0, stateCreated)
	s.taskManager("a", corev1.PodRunning)
	b := s.taskManager("b", corev1.PodPending)
	s.after(60, stateCreated)
	b.Status.Phase = corev1.PodRunning
	s.after(1, stateRunning)
	s.after(2.9, stateRunning)
	s.after(0.2, stateFinished)
	delete(s.tms, "a")
	s.after(1, stateFinished)
	if begin, end, duration := s.job.times(s.now); begin != 1000_000 || end != 1064_100 || duration != 64_100 {
		t.Errorf("from %d to %d in %d ms, want 1000000 to 1064100 in 64100", begin, end, duration)
	}
}

func TestATaskManagerGivesAsManySlotsAsItIsConfiguredTo(t *testing.T) {
	s := newScene(t, conf{"parallelism.default": "5", "taskmanager.numberOfTaskSlots": "2"})
	s.taskManager("a", corev1.PodRunning)
	s.taskManager("b", corev1.PodRunning)
	s.after(1, stateCreated)
	s.taskManager("c", corev1.PodRunning)
	s.after(1, stateRunning)
}

func TestAJobThatMayNotRestartFailsWithATaskManager(t *testing.T) {
	s := newScene(t, twoSlots)
	s.taskManager("a", corev1.PodRunning)
	s.taskManager("b", corev1.PodRunning)
	s.after(1, stateRunning)
	delete(s.tms, "b")
	s.taskManager("c", corev1.PodRunning) // the one in its place comes too late
	s.after(0.03, stateFailed)
	if cause := s.job.cause.String(); !strings.Contains(cause, "NoRestartBackoffTimeStrategy") || !strings.Contains(cause, "uid-b") {
		t.Errorf("the cause is %q", cause)
	}
}

func TestAJobThatMayRestartWaitsForAnotherTaskManagerAndBeginsAnew(t *testing.T) {
	s := newScene(t, conf{"parallelism.default": "2", "restart-strategy": "fixed-delay"})
	a := s.taskManager("a", corev1.PodRunning)
	s.taskManager("b", corev1.PodRunning)
	s.after(0, stateRunning)
	now := metav1.NewTime(s.now)
	a.DeletionTimestamp = &now // told to stop: it takes no part from then on
	s.after(2, stateRestarting)
	s.after(10, stateRestarting)
	s.taskManager("c", corev1.PodRunning)
	s.after(1, stateRunning)
	s.after(2.9, stateRunning)
	s.after(0.2, stateFinished)
}

func TestATaskManagerThatTheJobDoesNotUseIsNotMissed(t *testing.T) {
	s := newScene(t, twoSlots)
	for _, name := range []string{"a", "b", "c"} {
		s.taskManager(name, corev1.PodRunning)
	}
	s.after(0, stateRunning)
	delete(s.tms, "c")
	s.after(1, stateRunning)
}

func TestTheScriptEndsAJob(t *testing.T) {
	s := newScene(t, twoSlots)
	s.taskManager("a", corev1.PodRunning)
	s.taskManager("b", corev1.PodRunning)
	s.what = script{run: time.Second, fail: true}
	s.after(0, stateRunning)
	s.after(1, stateFailed)

	s = newScene(t, twoSlots)
	s.what.submitFail = "no such file: input.txt"
	s.after(0, stateFailed)
	if cause := s.job.cause.String(); !strings.HasSuffix(cause, "ProgramInvocationException: no such file: input.txt") {
		t.Errorf("the cause is %q", cause)
	}
}

func TestACancelledJobStaysSoAndAFinishedOneCannotBe(t *testing.T) {
	s := newScene(t, twoSlots)
	s.job.cancel(s.now)
	s.taskManager("a", corev1.PodRunning)
	s.taskManager("b", corev1.PodRunning)
	s.after(1, stateCanceled)

	s = newScene(t, conf{})
	s.what.run = 0
	s.taskManager("a", corev1.PodRunning)
	s.after(0, stateRunning)
	s.after(0, stateFinished)
	s.job.cancel(s.now)
	s.after(0, stateFinished)
}
