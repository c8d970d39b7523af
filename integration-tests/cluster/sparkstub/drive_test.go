package sparkstub

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// play is a driver on a cluster that does as told: a scene for tests.
type play struct {
	t         *testing.T
	drive     *drive
	driver    *corev1.Pod
	executors map[int]*corev1.Pod
	now       time.Time
}

func newPlay(t *testing.T, c conf, annotations map[string]string) *play {
	t.Helper()
	d, err := newDrive(c)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	start := metav1.NewTime(now)
	return &play{t: t, drive: d, now: now, executors: map[int]*corev1.Pod{}, driver: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "driver", Annotations: annotations},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &start}}}
}

// step lets time pass, and does what the driver decides.
func (p *play) step(passes time.Duration) actions {
	p.now = p.now.Add(passes)
	v := view{driver: p.driver, now: p.now}
	for _, number := range sortedNumbers(p.executors) {
		v.executors = append(v.executors, p.executors[number])
	}
	out := p.drive.decide(v)
	for _, number := range out.create {
		p.executors[number] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(number),
			Labels: map[string]string{"spark-exec-id": fmt.Sprint(number)}},
			Status: corev1.PodStatus{Phase: corev1.PodPending}}
	}
	return out
}

func (p *play) set(phase corev1.PodPhase, numbers ...int) {
	for _, number := range numbers {
		p.executors[number].Status.Phase = phase
	}
}

func (p *play) expectCreated(when string, got actions, want ...int) {
	p.t.Helper()
	if !slices.Equal(got.create, want) {
		p.t.Errorf("%s: executors %v are made, want %v", when, got.create, want)
	}
}

func sortedNumbers(executors map[int]*corev1.Pod) []int {
	var numbers []int
	for number := range executors {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers
}

func names(pods []*corev1.Pod) []string {
	var out []string
	for _, pod := range pods {
		out = append(out, pod.Name)
	}
	return out
}

var three = conf{"spark.executor.instances": "3"}

func TestExecutorsAreMadeInBatches(t *testing.T) {
	p := newPlay(t, conf{"spark.executor.instances": "5", "spark.kubernetes.allocation.batch.size": "2"}, nil)
	p.expectCreated("at once", p.step(0), 1, 2)
	p.expectCreated("before the delay is over", p.step(900*time.Millisecond))
	p.expectCreated("after it", p.step(200*time.Millisecond), 3, 4)
	p.expectCreated("after the next", p.step(time.Second), 5)
	p.expectCreated("when all are there", p.step(time.Second))
}

func TestNothingIsMadeBeforeTheDriverRuns(t *testing.T) {
	p := newPlay(t, three, nil)
	p.driver.Status.Phase = corev1.PodPending
	p.expectCreated("while the driver is pending", p.step(0))
	p.driver.Status.Phase = corev1.PodRunning
	p.driver.Annotations = map[string]string{annotationExecutorDelay: "2"}
	p.expectCreated("during the delay", p.step(time.Second))
	p.expectCreated("after the delay", p.step(time.Second), 1, 2, 3)
}

func TestTheRunBeginsWhenAllExecutorsRun(t *testing.T) {
	p := newPlay(t, three, map[string]string{annotationRunSeconds: "5"})
	p.step(0)
	p.set(corev1.PodRunning, 1, 2)
	if out := p.step(100 * time.Second); out.end != nil {
		t.Fatal("it ended with an executor pending")
	}
	p.set(corev1.PodRunning, 3)
	p.step(0)
	if out := p.step(4900 * time.Millisecond); out.end != nil {
		t.Fatal("it ended too early")
	}
	out := p.step(200 * time.Millisecond)
	if out.end == nil || out.end.phase != corev1.PodSucceeded || out.end.exitCode != 0 {
		t.Fatalf("its end is %v, want Succeeded", out.end)
	}
	if all := []string{"1", "2", "3"}; !slices.Equal(names(out.finish), all) || !slices.Equal(names(out.remove), all) {
		t.Errorf("finish %v, remove %v; want both of all", names(out.finish), names(out.remove))
	}
}

func TestALostExecutorIsReplacedUnderTheNextNumber(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(*play)
		removed []string
	}{
		{"gone", func(p *play) { delete(p.executors, 2) }, nil},
		{"failed", func(p *play) { p.set(corev1.PodFailed, 2) }, []string{"2"}},
		{"deleted while pending", func(p *play) {
			p.set(corev1.PodPending, 2)
			p.executors[2].DeletionTimestamp = &metav1.Time{Time: p.now}
		}, nil},
	} {
		p := newPlay(t, three, map[string]string{annotationRunSeconds: "60"})
		p.step(0)
		p.set(corev1.PodRunning, 1, 2, 3)
		p.step(time.Second)
		c.happens(p)
		out := p.step(time.Second)
		p.expectCreated(c.name, out, 4)
		if !slices.Equal(names(out.remove), c.removed) {
			t.Errorf("%s: %v are removed, want %v", c.name, names(out.remove), c.removed)
		}
		p.expectCreated(c.name+", later", p.step(2*time.Second))
	}
}

