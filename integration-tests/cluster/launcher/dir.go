package launcher

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Dir is the folder of one cluster. Everything the cluster writes is in it.
type Dir string

// Path is a file in the folder.
func (d Dir) Path(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

// What a cluster makes in its folder; `up` clears exactly these, so that a
// wrong --dir costs nobody their files.
var ownFolders = []string{"bin", "config", "etcd", "flink", "kube-cache", "logs", "pki", "run", "spark"}
var ownFiles = []string{"options.json", "state.json", "kubeconfig", "audit.log", "supervisor.sock"}

func (d Dir) prepare() error {
	for _, name := range append(append([]string{}, ownFolders...), ownFiles...) {
		if err := os.RemoveAll(d.Path(name)); err != nil {
			return err
		}
	}
	for _, name := range ownFolders {
		if err := os.MkdirAll(d.Path(name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Kubeconfig is the administrator's.
func (d Dir) Kubeconfig() string { return d.Path("kubeconfig") }

func (d Dir) componentKubeconfig(component string) string {
	return d.Path("config", component+".kubeconfig")
}

func (d Dir) log(component string) string { return d.Path("logs", component+".log") }

// writeFile replaces a file in one step, so that a reader never sees half of it.
func writeFile(path string, content []byte) error {
	temporary := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

func readJSON(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
