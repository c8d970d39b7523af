package launcher

import (
	"encoding/json"
	"os"
	"strings"
)

// object is a piece of configuration on its way to a file. The files are JSON,
// which every reader of YAML takes.
type object = map[string]any

func writeConfig(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(content, '\n'), 0o600)
}

func (d Dir) writeConfigs(options Options) error {
	if err := writeConfig(d.Path("config", "kube-scheduler.yaml"), schedulerConfig(d, "")); err != nil {
		return err
	}
	if options.ExtenderURL != "" {
		if err := d.writeSecondScheduler(options.ExtenderURL); err != nil {
			return err
		}
	}
	if options.Audit {
		if err := writeConfig(d.Path("config", "audit-policy.yaml"), auditPolicy()); err != nil {
			return err
		}
	}
	stages, err := kwokConfig()
	if err != nil {
		return err
	}
	return os.WriteFile(d.Path("config", "kwok.yaml"), stages, 0o600)
}

func (d Dir) writeSecondScheduler(extenderURL string) error {
	return writeConfig(d.Path("config", "second-scheduler.yaml"), schedulerConfig(d, extenderURL))
}

// schedulerConfig is the cluster's own scheduler, or, with an extender, the
// second one, which serves pods that name external-scheduler.
func schedulerConfig(dir Dir, extenderURL string) object {
	name, component := "default-scheduler", "kube-scheduler"
	if extenderURL != "" {
		name, component = "external-scheduler", "second-scheduler"
	}
	profile := object{"schedulerName": name}
	config := object{
		"apiVersion":       "kubescheduler.config.k8s.io/v1",
		"kind":             "KubeSchedulerConfiguration",
		"leaderElection":   object{"leaderElect": false},
		"clientConnection": object{"kubeconfig": dir.componentKubeconfig(component), "qps": 500, "burst": 1000},
		"profiles":         []any{profile},
		"enableProfiling":  false,
	}
	if extenderURL == "" {
		return config
	}
	// The scheduler samples nodes by default; the one node that the extender
	// would accept may not be in the sample.
	profile["percentageOfNodesToScore"] = 100
	profile["pluginConfig"] = []any{object{
		"name": "DefaultPreemption",
		"args": object{
			"apiVersion":                  "kubescheduler.config.k8s.io/v1",
			"kind":                        "DefaultPreemptionArgs",
			"minCandidateNodesPercentage": 100,
			"minCandidateNodesAbsolute":   100,
		},
	}}
	config["extenders"] = []any{object{
		"urlPrefix":   strings.TrimRight(extenderURL, "/"),
		"filterVerb":  "extender/filter",
		"preemptVerb": "extender/preemption",
		// Names instead of whole nodes: the extender has its own cache.
		"nodeCacheCapable": true,
		// The scheduler waits for the extender in its one loop.
		"httpTimeout": "1s",
		"ignorable":   false,
		"enableHTTPS": strings.HasPrefix(extenderURL, "https:"),
	}}
	return config
}

// auditPolicy keeps what tests count (writes, and reads by anybody who is not
// part of the cluster) and drops the components' own reading.
func auditPolicy() object {
	components := []string{"system:apiserver", "system:kube-controller-manager", "system:kube-scheduler",
		"kwok", "spark-operator", "spark-drivers",
		"flink-operator", "flink-jobmanagers", "esi-cluster"}
	watched := []any{
		object{"group": "esi.tu-berlin.de"},
		object{"group": "", "resources": []string{"pods", "pods/*"}},
		object{"group": "coordination.k8s.io", "resources": []string{"leases"}},
	}
	reading := []string{"get", "list", "watch"}
	return object{
		"apiVersion": "audit.k8s.io/v1",
		"kind":       "Policy",
		"rules": []any{
			object{"level": "None", "users": components, "verbs": reading},
			object{"level": "None", "userGroups": []string{"system:serviceaccounts:kube-system"}, "verbs": reading},
			object{"level": "None", "nonResourceURLs": []string{"/readyz*", "/livez*", "/healthz*", "/openapi*"}},
			// With both stages: when a request came, and when it was answered.
			object{"level": "Metadata", "resources": watched},
			object{"level": "Metadata", "omitStages": []string{"RequestReceived"}},
		},
	}
}
