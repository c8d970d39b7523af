package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// component is one program of the cluster and how it is run.
type component struct {
	name    string
	program string // what the binary is to be: its argv[0]
	binary  string // "" = this binary
	args    []string
	env     []string
	// ready, if set, says nil when the program serves.
	ready func() error
}

// Ports of one cluster, on loopback.
type Ports struct {
	Host string `json:"host"` // the API server's: loopback but for real nodes

	EtcdClient      int `json:"etcdClient"`
	EtcdPeer        int `json:"etcdPeer"`
	APIServer       int `json:"apiServer"`
	Controllers     int `json:"controllerManager"`
	Scheduler       int `json:"scheduler"`
	SecondScheduler int `json:"secondScheduler"`
	SparkOperator   int `json:"sparkOperator"`
	SparkWebhook    int `json:"sparkWebhook"`
	SparkWebhookTLS int `json:"sparkWebhookTLS"`
	FlinkREST       int `json:"flinkREST"`
}

func takePorts(pool *portPool, host string) (Ports, error) {
	ports := Ports{Host: host}
	for _, port := range []*int{&ports.EtcdClient, &ports.EtcdPeer, &ports.APIServer, &ports.Controllers,
		&ports.Scheduler, &ports.SecondScheduler, &ports.SparkOperator, &ports.SparkWebhook, &ports.SparkWebhookTLS,
		&ports.FlinkREST} {
		taken, err := pool.take()
		if err != nil {
			return ports, err
		}
		*port = taken
	}
	return ports, nil
}

// Server is the API server's address.
func (p Ports) Server() string { return fmt.Sprintf("https://%s:%d", p.Host, p.APIServer) }

func loopback(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

func etcd(dir Dir, ports Ports) component {
	return component{name: "etcd", program: "etcd", args: []string{
		"--name=esi", "--data-dir=" + dir.Path("etcd"),
		"--listen-client-urls=" + loopback(ports.EtcdClient),
		"--advertise-client-urls=" + loopback(ports.EtcdClient),
		"--listen-peer-urls=" + loopback(ports.EtcdPeer),
		"--initial-advertise-peer-urls=" + loopback(ports.EtcdPeer),
		"--initial-cluster=esi=" + loopback(ports.EtcdPeer),
		// Nothing here outlives the cluster: no need to wait for the disk.
		"--unsafe-no-fsync", "--log-level=warn", "--quota-backend-bytes=4294967296",
	}}
}

func apiServer(dir Dir, ports Ports, options Options) component {
	pki := func(name string) string { return dir.Path("pki", name) }
	args := []string{
		"--etcd-servers=" + loopback(ports.EtcdClient),
		"--bind-address=" + ports.Host, "--advertise-address=" + ports.Host,
		"--secure-port=" + strconv.Itoa(ports.APIServer),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=Node,RBAC",
		"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
		"--client-ca-file=" + pki("ca.crt"), "--token-auth-file=" + pki("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki("service-account.pub"),
		"--service-account-signing-key-file=" + pki("service-account.key"),
		"--requestheader-client-ca-file=" + pki("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki("front-proxy.crt"), "--proxy-client-key-file=" + pki("front-proxy.key"),
		"--allow-privileged=true", "--profiling=false",
	}
	args = append(args, options.RealNodes.apiServerFlags(dir)...)
	if options.Audit {
		args = append(args,
			"--audit-policy-file="+dir.Path("config", "audit-policy.yaml"),
			"--audit-log-path="+dir.Path("audit.log"),
			"--audit-log-maxsize=10000") // MB; a rotated log would look like missing writes
	}
	if options.Features != "" {
		args = append(args, "--feature-gates="+options.Features)
	}
	args = append(args, options.APIServerFlags...)
	return component{name: "kube-apiserver", program: "kube-apiserver", args: args}
}

func controllerManager(dir Dir, ports Ports) component {
	kubeconfig := dir.componentKubeconfig("kube-controller-manager")
	return component{name: "kube-controller-manager", program: "kube-controller-manager", args: []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(ports.Controllers),
		"--cert-dir=" + dir.Path("run", "kube-controller-manager"),
		"--leader-elect=false", "--use-service-account-credentials=true",
		"--controllers=*,-node-ipam-controller",
		"--service-account-private-key-file=" + dir.Path("pki", "service-account.key"),
		"--root-ca-file=" + dir.Path("pki", "ca.crt"),
		"--kube-api-qps=500", "--kube-api-burst=1000", "--profiling=false",
	}, ready: probeSelfSigned(ports.Controllers)}
}

func scheduler(dir Dir, name string, port int, options Options) component {
	kubeconfig := dir.componentKubeconfig(name)
	args := []string{
		"--config=" + dir.Path("config", name+".yaml"),
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + dir.Path("run", name),
	}
	if options.Features != "" {
		args = append(args, "--feature-gates="+options.Features)
	}
	return component{name: name, program: "kube-scheduler", args: args, ready: probeSelfSigned(port)}
}

func kwok(dir Dir) component {
	return component{name: "kwok", program: "kwok",
		// Its own default folder is in the user's home, where other versions' settings may be.
		env: []string{"KWOK_WORKDIR=" + dir.Path("run", "kwok")},
		args: []string{
			"--kubeconfig=" + dir.componentKubeconfig("kwok"),
			"--config=" + dir.Path("config", "kwok.yaml"),
			"--manage-nodes-with-label-selector=" + nodeLabel + "=fake",
		}}
}

// sparkEnvironment is what spark-submit needs besides its arguments: the
// operator hands its own environment down to it.
func sparkEnvironment(dir Dir, ports Ports) []string {
	return []string{
		"SPARK_HOME=" + dir.Path("spark"),
		"KUBERNETES_SERVICE_HOST=" + ports.Host,
		"KUBERNETES_SERVICE_PORT=" + strconv.Itoa(ports.APIServer),
		"KUBECONFIG=" + dir.componentKubeconfig("spark-drivers"),
		"ESI_CLUSTER_DIR=" + string(dir),
	}
}

func sparkOperator(dir Dir, ports Ports) (component, error) {
	binary, err := sparkOperatorBinary()
	if err != nil {
		return component{}, err
	}
	return component{name: "spark-operator", program: "spark-operator", binary: binary,
		env: sparkEnvironment(dir, ports),
		args: []string{"controller", "start",
			"--kubeconfig", dir.componentKubeconfig("spark-operator"),
			"--namespaces=", // all
			"--leader-election=false", "--metrics-bind-address", "0",
			"--health-probe-bind-address", fmt.Sprintf("127.0.0.1:%d", ports.SparkOperator),
			"--enable-ui-service=false",
			"--workqueue-ratelimiter-bucket-qps", "50", "--workqueue-ratelimiter-bucket-size", "500",
			"--kube-api-qps", "100", "--kube-api-burst", "200", "--controller-threads", "4",
		},
		ready: probePlain(loopback(ports.SparkOperator) + "/readyz"),
	}, nil
}

func sparkDrivers(dir Dir, ports Ports) component {
	return component{name: "spark-drivers", program: "spark-drivers",
		env:  sparkEnvironment(dir, ports),
		args: []string{"--jobs", dir.Path("spark", "jobs")}}
}

// besideBinary is a file that build.sh put next to this program.
func besideBinary(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing beside %s: build both with build.sh", name, self)
	}
	return path, nil
}

func sparkOperatorBinary() (string, error) { return besideBinary("spark-operator") }

func sparkCRDs() (string, error) { return besideBinary("spark-crds") }
