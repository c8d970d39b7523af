package launcher

import (
	"strings"
	"testing"
)

func TestAnotherVersionTakesOverTheControlPlaneAlone(t *testing.T) {
	options := Options{Kubernetes: "/cache/kubernetes-1.34"}
	for _, c := range []struct {
		component component
		want      string
	}{
		{apiServer("/tmp/c", Ports{}, options), "/cache/kubernetes-1.34"},
		{controllerManager("/tmp/c", Ports{}), "/cache/kubernetes-1.34"},
		{scheduler("/tmp/c", "second-scheduler", 1, options), "/cache/kubernetes-1.34"},
		{etcd("/tmp/c", Ports{}), ""},
		{kwok("/tmp/c"), ""},
		{component{name: "spark-operator", program: "spark-operator", binary: "/cache/spark-operator"}, "/cache/spark-operator"},
	} {
		if got := binaryOf(c.component, options); got != c.want {
			t.Errorf("%s runs from %q, want %q", c.component.name, got, c.want)
		}
		if got := binaryOf(c.component, Options{}); got != c.component.binary {
			t.Errorf("without another version %s runs from %q, want %q", c.component.name, got, c.component.binary)
		}
	}
}

func TestAVersionThatIsNotBuiltIsNamed(t *testing.T) {
	if _, err := kubernetesBinary("1.2"); err == nil || !strings.Contains(err.Error(), "K8S=1.2 build.sh") {
		t.Errorf("version 1.2 gives the error %v, want one that says how to build it", err)
	}
	if path, err := kubernetesBinary(""); path != "" || err != nil {
		t.Errorf("no version gives %q, %v; want this binary's own", path, err)
	}
}
