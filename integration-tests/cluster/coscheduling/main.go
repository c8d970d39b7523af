// kube-scheduler of Kubernetes 1.34 with the plugin Coscheduling of
// sigs.k8s.io/scheduler-plugins: gangs as that project starts them, which the
// benchmark of gangs (../../bench/gang_bench.py) runs beside ESI's. It is the main
// function of scheduler-plugins, reduced to this one plugin.
package main

import (
	"os"
	_ "time/tzdata"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	_ "sigs.k8s.io/scheduler-plugins/apis/config/scheme" // CoschedulingArgs
	"sigs.k8s.io/scheduler-plugins/pkg/coscheduling"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(coscheduling.Name, coscheduling.New))))
}
