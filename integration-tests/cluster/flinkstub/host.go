// Package flinkstub plays the JobManagers for the Flink operator: one process that
// answers for all JobManagers of a cluster, as spark-drivers plays all drivers.
package flinkstub

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// What the operator writes on everything that it makes for a standalone cluster.
const clusterType = "type=flink-standalone-kubernetes"

// host plays all JobManagers. Whose REST interface is meant, a request's Host says:
// NAME-rest.NAMESPACE, the name of the Service that would lead there.
type host struct {
	kube     *kubernetes.Clientset
	pods     corelisters.PodLister
	services corelisters.ServiceLister
	hosts    string // the file in which the operator looks up those names
	written  string // what it contains

	mutex sync.Mutex
	plays map[string]*play // by uid of the JobManager's pod
}

// play is one JobManager.
type play struct {
	pod          *corev1.Pod
	taskManagers []*corev1.Pod
	slots        int
	job          *job
}

// HostJobManagers is the program flink-jobmanagers.
func HostJobManagers(argv []string) int {
	flags := flag.NewFlagSet("flink-jobmanagers", flag.ContinueOnError)
	listen := flags.String("listen", "", "address of the REST interface")
	hosts := flags.String("hosts", "", "file of host names to write")
	if flags.Parse(argv) != nil {
		return 2
	}
	if err := hostJobManagers(*listen, *hosts); err != nil {
		fmt.Fprintln(os.Stderr, "flink-jobmanagers:", err)
		return 1
	}
	return 0
}

func hostJobManagers(listen, hosts string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS = -1
	config.Timeout = 20 * time.Second
	config.UserAgent = "flink-stand-in"
	config.WarningHandler = rest.NoWarnings{}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0,
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = clusterType }))
	h := &host{kube: kube, pods: factory.Core().V1().Pods().Lister(),
		services: factory.Core().V1().Services().Lister(), hosts: hosts, plays: map[string]*play{}}
	ctx := context.Background()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := h.writeHosts(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	logf("ready")
	failed := make(chan error, 1)
	go func() { failed <- http.Serve(listener, h.routes()) }()
	ticker := time.NewTicker(30 * time.Millisecond)
	for {
		select {
		case err := <-failed:
			return err
		case <-ticker.C:
			if err := h.turn(ctx); err != nil {
				// The API server may be away, a ConfigMap may still come.
				logf("%v", err)
				time.Sleep(300 * time.Millisecond)
			}
		}
	}
}

