// Nodeparts is what a real node runs of Kubernetes: kubelet and kube-proxy, in one binary, by the name
// it is called by or by its first argument. It is apart from esi-cluster so that only who wants real
// nodes (integration-tests/node) builds it; it is in the same module because the two share nearly all
// packages, which are compiled once.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	programs := map[string]func() *cobra.Command{
		"kubelet":    func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
		"kube-proxy": kubeproxy.NewProxyCommand,
	}
	program, ok := programs[filepath.Base(os.Args[0])]
	if !ok && len(os.Args) > 1 {
		program, ok = programs[os.Args[1]]
		os.Args = os.Args[1:]
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: nodeparts kubelet|kube-proxy ...")
		os.Exit(2)
	}
	os.Exit(cli.Run(program()))
}
