package sparkstub

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const testAppID = "spark-0123456789abcdef0123456789abcdef"

const executorTemplate = `
metadata:
  labels: {from: template, team: overridden}
  annotations: {note: template}
  ownerReferences:
  - {apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, name: wordcount, uid: u-app}
spec:
  priorityClassName: esi-job
  schedulingGates: [{name: esi.tu-berlin.de/slot}]
  tolerations: [{key: testbed, operator: Exists}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: testbed, operator: Exists}]}]
  volumes: [{name: data, hostPath: {path: /data}}]
  containers:
  - {name: sidecar, image: sidecar:1}
  - name: spark-kubernetes-executor
    env: [{name: FROM_TEMPLATE, value: "1"}]
    volumeMounts: [{name: data, mountPath: /data}]
    resources: {limits: {example.com/gpu: 1}}
`

func testJob(t *testing.T, more ...string) *job {
	t.Helper()
	path := filepath.Join(t.TempDir(), "executor.yaml")
	if err := os.WriteFile(path, []byte(executorTemplate), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustParse(t, operatorArgv(append(more,
		"--conf", "spark.kubernetes.executor.podTemplateFile="+path,
		"--conf", "spark.kubernetes.executor.podTemplateContainerName=spark-kubernetes-executor")...))
	template, err := s.conf.readTemplate("executor")
	if err != nil {
		t.Fatal(err)
	}
	return &job{Namespace: "jobs", Driver: "wordcount-driver", DriverUID: "u-driver", AppID: testAppID,
		AppName: s.name, Java: true, Conf: s.conf, Template: template}
}

func testExecutor(t *testing.T, j *job, number int) (*corev1.Pod, corev1.Container) {
	t.Helper()
	pod, err := j.executorPod(number)
	if err != nil {
		t.Fatal(err)
	}
	for _, container := range pod.Spec.Containers {
		if container.Name == "spark-kubernetes-executor" {
			return pod, container
		}
	}
	t.Fatal("the executor has no container spark-kubernetes-executor")
	return nil, corev1.Container{}
}

func TestAnExecutorKeepsWhatItsTemplateSays(t *testing.T) {
	pod, container := testExecutor(t, testJob(t), 2)
	if pod.Spec.PriorityClassName != "esi-job" ||
		!reflect.DeepEqual(pod.Spec.SchedulingGates, []corev1.PodSchedulingGate{{Name: "esi.tu-berlin.de/slot"}}) ||
		len(pod.Spec.Tolerations) != 1 || pod.Spec.Affinity == nil || pod.Spec.Volumes[0].HostPath == nil ||
		len(pod.Spec.Containers) != 2 {
		t.Errorf("something of the template is lost: %+v", pod.Spec)
	}
	if pod.Labels["from"] != "template" || pod.Annotations["note"] != "template" {
		t.Errorf("labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
	if container.Env[0].Name != "FROM_TEMPLATE" || container.VolumeMounts[0].MountPath != "/data" {
		t.Errorf("something of the template's container is lost: %+v", container)
	}
	if gpu := container.Resources.Limits["example.com/gpu"]; gpu.Value() != 1 {
		t.Errorf("the template's GPU is lost: %v", container.Resources.Limits)
	}
}

func TestAnExecutorIsWhatTheConfigurationSays(t *testing.T) {
	pod, container := testExecutor(t, testJob(t), 2)
	if pod.Name != "wordcount-0123456789abcdef-exec-2" || pod.Namespace != "jobs" {
		t.Errorf("it is called %s/%s", pod.Namespace, pod.Name)
	}
	for key, want := range map[string]string{"spark-role": "executor", "spark-exec-id": "2",
		"spark-app-selector": testAppID, "team": "a"} {
		if pod.Labels[key] != want {
			t.Errorf("label %s is %q, want %q", key, pod.Labels[key], want)
		}
	}
	if pod.Annotations["example.com/slots"] != "3,5" {
		t.Errorf("annotations %v", pod.Annotations)
	}
	requests, limits := container.Resources.Requests, container.Resources.Limits
	if requests.Cpu().String() != "1500m" || requests.Memory().String() != "2560Mi" ||
		limits.Cpu().String() != "2" || limits.Memory().String() != "2560Mi" {
		t.Errorf("requests %v, limits %v", requests, limits)
	}
	if container.Image != "spark:4" || pod.Spec.RestartPolicy != corev1.RestartPolicyNever ||
		pod.Spec.ServiceAccountName != "spark" {
		t.Errorf("image %q, restart policy %q, account %q", container.Image, pod.Spec.RestartPolicy, pod.Spec.ServiceAccountName)
	}
}

func TestAnExecutorBelongsToItsDriverAndApplication(t *testing.T) {
	pod, _ := testExecutor(t, testJob(t), 1)
	if len(pod.OwnerReferences) != 2 {
		t.Fatalf("owners: %v", pod.OwnerReferences)
	}
	application, driver := pod.OwnerReferences[0], pod.OwnerReferences[1]
	if application.Kind != "SparkApplication" || application.Controller != nil {
		t.Errorf("application: %v, want it as an owner, not as the controller", application)
	}
	if driver.Kind != "Pod" || driver.Name != "wordcount-driver" || driver.UID != "u-driver" ||
		driver.Controller == nil || !*driver.Controller {
		t.Errorf("driver: %v, want it as the controller", driver)
	}
}

func TestTheExecutorsSchedulerIsTheMostSpecificOne(t *testing.T) {
	for want, more := range map[string][]string{
		"":       nil,
		"common": {"--conf", "spark.kubernetes.scheduler.name=common"},
		"own": {"--conf", "spark.kubernetes.scheduler.name=common",
			"--conf", "spark.kubernetes.executor.scheduler.name=own"},
	} {
		if pod, _ := testExecutor(t, testJob(t, more...), 1); pod.Spec.SchedulerName != want {
			t.Errorf("%v: scheduler %q, want %q", more, pod.Spec.SchedulerName, want)
		}
	}
}

func TestExecutorsDoNotShareTheirTemplate(t *testing.T) {
	j := testJob(t)
	first, _ := testExecutor(t, j, 1)
	second, _ := testExecutor(t, j, 2)
	if first.Labels["spark-exec-id"] != "1" || second.Labels["spark-exec-id"] != "2" ||
		len(second.OwnerReferences) != 2 || len(second.Spec.Volumes) != len(first.Spec.Volumes) {
		t.Errorf("the second executor shows traces of the first: %+v", second)
	}
}

func TestADriverIsWhatTheConfigurationSays(t *testing.T) {
	pod, err := driverPod(mustParse(t, operatorArgv(
		"--conf", "spark.kubernetes.driver.annotation.esi-test/run-seconds=7")), testAppID)
	if err != nil {
		t.Fatal(err)
	}
	container := pod.Spec.Containers[0]
	if pod.Name != "wordcount-driver" || pod.Namespace != "jobs" || container.Name != "spark-kubernetes-driver" ||
		pod.Spec.ServiceAccountName != "spark" || pod.Annotations["esi-test/run-seconds"] != "7" ||
		pod.Labels["spark-role"] != "driver" || pod.Labels["sparkoperator.k8s.io/app-name"] != "wordcount" {
		t.Errorf("driver %s/%s: %+v %+v", pod.Namespace, pod.Name, pod.ObjectMeta, pod.Spec)
	}
	if cpu, memory := container.Resources.Requests.Cpu().String(), container.Resources.Requests.Memory().String(); cpu != "500m" || memory != "896Mi" {
		t.Errorf("requests %s and %s, want 500m and 896Mi", cpu, memory)
	}
	if args := strings.Join(container.Args, " "); !strings.HasSuffix(args, "--class org.example.Main local:///app.jar input.txt --verbose") {
		t.Errorf("arguments %q", args)
	}
}

func TestVolumesOfTheConfigurationAreMounted(t *testing.T) {
	prefix := "spark.kubernetes.driver.volumes."
	pod, err := driverPod(mustParse(t, operatorArgv(
		"--conf", prefix+"persistentVolumeClaim.spark-local-dir-big.mount.path=/scratch",
		"--conf", prefix+"persistentVolumeClaim.spark-local-dir-big.options.claimName=claim",
		"--conf", prefix+"hostPath.data.mount.path=/data",
		"--conf", prefix+"hostPath.data.mount.readOnly=true",
		"--conf", prefix+"hostPath.data.options.path=/srv")), testAppID)
	if err != nil {
		t.Fatal(err)
	}
	volumes, mounts := pod.Spec.Volumes, pod.Spec.Containers[0].VolumeMounts
	if len(volumes) != 2 || volumes[0].HostPath.Path != "/srv" || volumes[1].PersistentVolumeClaim.ClaimName != "claim" {
		t.Errorf("volumes %v; want two, none for scratch files beside the one given", volumes)
	}
	if mounts[0].MountPath != "/data" || !mounts[0].ReadOnly || mounts[1].MountPath != "/scratch" {
		t.Errorf("mounts %v", mounts)
	}
}

func TestNamesBecomeNamesOfKubernetes(t *testing.T) {
	for name, want := range map[string]string{"Spark Pi": "spark-pi", "a__b": "a-b", "-x-": "x", "pi": "pi"} {
		if got := resourceName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
