package launcher

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/component-base/version"
)

// What a binary of another version of Kubernetes (versions/) takes over from this one.
var kubernetesPrograms = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}

// kubernetesBinary is the path of the control plane of that minor version, such as
// 1.34; "" = this binary's own.
func kubernetesBinary(minor string) (string, error) {
	if minor == "" || strings.HasPrefix(version.Get().GitVersion, "v"+minor+".") {
		return "", nil
	}
	path, err := besideBinary("kubernetes-" + minor)
	if err != nil {
		return "", fmt.Errorf("no control plane of Kubernetes %s is built: K8S=%s build.sh makes it", minor, minor)
	}
	return path, nil
}

// binaryOf is the binary that runs the component; "" = this one.
func binaryOf(c component, options Options) string {
	if c.binary == "" && slices.Contains(kubernetesPrograms, c.program) {
		return options.Kubernetes
	}
	return c.binary
}
