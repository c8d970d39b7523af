package sparkstub

import (
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A drive plays one driver. decide looks at the pods as they are and says what
// the driver would do now; it does nothing itself, so it can be tested.
type drive struct {
	instances   int           // spark.executor.instances
	batch       int           // executors made at once
	batchDelay  time.Duration // between two batches
	maxFailures int
	deletes     bool // whether executors are deleted when they end

	next      int               // number of the next executor; 0: not looked yet
	made      map[int]time.Time // executors made, by number; removed when they are over
	seen      map[int]bool      // those of made that were seen
	failures  int               // executors that failed
	lastBatch time.Time         //
	allRan    time.Time         // when all executors ran for the first time
}

// newDrive reads the settings of the executors' allocation, with Spark's defaults.
func newDrive(c conf) (*drive, error) {
	instances, err := c.integer("spark.executor.instances", 2)
	if err != nil {
		return nil, err
	}
	batch, err := c.integer("spark.kubernetes.allocation.batch.size", 10)
	if err != nil {
		return nil, err
	}
	delay, err := seconds(c.or("spark.kubernetes.allocation.batch.delay", "1s"))
	if err != nil {
		return nil, err
	}
	failures, err := c.integer("spark.executor.maxNumFailures", max(2*instances, 3))
	if err != nil {
		return nil, err
	}
	return &drive{instances: instances, batch: max(batch, 1), batchDelay: time.Duration(delay * float64(time.Second)),
		maxFailures: failures, deletes: c.or("spark.kubernetes.executor.deleteOnTermination", "true") == "true",
		made: map[int]time.Time{}, seen: map[int]bool{}}, nil
}

// view is the cluster as far as the driver is concerned.
type view struct {
	driver    *corev1.Pod // nil: gone
	executors []*corev1.Pod
	now       time.Time
}

// ending is how a pod is to end.
type ending struct {
	phase    corev1.PodPhase
	exitCode int32
	reason   string
}

// actions are what is to be done, in this order.
type actions struct {
	create []int         // executors with these numbers
	crash  *ending       // the driver's end, if it comes before its executors'
	finish []*corev1.Pod // executors that end by themselves
	how    ending        // and how those end
	remove []*corev1.Pod // executors to delete
	end    *ending       // the driver's end, in order
	done   bool          // nothing will ever be left to do
}

func (d *drive) decide(v view) actions {
	if v.driver == nil || v.driver.Status.Phase == corev1.PodSucceeded || v.driver.Status.Phase == corev1.PodFailed {
		return actions{done: true}
	}
	if v.driver.DeletionTimestamp != nil {
		// Spark stops on SIGTERM and takes its executors along.
		return actions{remove: notDeleted(v.executors)}
	}
	if v.driver.Status.Phase != corev1.PodRunning {
		return actions{}
	}
	script := readScript(v.driver, d.instances)
	if v.now.Before(startOf(v.driver, v.now).Add(script.delay)) {
		return actions{}
	}
	if d.next == 0 {
		d.adopt(v)
	}
	var out actions
	alive, running := d.count(v, &out)
	if d.failures > d.maxFailures {
		return d.end(v, ending{corev1.PodFailed, 11, "Error"})
	}
	if d.allRan.IsZero() && running >= min(script.executors, d.instances) {
		d.allRan = v.now
	}
	if !d.allRan.IsZero() {
		ran := v.now.Sub(d.allRan)
		if script.crashAfter >= 0 && ran >= script.crashAfter {
			return actions{crash: &ending{corev1.PodFailed, 137, "Error"},
				finish: notDeleted(v.executors), how: ending{corev1.PodFailed, 1, "Error"}}
		}
		if ran >= script.run && script.fail {
			return d.end(v, ending{corev1.PodFailed, 1, "Error"})
		}
		if ran >= script.run {
			return d.end(v, ending{corev1.PodSucceeded, 0, "Completed"})
		}
	}
	missing := min(script.executors-alive, d.batch)
	if missing > 0 && v.now.Sub(d.lastBatch) >= d.batchDelay {
		d.lastBatch = v.now
		for range missing {
			out.create = append(out.create, d.next)
			d.made[d.next] = v.now
			d.next++
		}
	}
	return out
}

// adopt takes over what an earlier process made for the same driver: its
// executors, and the time since when all of them run.
func (d *drive) adopt(v view) {
	d.next = 1
	var last time.Time
	running := 0
	for _, pod := range v.executors {
		number, err := strconv.Atoi(pod.Labels["spark-exec-id"])
		if err != nil {
			continue
		}
		d.made[number] = v.now
		d.next = max(d.next, number+1)
		if pod.Status.Phase == corev1.PodRunning {
			running++
			if start := startOf(pod, v.now); start.After(last) {
				last = start
			}
		}
	}
	if running >= d.instances {
		d.allRan = last
	}
}

// count says how many executors are alive (made, pending, running) and running,
// and forgets those that are over, so that others are made in their place.
func (d *drive) count(v view, out *actions) (alive, running int) {
	present := map[int]bool{}
	for _, pod := range v.executors {
		number, err := strconv.Atoi(pod.Labels["spark-exec-id"])
		if err != nil {
			continue
		}
		present[number] = true
		if _, known := d.made[number]; !known {
			continue // over already
		}
		d.seen[number] = true
		switch {
		case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
			delete(d.made, number)
			d.failures++
			if d.deletes && pod.DeletionTimestamp == nil {
				out.remove = append(out.remove, pod)
			}
		case pod.Status.Phase == corev1.PodRunning:
			// Spark counts it until it is really gone, deleted or not.
			running++
		case pod.DeletionTimestamp != nil:
			delete(d.made, number)
		}
	}
	for _, number := range slices.Collect(maps.Keys(d.made)) {
		lost := !present[number] && (d.seen[number] || v.now.Sub(d.made[number]) > 10*time.Second)
		if lost {
			delete(d.made, number)
		}
	}
	return len(d.made), running
}

// end is the end of the application in order: the executors are told to stop,
// which they do, and are deleted; then the driver ends.
func (d *drive) end(v view, how ending) actions {
	out := actions{how: ending{corev1.PodSucceeded, 0, "Completed"}, end: &how}
	for _, pod := range notDeleted(v.executors) {
		// One that is to take its time does not stop before it is gone.
		if _, slow := pod.Annotations[annotationTermination]; !slow && pod.Status.Phase == corev1.PodRunning {
			out.finish = append(out.finish, pod)
		}
	}
	if d.deletes {
		out.remove = notDeleted(v.executors)
	}
	return out
}

func notDeleted(pods []*corev1.Pod) []*corev1.Pod {
	var left []*corev1.Pod
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			left = append(left, pod)
		}
	}
	return left
}

func startOf(pod *corev1.Pod, fallback time.Time) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return fallback
}
