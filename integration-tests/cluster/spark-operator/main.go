// The Spark operator of Kubeflow as a plain program. A module of its own: it
// is pinned to other versions of the Kubernetes libraries than the cluster.
package main

import (
	"fmt"
	"os"

	"github.com/kubeflow/spark-operator/v2/cmd/operator/controller"
	"github.com/kubeflow/spark-operator/v2/cmd/operator/version"
	"github.com/kubeflow/spark-operator/v2/cmd/operator/webhook"
	"github.com/spf13/cobra"
)

func main() {
	command := &cobra.Command{Use: "spark-operator", SilenceUsage: true}
	command.AddCommand(controller.NewCommand(), webhook.NewCommand(), version.NewCommand())
	if err := command.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