func logf(format string, values ...any) {
	fmt.Printf("%s %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, values...))
}

// turn looks at all clusters once.
func (h *host) turn(ctx context.Context) error {
	if err := h.writeHosts(); err != nil {
		return err
	}
	pods, err := h.pods.List(labels.Everything())
	if err != nil {
		return err
	}
	var first error
	running := map[string]bool{}
	for _, pod := range pods {
		if pod.Labels["component"] != "jobmanager" || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			continue
		}
		running[string(pod.UID)] = true
		if err := h.lookAt(ctx, pod, pods); err != nil && first == nil {
			first = fmt.Errorf("%s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for uid, play := range h.plays {
		if !running[uid] {
			logf("%s/%s: its JobManager is gone", play.pod.Namespace, play.pod.Labels["app"])
			delete(h.plays, uid)
		}
	}
	return first
}

func (h *host) lookAt(ctx context.Context, pod *corev1.Pod, all []*corev1.Pod) error {
	h.mutex.Lock()
	known := h.plays[string(pod.UID)]
	h.mutex.Unlock()
	if known == nil {
		begun, err := h.begin(ctx, pod)
		if apierrors.IsNotFound(err) {
			return nil // the operator makes the configuration last: a pod waits for its volumes
		} else if err != nil {
			return err
		}
		known = begun
	}
	var mine []*corev1.Pod
	for _, other := range all {
		if other.Namespace == pod.Namespace && other.Labels["app"] == pod.Labels["app"] &&
			other.Labels["component"] == "taskmanager" {
			mine = append(mine, other)
		}
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	known.pod, known.taskManagers = pod, mine
	before := known.job.state
	known.job.look(mine, readScript(pod), time.Now())
	if known.job.state != before {
		logf("%s/%s: %s, %d of %d TaskManagers", pod.Namespace, pod.Labels["app"], known.job.state,
			len(registered(mine)), known.job.needs)
	}
	h.plays[string(pod.UID)] = known
	return nil
}

// begin reads the configuration that the pod mounts, as a JobManager does at its
// start. One whose process (this one) was ended meanwhile starts its job again, as
// a JobManager without high availability does.
func (h *host) begin(ctx context.Context, pod *corev1.Pod) (*play, error) {
	cluster := pod.Labels["app"]
	name := ""
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == "flink-config-volume" && volume.ConfigMap != nil {
			name = volume.ConfigMap.Name
		}
	}
	found, err := h.kube.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("its configuration: %w", err)
	}
	c := readConf(found.Data["flink-conf.yaml"])
	slots, err := c.positive("taskmanager.numberOfTaskSlots", 1)
	if err != nil {
		return nil, err
	}
	id := c.jobID(pod.Namespace, cluster)
	j, err := newJob(id, cluster, c, time.Now())
	if err != nil {
		return nil, err
	}
	logf("%s/%s: begins as job %s, %d TaskManagers", pod.Namespace, cluster, id, j.needs)
	return &play{pod: pod, slots: slots, job: j}, nil
}

// writeHosts makes the REST Services' names known to the operator.
func (h *host) writeHosts() error {
	services, err := h.services.List(labels.Everything())
	if err != nil {
		return err
	}
	lines := []string{}
	for _, service := range services {
		if strings.HasSuffix(service.Name, "-rest") {
			lines = append(lines, fmt.Sprintf("127.0.0.1 %s.%s\n", service.Name, service.Namespace))
		}
	}
	slices.Sort(lines)
	own, _ := os.Hostname()
	text := "127.0.0.1 localhost " + own + "\n" + strings.Join(lines, "")
	if text == h.written {
		return nil
	}
	if err := os.WriteFile(h.hosts+".tmp", []byte(text), 0o644); err != nil {
		return err
	}
	h.written = text
	return os.Rename(h.hosts+".tmp", h.hosts)
}

func (h *host) routes() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /stand-in/ready", func(http.ResponseWriter, *http.Request) {})
	for _, version := range []string{"", "/v1"} {
		routes.HandleFunc("GET "+version+"/config", h.of(func(w http.ResponseWriter, _ *http.Request, p *play) {
			reply(w, http.StatusOK, configuration(flinkVersion(p.pod)))
		}))
		routes.HandleFunc("GET "+version+"/jobs/overview", h.of(func(w http.ResponseWriter, _ *http.Request, p *play) {
			reply(w, http.StatusOK, body{"jobs": []any{p.job.overview(time.Now())}})
		}))
		routes.HandleFunc("GET "+version+"/jobs", h.of(func(w http.ResponseWriter, _ *http.Request, p *play) {
			reply(w, http.StatusOK, body{"jobs": []any{body{"id": p.job.id, "status": p.job.state}}})
		}))
		routes.HandleFunc("GET "+version+"/taskmanagers", h.of(func(w http.ResponseWriter, _ *http.Request, p *play) {
			reply(w, http.StatusOK, taskManagers(p.taskManagers, p.slots, len(p.job.uses)))
		}))
		routes.HandleFunc("GET "+version+"/jobs/{id}", h.ofJob(func(w http.ResponseWriter, _ *http.Request, p *play) {
			reply(w, http.StatusOK, p.job.details(time.Now()))
		}))
		routes.HandleFunc("GET "+version+"/jobs/{id}/exceptions", h.ofJob(func(w http.ResponseWriter, _ *http.Request, p *play) {
			reply(w, http.StatusOK, p.job.exceptions())
		}))
		routes.HandleFunc("GET "+version+"/jobs/{id}/execution-result", h.ofJob(func(w http.ResponseWriter, _ *http.Request, p *play) {
			reply(w, http.StatusOK, p.job.result())
		}))
		routes.HandleFunc("GET "+version+"/jobs/{id}/checkpoints", h.ofJob(func(w http.ResponseWriter, _ *http.Request, _ *play) {
			reply(w, http.StatusOK, checkpoints())
		}))
		routes.HandleFunc("PATCH "+version+"/jobs/{id}", h.ofJob(func(w http.ResponseWriter, r *http.Request, p *play) {
			if mode := r.URL.Query().Get("mode"); mode != "" && mode != "cancel" {
				refuse(w, http.StatusBadRequest, "this JobManager only knows mode=cancel, not %q", mode)
				return
			}
			logf("%s/%s: cancelled", p.pod.Namespace, p.pod.Labels["app"])
			p.job.cancel(time.Now())
			reply(w, http.StatusAccepted, body{})
		}))
	}
	routes.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		logf("nobody answers %s %s%s", r.Method, r.Host, r.URL)
		refuse(w, http.StatusNotFound, "Not found: %s", r.URL)
	})
	return routes
}

type answer func(w http.ResponseWriter, r *http.Request, p *play)

// of finds the JobManager that a request is for: 503 while there is none, as from a
// Service without endpoints.
func (h *host) of(next answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Host, ":")
		service, namespace, _ := strings.Cut(name, ".")
		cluster := strings.TrimSuffix(service, "-rest")
		h.mutex.Lock()
		defer h.mutex.Unlock()
		for _, p := range h.plays {
			if p.pod.Namespace == namespace && p.pod.Labels["app"] == cluster {
				next(w, r, p)
				return
			}
		}
		refuse(w, http.StatusServiceUnavailable, "no JobManager of %s runs in %s", cluster, namespace)
	}
}

func (h *host) ofJob(next answer) http.HandlerFunc {
	return h.of(func(w http.ResponseWriter, r *http.Request, p *play) {
		if r.PathValue("id") != p.job.id {
			refuse(w, http.StatusNotFound, "Job %s not found", r.PathValue("id"))
			return
		}
		next(w, r, p)
	})
}

// flinkVersion is the tag of the image, as far as it looks like one.
func flinkVersion(pod *corev1.Pod) string {
	image := pod.Spec.Containers[0].Image
	if _, tag, ok := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":"); ok {
		return tag
	}
	return "unknown"
}