func TestARunningExecutorCountsUntilItIsGone(t *testing.T) {
	p := newPlay(t, three, map[string]string{annotationRunSeconds: "60"})
	p.step(0)
	p.set(corev1.PodRunning, 1, 2, 3)
	p.executors[1].DeletionTimestamp = &metav1.Time{Time: p.now}
	p.expectCreated("while it is terminating", p.step(2*time.Second))
	delete(p.executors, 1)
	p.expectCreated("when it is gone", p.step(time.Second), 4)
}

func TestAnExecutorThatTheCacheDoesNotShowYetIsNotLost(t *testing.T) {
	p := newPlay(t, three, nil)
	p.step(0)
	hidden := p.executors
	p.executors = map[int]*corev1.Pod{}
	p.expectCreated("unseen", p.step(2*time.Second))
	p.executors = hidden
	p.expectCreated("seen", p.step(2*time.Second))
}

func TestTestsChooseTheNumberOfExecutors(t *testing.T) {
	p := newPlay(t, three, map[string]string{annotationExecutors: "5", annotationRunSeconds: "0"})
	p.expectCreated("surplus", p.step(0), 1, 2, 3, 4, 5)
	p.set(corev1.PodRunning, 1, 2, 3)
	if p.step(0); p.drive.allRan.IsZero() {
		t.Error("with surplus executors the run begins when as many run as were asked for")
	}
	p = newPlay(t, three, map[string]string{annotationExecutors: "1"})
	p.expectCreated("too few", p.step(0), 1)
	p.set(corev1.PodRunning, 1)
	if p.step(0); p.drive.allRan.IsZero() {
		t.Error("with too few executors the run begins when those run")
	}
}

func TestWaysToEnd(t *testing.T) {
	for _, c := range []struct {
		annotations     map[string]string
		conf            conf
		end, crash      *ending
		finish, removes int
	}{
		{map[string]string{annotationFail: "true"}, three, &ending{corev1.PodFailed, 1, "Error"}, nil, 3, 3},
		{map[string]string{annotationCrashAfter: "1"}, three, nil, &ending{corev1.PodFailed, 137, "Error"}, 3, 0},
		{nil, conf{"spark.executor.instances": "3", "spark.kubernetes.executor.deleteOnTermination": "false"},
			&ending{corev1.PodSucceeded, 0, "Completed"}, nil, 3, 0},
	} {
		p := newPlay(t, c.conf, c.annotations)
		p.step(0)
		p.set(corev1.PodRunning, 1, 2, 3)
		p.step(0)
		out := p.step(10 * time.Second)
		if fmt.Sprint(out.end) != fmt.Sprint(c.end) || fmt.Sprint(out.crash) != fmt.Sprint(c.crash) ||
			len(out.finish) != c.finish || len(out.remove) != c.removes {
			t.Errorf("%v: end %v, crash %v, finish %v, remove %v", c.annotations, out.end, out.crash,
				names(out.finish), names(out.remove))
		}
	}
}

func TestASlowExecutorIsOnlyDeleted(t *testing.T) {
	p := newPlay(t, conf{"spark.executor.instances": "1"}, map[string]string{annotationRunSeconds: "0"})
	p.step(0)
	p.set(corev1.PodRunning, 1)
	p.executors[1].Annotations = map[string]string{annotationTermination: "5"}
	if out := p.step(0); len(out.finish) != 0 || len(out.remove) != 1 {
		t.Errorf("finish %v, remove %v; want it removed only", names(out.finish), names(out.remove))
	}
}

func TestTooManyFailuresEndTheApplication(t *testing.T) {
	p := newPlay(t, conf{"spark.executor.instances": "1", "spark.executor.maxNumFailures": "2"}, nil)
	var out actions
	for range 3 {
		out = p.step(time.Second)
		p.set(corev1.PodFailed, out.create...)
	}
	if out = p.step(time.Second); out.end == nil || out.end.exitCode != 11 {
		t.Errorf("its end is %v, want exit code 11", out.end)
	}
}

func TestADriverThatGoesTakesItsExecutorsAlong(t *testing.T) {
	p := newPlay(t, three, nil)
	p.step(0)
	p.driver.DeletionTimestamp = &metav1.Time{Time: p.now}
	if out := p.step(time.Second); len(out.remove) != 3 || len(out.create) != 0 {
		t.Errorf("remove %v, create %v", names(out.remove), out.create)
	}
	p.driver = nil
	if out := p.step(time.Second); !out.done {
		t.Error("the driver is gone, and the play goes on")
	}
}

func TestANewProcessGoesOnWhereTheOldOneEnded(t *testing.T) {
	p := newPlay(t, three, map[string]string{annotationRunSeconds: "10"})
	p.step(0)
	p.set(corev1.PodRunning, 1, 2, 3)
	start := metav1.NewTime(p.now)
	for _, pod := range p.executors {
		pod.Status.StartTime = &start
	}
	again, err := newDrive(three)
	if err != nil {
		t.Fatal(err)
	}
	p.drive = again
	p.expectCreated("at first", p.step(2*time.Second))
	delete(p.executors, 1)
	p.expectCreated("after a loss", p.step(2*time.Second), 4)
	if out := p.step(7 * time.Second); out.end == nil {
		t.Error("the run's time was counted anew")
	}
}
