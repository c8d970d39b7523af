package launcher

import "testing"

func TestANodeCarriesItsNumber(t *testing.T) {
	spec := NodeSpec{Prefix: "worker", CPU: "4", Memory: "16Gi", Pods: "110",
		Labels: map[string]string{"testbed": "{i}", "rack": "r-{i}", "fixed": "x"}}
	node, err := spec.manifest(7)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"testbed": "7", "rack": "r-7", "fixed": "x",
		nodeLabel: "fake", "kubernetes.io/hostname": "worker-7"}
	for key, value := range want {
		if node.Labels[key] != value {
			t.Errorf("label %s is %q, want %q", key, node.Labels[key], value)
		}
	}
	if node.Name != "worker-7" || node.Status.Allocatable.Cpu().String() != "4" {
		t.Errorf("node %s has %s CPUs, want worker-7 with 4", node.Name, node.Status.Allocatable.Cpu())
	}
}

func TestAWrongAmountNamesTheNode(t *testing.T) {
	spec := NodeSpec{Prefix: "node", CPU: "two", Memory: "8Gi", Pods: "110"}
	if _, err := spec.manifest(0); err == nil {
		t.Error("two CPUs in letters were accepted")
	}
}
