package sparkstub

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// sparkVersion is the version that the stand-in says it is.
const sparkVersion = "4.0.1"

// job is one application: all that is needed to make its executors, and to go on
// when the process that plays its driver is started again.
type job struct {
	Namespace string `json:"namespace"`
	Driver    string `json:"driver"`
	DriverUID string `json:"driverUID"`
	AppID     string `json:"appID"`
	AppName   string `json:"appName"`
	Java      bool   `json:"java"` // false: Python or R
	Conf      conf   `json:"conf"`
	// Template is the executors' pod template; its file is gone by the time.
	Template corev1.PodTemplateSpec `json:"template"`
}

// readTemplate reads the pod template of a role; none is an empty one.
func (c conf) readTemplate(role string) (corev1.PodTemplateSpec, error) {
	var template corev1.PodTemplateSpec
	path, ok := c["spark.kubernetes."+role+".podTemplateFile"]
	if !ok {
		return template, nil
	}
	content, err := os.ReadFile(strings.TrimPrefix(path, "file://"))
	if err == nil {
		err = yaml.UnmarshalStrict(content, &template)
	}
	if err != nil {
		return template, fmt.Errorf("pod template of the %s: %w", role, err)
	}
	return template, nil
}

// basePod is what driver and executors have in common: the template, with what
// the configuration says laid over it. It returns the pod and Spark's container
// in it. Whatever else the template has, gates, affinity, tolerations, volumes,
// sidecars, stays as it is.
func basePod(role string, template corev1.PodTemplateSpec, c conf, java bool) (*corev1.Pod, *corev1.Container, error) {
	template = *template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	prefix := "spark.kubernetes." + role + "."
	pod.Namespace = c.or("spark.kubernetes.namespace", "default")
	pod.Labels = merge(pod.Labels, c.under(prefix+"label."))
	pod.Annotations = merge(pod.Annotations, c.under(prefix+"annotation."))
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.NodeSelector = merge(pod.Spec.NodeSelector,
		c.under("spark.kubernetes.node.selector."), c.under(prefix+"node.selector."))
	if name := c.first(prefix+"scheduler.name", "spark.kubernetes.scheduler.name"); name != "" {
		pod.Spec.SchedulerName = name
	}
	for name := range strings.SplitSeq(c["spark.kubernetes.container.image.pullSecrets"], ",") {
		if name = strings.TrimSpace(name); name != "" {
			pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
		}
	}

	container := sparkContainer(&pod.Spec, c[prefix+"podTemplateContainerName"])
	if container.Name == "" {
		container.Name = "spark-kubernetes-" + role
	}
	if image := c.first(prefix+"container.image", "spark.kubernetes.container.image"); image != "" {
		container.Image = image
	}
	if container.Image == "" {
		return nil, nil, fmt.Errorf("must specify the %s container image", role)
	}
	container.ImagePullPolicy = corev1.PullPolicy(c.or("spark.kubernetes.container.image.pullPolicy", "IfNotPresent"))
	if err := setResources(container, role, c, java); err != nil {
		return nil, nil, err
	}
	if err := addVolumes(&pod.Spec, container, role, c); err != nil {
		return nil, nil, err
	}
	return pod, container, nil
}

// sparkContainer is the template's container of that name, else its first one;
// a template without containers gets one.
func sparkContainer(spec *corev1.PodSpec, name string) *corev1.Container {
	for i := range spec.Containers {
		if spec.Containers[i].Name == name {
			return &spec.Containers[i]
		}
	}
	if len(spec.Containers) == 0 {
		spec.Containers = []corev1.Container{{}}
	}
	return &spec.Containers[0]
}

// setResources asks for the cores and the memory; other resources that the
// template's container names, such as GPUs, stay.
func setResources(container *corev1.Container, role string, c conf, java bool) error {
	prefix := "spark.kubernetes." + role + "."
	cores := c.first(prefix+"request.cores", "spark."+role+".cores")
	if cores == "" {
		cores = "1"
	}
	cpu, err := resource.ParseQuantity(cores)
	if err != nil {
		return fmt.Errorf("cores of the %s, %q: %w", role, cores, err)
	}
	amount, err := c.podMemory(role, java)
	if err != nil {
		return err
	}
	memory := resource.MustParse(strconv.FormatInt(amount, 10) + "Mi")
	requests, limits := &container.Resources.Requests, &container.Resources.Limits
	for _, list := range []*corev1.ResourceList{requests, limits} {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[corev1.ResourceMemory] = memory
	}
	(*requests)[corev1.ResourceCPU] = cpu
	if text, ok := c[prefix+"limit.cores"]; ok {
		limit, err := resource.ParseQuantity(text)
		if err != nil {
			return fmt.Errorf("limit of cores of the %s, %q: %w", role, text, err)
		}
		(*limits)[corev1.ResourceCPU] = limit
	}
	return nil
}

