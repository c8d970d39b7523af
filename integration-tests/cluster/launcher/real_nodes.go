package launcher

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
)

// RealNodes are nodes with kubelets of their own (integration-tests/node), which
// somebody else starts. Here is what the control plane has to have for them; with
// none, everything is on loopback and kwok plays the nodes.
type RealNodes struct {
	// Names of the nodes, each of which gets an identity, DIR/config/node-NAME.kubeconfig,
	// beside those of kube-proxy and coredns.
	Names []string `json:"names"`
	// Address is the machine's own address that the nodes reach the API server at.
	Address string `json:"address"`
}

func realNodesFlags(flags *pflag.FlagSet, nodes *RealNodes) {
	flags.StringSliceVar(&nodes.Names, "real-nodes", nil,
		"names of nodes with kubelets, started by integration-tests/node; none is simulated then")
	flags.StringVar(&nodes.Address, "address", "", "with --real-nodes: this machine's address, where the nodes reach the API server")
}

func (n RealNodes) exist() bool { return len(n.Names) > 0 }

func (n RealNodes) check() error {
	switch {
	case n.exist() && net.ParseIP(n.Address) == nil:
		return fmt.Errorf("--real-nodes: --address %q is no IP address", n.Address)
	case !n.exist() && n.Address != "":
		return errors.New("--address is for --real-nodes only")
	}
	return nil
}

// host is where the API server listens.
func (n RealNodes) host() string {
	if n.exist() {
		return n.Address
	}
	return "127.0.0.1"
}

// users are the identities of what runs on the nodes, and of their DNS.
func (n RealNodes) users() []tokenUser {
	if !n.exist() {
		return nil
	}
	users := []tokenUser{{"kube-proxy", "system:kube-proxy", ""}, {"coredns", "coredns", ""}}
	for _, name := range n.Names {
		users = append(users, tokenUser{"node-" + name, "system:node:" + name, "system:nodes"})
	}
	return users
}

// apiServerFlags let pods find the API server behind the Service `kubernetes`, it
// find the kubelets (logs, exec, port-forward), and each kubelet write only what
// is its own.
func (n RealNodes) apiServerFlags(dir Dir) []string {
	if !n.exist() {
		return []string{"--endpoint-reconciler-type=none"}
	}
	return []string{
		"--endpoint-reconciler-type=lease",
		"--enable-admission-plugins=NodeRestriction",
		"--kubelet-client-certificate=" + dir.Path("pki", "admin.crt"),
		"--kubelet-client-key=" + dir.Path("pki", "admin.key"),
		"--kubelet-preferred-address-types=InternalIP",
	}
}
