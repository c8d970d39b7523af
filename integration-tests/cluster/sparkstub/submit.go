// Package sparkstub plays Spark for the Spark operator: `spark-submit`, which the
// operator runs, makes the driver's pod as Spark would and leaves; `spark-drivers`
// plays all the cluster's drivers from then on.
package sparkstub

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Submit is spark-submit. The driver is not its child: it writes what is to be
// done into the cluster's folder, where spark-drivers finds it. So nothing is
// left over when the cluster ends, and the operator, which waits until the pipes
// of spark-submit are closed, waits for nothing else.
func Submit(argv []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := submit(ctx, argv); err != nil {
		fmt.Fprintln(os.Stderr, "Exception in thread \"main\"", err)
		return 1
	}
	return 0
}

func submit(ctx context.Context, argv []string) error {
	s, err := parseArgv(argv)
	if err != nil {
		return err
	}
	appID := "spark-" + randomHex(16)
	pod, err := driverPod(s, appID)
	if err != nil {
		return err
	}
	if reason := pod.Annotations[annotationSubmitFail]; reason != "" {
		return fmt.Errorf("asked to fail by the annotation %s: %s", annotationSubmitFail, reason)
	}
	template, err := s.conf.readTemplate("executor")
	if err != nil {
		return err
	}
	j := &job{Namespace: pod.Namespace, Driver: pod.Name, AppID: appID, AppName: s.name,
		Java: isJava(s.resource), Conf: s.conf, Template: template}
	// A mistake in the executors' settings is to fail here, where somebody sees it.
	if _, err := j.executorPod(1); err != nil {
		return err
	}
	kube, err := connect(strings.TrimPrefix(s.master, "k8s://"))
	if err != nil {
		return err
	}
	created, err := kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return describe(err, pod)
	}
	j.DriverUID = string(created.UID)
	return j.save(filepath.Join(os.Getenv("ESI_CLUSTER_DIR"), "spark", "jobs"))
}

// describe words a refusal as Spark's client does; the operator looks for code=409.
func describe(err error, pod *corev1.Pod) error {
	if status, ok := err.(apierrors.APIStatus); ok {
		return fmt.Errorf("failure executing: POST of pods %q. Message: %s. Received status: Status(apiVersion=v1, code=%d, reason=%s)",
			pod.Name, status.Status().Message, status.Status().Code, status.Status().Reason)
	}
	return fmt.Errorf("creation of pod %s: %w", pod.Name, err)
}

// connect logs in with $KUBECONFIG; server, if given, replaces its address.
func connect(server string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags(server, os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.Timeout = 20 * time.Second
	config.UserAgent = "spark-stand-in"
	config.WarningHandler = rest.NoWarnings{}
	return kubernetes.NewForConfig(config)
}

func (j *job) driverUID() types.UID { return types.UID(j.DriverUID) }

func (j *job) file(folder string) string { return filepath.Join(folder, j.DriverUID+".json") }

// save hands the job over, in one step: a reader never sees half of it.
func (j *job) save(folder string) error {
	content, err := json.Marshal(j)
	if err != nil {
		return err
	}
	temporary := j.file(folder) + ".tmp"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return fmt.Errorf("nobody to play the driver: %w", err)
	}
	return os.Rename(temporary, j.file(folder))
}

func randomHex(bytes int) string {
	content := make([]byte, bytes)
	_, _ = rand.Read(content) // never fails
	return hex.EncodeToString(content)
}
