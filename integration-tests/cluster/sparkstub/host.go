package sparkstub

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// host plays all drivers of one cluster: one process, watched over by the
// cluster's supervisor, in place of a detached process per application.
type host struct {
	folder string // of the job files
	kube   *kubernetes.Clientset
	pods   corelisters.PodLister
	active map[string]bool // job files that somebody works on
	over   chan string
}

// HostDrivers is the program spark-drivers.
func HostDrivers(argv []string) int {
	flags := flag.NewFlagSet("spark-drivers", flag.ContinueOnError)
	folder := flags.String("jobs", "", "folder of the job files")
	if flags.Parse(argv) != nil {
		return 2
	}
	if err := hostDrivers(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "spark-drivers:", err)
		return 1
	}
	return 0
}

func hostDrivers(folder string) error {
	kube, err := connect("")
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0,
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "spark-app-selector" }))
	h := &host{folder: folder, kube: kube, pods: factory.Core().V1().Pods().Lister(),
		active: map[string]bool{}, over: make(chan string)}
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	logf("ready")
	ticker := time.NewTicker(30 * time.Millisecond)
	for {
		select {
		case path := <-h.over:
			delete(h.active, path)
		case <-ticker.C:
			paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
			if err != nil {
				return err
			}
			for _, path := range paths {
				if !h.active[path] {
					h.active[path] = true
					go h.play(ctx, path)
				}
			}
		}
	}
}

func logf(format string, values ...any) {
	fmt.Printf("%s %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, values...))
}

// play plays the driver of one job until there is nothing left to do.
func (h *host) play(ctx context.Context, path string) {
	err := h.playJob(ctx, path)
	if err != nil {
		logf("%s: %v", path, err)
	}
	_ = os.Remove(path)
	h.over <- path
}

func (h *host) playJob(ctx context.Context, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	j := &job{}
	if err := json.Unmarshal(content, j); err != nil {
		return err
	}
	d, err := newDrive(j.Conf)
	if err != nil {
		return err
	}
	logf("%s/%s: begins, %d executors", j.Namespace, j.Driver, d.instances)
	for {
		v, err := h.look(ctx, j)
		if err == nil {
			what := d.decide(v)
			if what.done {
				logf("%s/%s: over", j.Namespace, j.Driver)
				return nil
			}
			err = h.act(ctx, j, v, what)
			if err == nil && (what.end != nil || what.crash != nil) {
				return nil // the cache still shows it running: do not end it twice
			}
		}
		if err != nil {
			// The API server may be away; a driver would try again too.
			logf("%s/%s: %v", j.Namespace, j.Driver, err)
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// look reads the job's pods from the cache. That the driver is gone is believed
// to a live read only: the cache may not have seen it yet.
func (h *host) look(ctx context.Context, j *job) (view, error) {
	selector := labels.SelectorFromSet(labels.Set{"spark-app-selector": j.AppID})
	pods, err := h.pods.Pods(j.Namespace).List(selector)
	if err != nil {
		return view{}, err
	}
	v := view{now: time.Now()}
	for _, pod := range pods {
		switch {
		case pod.UID == j.driverUID():
			v.driver = pod
		case pod.Labels["spark-role"] == "executor":
			v.executors = append(v.executors, pod)
		}
	}
	if v.driver == nil {
		driver, err := h.kube.CoreV1().Pods(j.Namespace).Get(ctx, j.Driver, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return v, err
		}
		if err == nil && driver.UID == j.driverUID() {
			v.driver = driver
		}
	}
	return v, nil
}

func (h *host) act(ctx context.Context, j *job, v view, what actions) error {
	pods := h.kube.CoreV1().Pods(j.Namespace)
	for _, number := range what.create {
		pod, err := j.executorPod(number)
		if err != nil {
			return err
		}
		if _, err = pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			logf("%s: %v", pod.Name, err) // made anew under another number
		}
	}
	if what.crash != nil {
		logf("%s/%s: crashes", j.Namespace, j.Driver)
		if err := h.endPod(ctx, v.driver, *what.crash); err != nil {
			return err
		}
	}
	for _, pod := range what.finish {
		if err := h.endPod(ctx, pod, what.how); err != nil {
			return err
		}
	}
	for _, pod := range what.remove {
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
		if err := pods.Delete(ctx, pod.Name, options); err != nil && !gone(err) {
			return err
		}
	}
	if what.end != nil {
		logf("%s/%s: ends %s", j.Namespace, j.Driver, what.end.phase)
		return h.endPod(ctx, v.driver, *what.end)
	}
	return nil
}

// gone says that an error means: this very pod is not there any more.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// endPod writes the status of a pod whose containers all ended.
func (h *host) endPod(ctx context.Context, pod *corev1.Pod, how ending) error {
	content, err := endedPatch(pod, how, time.Now())
	if err != nil {
		return err
	}
	_, err = h.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType,
		content, metav1.PatchOptions{}, "status")
	if gone(err) {
		return nil
	}
	return err
}

func endedPatch(pod *corev1.Pod, how ending, now time.Time) ([]byte, error) {
	finished := metav1.NewTime(now)
	status := corev1.PodStatus{Phase: how.phase}
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind,
			Status: corev1.ConditionFalse, Reason: "PodCompleted", LastTransitionTime: finished})
	}
	for _, container := range pod.Status.ContainerStatuses {
		ended := corev1.ContainerStateTerminated{ExitCode: how.exitCode, Reason: how.reason, FinishedAt: finished}
		if container.State.Running != nil {
			ended.StartedAt = container.State.Running.StartedAt
		}
		container.Ready, container.Started = false, new(bool)
		container.State = corev1.ContainerState{Terminated: &ended}
		status.ContainerStatuses = append(status.ContainerStatuses, container)
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID}, // a pod made anew under the name is not meant
		"status":   status,
	})
}
