package launcher

import "encoding/json"

// Options say what a cluster consists of. `up` writes them into the cluster's
// folder, the supervisor reads them there.
type Options struct {
	Nodes NodeSpec `json:"nodes"`
	Count int      `json:"count"`
	// Audit turns on the API server's audit log: who wrote what, and when.
	Audit bool `json:"audit"`
	// Spark runs the Spark operator and the stand-in for Spark itself.
	Spark bool `json:"spark"`
	// SparkWebhook runs the operator's admission webhook as well.
	SparkWebhook bool `json:"sparkWebhook"`
	// Flink runs the Flink operator and the stand-in for Flink's JobManagers.
	Flink bool `json:"flink"`
	// RealNodes take the place of the simulated ones.
	RealNodes RealNodes `json:"realNodes"`
	// ExtenderURL, if set, starts a second kube-scheduler (external-scheduler)
	// that asks the extender there.
	ExtenderURL string `json:"extenderURL"`
	// CRDs are files, or folders of files, installed before the controllers start.
	CRDs []string `json:"crds"`
	// ParentPID and ParentStart name the process whose end ends the cluster.
	// 0 = none.
	ParentPID   int    `json:"parentPID"`
	ParentStart uint64 `json:"parentStart"`
	// Features are extra feature gates for the API server and the schedulers.
	Features string `json:"features"`
	// Kubernetes is the binary of another version's control plane; "" = this one.
	Kubernetes string `json:"kubernetes"`
	// APIServerFlags are more flags for kube-apiserver, after its own: where both
	// name one that takes a single value, these win.
	APIServerFlags []string `json:"apiServerFlags"`
}

// NodeSpec describes pretended nodes; all of one call are alike.
type NodeSpec struct {
	Prefix string `json:"prefix"`
	CPU    string `json:"cpu"`
	Memory string `json:"memory"`
	Pods   string `json:"pods"`
	// Labels may contain {i}, which becomes the node's number.
	Labels map[string]string `json:"labels"`
}

func (d Dir) writeOptions(options Options) error {
	content, err := json.MarshalIndent(options, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(d.Path("options.json"), content)
}

func (d Dir) readOptions() (Options, error) {
	var options Options
	return options, readJSON(d.Path("options.json"), &options)
}
