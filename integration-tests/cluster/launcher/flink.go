package launcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Flink operator: a Java program, so no part of this binary. build.sh puts its
// jars and CRDs beside us.
//
// It asks each JobManager at NAME-rest.NAMESPACE, which no DNS here knows: the JVM
// looks names up in a file of ours alone, which flink-jobmanagers keeps up to date,
// and rest.port is flink-jobmanagers' port, which tells its callers apart by name.

const flinkOperatorName = "flink-operator"

// flinkConf makes the operator look every second instead of every minute.
const flinkConf = `rest.port: %d
taskmanager.numberOfTaskSlots: 1
parallelism.default: 1
kubernetes.operator.reconcile.interval: 1 s
kubernetes.operator.observer.progress-check.interval: 250 ms
kubernetes.operator.observer.rest-ready.delay: 250 ms
kubernetes.operator.flink.client.timeout: 5 s
kubernetes.operator.flink.client.cancel.timeout: 5 s
kubernetes.operator.resource.cleanup.timeout: 30 s
kubernetes.operator.reconcile.parallelism: 2
kubernetes.operator.rate-limiter.refresh-period: 1 s
kubernetes.operator.rate-limiter.limit: 20
kubernetes.operator.retry.initial.interval: 1 s
kubernetes.operator.retry.interval.multiplier: 1.0
kubernetes.operator.retry.max.attempts: 30
kubernetes.operator.health.probe.enabled: false
kubernetes.operator.leader-election.enabled: false
kubernetes.operator.jm-deployment-recovery.enabled: false
job.autoscaler.enabled: false
`

const flinkLogging = `rootLogger.level = INFO
rootLogger.appenderRef.console.ref = Console
appender.console.name = Console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %-5p %c{1} %X{resource.namespace}/%X{resource.name} %m%n%throwable
`

func flinkFolder() (string, error) { return besideBinary("flink-operator") }

func flinkCRDs() (string, error) {
	folder, err := flinkFolder()
	return filepath.Join(folder, "crds"), err
}

func (d Dir) flinkHosts() string { return d.Path("flink", "hosts") }

func flinkJobManagers(dir Dir, ports Ports) component {
	address := fmt.Sprintf("127.0.0.1:%d", ports.FlinkREST)
	return component{name: "flink-jobmanagers", program: "flink-jobmanagers",
		env:   []string{"KUBECONFIG=" + dir.componentKubeconfig("flink-jobmanagers")},
		args:  []string{"--listen", address, "--hosts", dir.flinkHosts()},
		ready: probePlain("http://" + address + "/stand-in/ready")}
}

func flinkOperator(dir Dir, ports Ports) (component, error) {
	folder, err := flinkFolder()
	if err != nil {
		return component{}, err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return component{}, errors.New("the Flink operator needs a Java runtime (17): run scripts/setup.sh")
	}
	conf := dir.Path("flink", "conf")
	return component{name: flinkOperatorName, program: "java", binary: java,
		env: []string{
			"KUBECONFIG=" + dir.componentKubeconfig(flinkOperatorName),
			"FLINK_CONF_DIR=" + conf, "FLINK_PLUGINS_DIR=" + dir.Path("flink", "plugins"),
			"OPERATOR_NAMESPACE=default", "OPERATOR_NAME=" + flinkOperatorName, "HOSTNAME=" + flinkOperatorName,
			// Only with this set it asks each JobManager by name, and not all of them at localhost.
			"KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=" + strconv.Itoa(ports.APIServer),
		},
		args: []string{"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
			"-Djdk.net.hosts.file=" + dir.flinkHosts(),
			"-Dsun.net.inetaddr.ttl=0", "-Dsun.net.inetaddr.negative.ttl=0",
			"-Djava.io.tmpdir=" + dir.Path("flink", "tmp"), // its pod templates stay there
			"-Dlog4j.configurationFile=" + filepath.Join(conf, "log4j2.properties"),
			// The standalone jar first: it replaces classes of another.
			"-cp", filepath.Join(folder, "lib", "flink-kubernetes-standalone-1.7.0.jar") + ":" + filepath.Join(folder, "lib", "*"),
			"org.apache.flink.kubernetes.operator.FlinkOperator"},
		ready: func() error { return flinkControllersRun(dir.log(flinkOperatorName)) },
	}, nil
}

// flinkControllersRun looks in the operator's log: its health probe would listen
// on all addresses.
func flinkControllersRun(log string) error {
	content, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	// What an earlier process of the same log said does not count.
	content = content[max(bytes.LastIndex(content, []byte("--- ")), 0):]
	for _, controller := range []string{"flinkdeploymentcontroller", "flinksessionjobcontroller"} {
		if !bytes.Contains(content, []byte("'"+controller+"' controller started")) {
			return fmt.Errorf("%s has not started", controller)
		}
	}
	return nil
}

func (s *supervisor) startFlink(ctx context.Context, api *clients) error {
	for _, folder := range []string{"conf", "plugins", "tmp"} {
		if err := os.MkdirAll(s.dir.Path("flink", folder), 0o755); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{
		"flink-conf.yaml": fmt.Sprintf(flinkConf, s.ports.FlinkREST), "log4j2.properties": flinkLogging} {
		if err := writeFile(s.dir.Path("flink", "conf", name), []byte(content)); err != nil {
			return err
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "flink", Namespace: "default"}}
	if _, err := api.kube.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := s.launchReady(ctx, flinkJobManagers(s.dir, s.ports)); err != nil {
		return err
	}
	operator, err := flinkOperator(s.dir, s.ports)
	if err != nil {
		return err
	}
	if err := s.launchReady(ctx, operator); err != nil {
		return err
	}
	s.report.say("the Flink operator runs")
	return nil
}

// addFlink installs and starts all of it in a cluster that came up without.
func (s *supervisor) addFlink(ctx context.Context) error {
	path, err := flinkCRDs()
	if err != nil {
		return err
	}
	crds, err := readCRDs([]string{path})
	if err != nil {
		return err
	}
	api, err := s.dir.connect()
	if err != nil {
		return err
	}
	if err := api.installCRDs(ctx, crds); err != nil {
		return err
	}
	// A new controller manager knows the new kinds at once, the old one in 30 s.
	if err := s.signal("kube-controller-manager", "KILL"); err != nil {
		return err
	}
	if err := s.again(ctx, "kube-controller-manager"); err != nil {
		return err
	}
	return s.startFlink(ctx, api)
}

func (s *supervisor) has(name string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.find(name) != nil
}