// driverPod is the driver of a submission.
func driverPod(s *submission, appID string) (*corev1.Pod, error) {
	template, err := s.conf.readTemplate("driver")
	if err != nil {
		return nil, err
	}
	pod, container, err := basePod("driver", template, s.conf, isJava(s.resource))
	if err != nil {
		return nil, err
	}
	pod.Name = s.conf.or("spark.kubernetes.driver.pod.name", resourceName(s.name)+"-"+appID[len(appID)-16:]+"-driver")
	pod.Labels = merge(pod.Labels, sparkLabels("driver", s.name, appID))
	if account, ok := s.conf["spark.kubernetes.authenticate.driver.serviceAccountName"]; ok {
		pod.Spec.ServiceAccountName = account
	}
	container.Args = []string{"driver", "--properties-file", "/opt/spark/conf/spark.properties"}
	if s.class != "" {
		container.Args = append(container.Args, "--class", s.class)
	}
	container.Args = append(append(container.Args, s.resource), s.args...)
	container.Ports = append(container.Ports,
		port("driver-rpc-port", 7078), port("blockmanager", 7079), port("spark-ui", 4040))
	setEnv(container, s.conf.under("spark.kubernetes.driverEnv."))
	setEnv(container, map[string]string{
		"SPARK_USER": "root", "SPARK_APPLICATION_ID": appID, "SPARK_CONF_DIR": "/opt/spark/conf"})
	container.Env = append(container.Env, fieldEnv("SPARK_DRIVER_BIND_ADDRESS", "status.podIP"))
	return pod, nil
}

// executorPod is the job's executor with that number.
func (j *job) executorPod(number int) (*corev1.Pod, error) {
	pod, container, err := basePod("executor", j.Template, j.Conf, j.Java)
	if err != nil {
		return nil, err
	}
	id := strconv.Itoa(number)
	pod.Namespace = j.Namespace
	pod.Name = j.Conf.or("spark.kubernetes.executor.podNamePrefix",
		resourceName(j.AppName)+"-"+j.AppID[len(j.AppID)-16:]) + "-exec-" + id
	pod.Labels = merge(pod.Labels, sparkLabels("executor", j.AppName, j.AppID),
		map[string]string{"spark-exec-id": id, "spark-exec-resourceprofile-id": "0"})
	controller := true
	pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{
		APIVersion: "v1", Kind: "Pod", Name: j.Driver, UID: j.driverUID(), Controller: &controller})
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = j.Conf.first("spark.kubernetes.authenticate.executor.serviceAccountName",
			"spark.kubernetes.authenticate.driver.serviceAccountName")
	}
	heap, err := mebibytes(j.Conf.or("spark.executor.memory", "1g"))
	if err != nil {
		return nil, err
	}
	container.Args = []string{"executor"}
	container.Ports = append(container.Ports, port("blockmanager", 7079))
	setEnv(container, j.Conf.under("spark.executorEnv."))
	setEnv(container, map[string]string{
		"SPARK_DRIVER_URL":          fmt.Sprintf("spark://CoarseGrainedScheduler@%s-svc.%s.svc:7078", j.Driver, j.Namespace),
		"SPARK_EXECUTOR_CORES":      j.Conf.or("spark.executor.cores", "1"),
		"SPARK_EXECUTOR_MEMORY":     strconv.FormatInt(heap, 10) + "m",
		"SPARK_APPLICATION_ID":      j.AppID,
		"SPARK_CONF_DIR":            "/opt/spark/conf",
		"SPARK_EXECUTOR_ID":         id,
		"SPARK_RESOURCE_PROFILE_ID": "0",
	})
	container.Env = append(container.Env, fieldEnv("SPARK_EXECUTOR_POD_IP", "status.podIP"),
		fieldEnv("SPARK_EXECUTOR_POD_NAME", "metadata.name"))
	return pod, nil
}

func sparkLabels(role, appName, appID string) map[string]string {
	return map[string]string{"spark-role": role, "spark-app-selector": appID,
		"spark-app-name": resourceName(appName), "spark-version": sparkVersion}
}

// resourceName makes a name of Kubernetes out of an application's.
func resourceName(name string) string {
	var out strings.Builder
	for _, letter := range strings.ToLower(name) {
		if letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9' {
			out.WriteRune(letter)
		} else if text := out.String(); text != "" && !strings.HasSuffix(text, "-") {
			out.WriteByte('-')
		}
	}
	text := out.String()
	return strings.Trim(text[:min(len(text), 63)], "-")
}

func isJava(resource string) bool {
	return !strings.HasSuffix(resource, ".py") && !strings.HasSuffix(resource, ".R")
}

// merge lays maps over the first one; the later ones win.
func merge(into map[string]string, others ...map[string]string) map[string]string {
	for _, other := range others {
		for key, value := range other {
			if into == nil {
				into = map[string]string{}
			}
			into[key] = value
		}
	}
	return into
}

func port(name string, number int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: number, Protocol: corev1.ProtocolTCP}
}

func setEnv(container *corev1.Container, entries map[string]string) {
	for _, name := range sortedKeys(entries) {
		container.Env = append(container.Env, corev1.EnvVar{Name: name, Value: entries[name]})
	}
}

func fieldEnv(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
}
