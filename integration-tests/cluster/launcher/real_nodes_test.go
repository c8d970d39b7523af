package launcher

import (
	"slices"
	"testing"
)

func TestRealNodesNeedAnAddress(t *testing.T) {
	for _, nodes := range []RealNodes{{Names: []string{"a"}}, {Names: []string{"a"}, Address: "bridge"}, {Address: "10.0.0.1"}} {
		if nodes.check() == nil {
			t.Errorf("%+v is taken", nodes)
		}
	}
	for _, nodes := range []RealNodes{{}, {Names: []string{"a"}, Address: "10.0.0.1"}} {
		if err := nodes.check(); err != nil {
			t.Errorf("%+v is refused: %v", nodes, err)
		}
	}
}

func TestRealNodesHaveIdentitiesOfTheirOwn(t *testing.T) {
	users := RealNodes{Names: []string{"a", "b"}, Address: "10.0.0.1"}.users()
	for _, wanted := range []tokenUser{{"node-a", "system:node:a", "system:nodes"}, {"node-b", "system:node:b", "system:nodes"},
		{"kube-proxy", "system:kube-proxy", ""}, {"coredns", "coredns", ""}} {
		if !slices.Contains(users, wanted) {
			t.Errorf("%+v is missing in %+v", wanted, users)
		}
	}
}

func TestWithoutRealNodesTheAPIServerIsOnLoopback(t *testing.T) {
	server := apiServer("/tmp/c", Ports{APIServer: 1234, Host: RealNodes{}.host()}, Options{})
	for _, flag := range []string{"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"} {
		if !slices.Contains(server.args, flag) {
			t.Errorf("%s is missing in %q", flag, server.args)
		}
	}
}

func TestWithRealNodesTheAPIServerIsWhereTheyReachIt(t *testing.T) {
	nodes := RealNodes{Names: []string{"a"}, Address: "10.0.0.1"}
	ports := Ports{APIServer: 1234, Host: nodes.host()}
	server := apiServer("/tmp/c", ports, Options{RealNodes: nodes})
	for _, flag := range []string{"--bind-address=10.0.0.1", "--advertise-address=10.0.0.1", "--endpoint-reconciler-type=lease",
		"--enable-admission-plugins=NodeRestriction"} {
		if !slices.Contains(server.args, flag) {
			t.Errorf("%s is missing in %q", flag, server.args)
		}
	}
	if ports.Server() != "https://10.0.0.1:1234" {
		t.Error(ports.Server())
	}
}
