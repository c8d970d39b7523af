// esi-cluster is a real Kubernetes control plane, with pretended nodes, in one
// file: it starts one from nothing in seconds, without containers and without
// rights, and leaves nothing behind. README.md has the commands.
package main

import (
	"os"
	"path/filepath"

	"esi/integration-tests/cluster/flinkstub"
	"esi/integration-tests/cluster/launcher"
	"esi/integration-tests/cluster/sparkstub"
)

// The stand-ins for Spark and Flink: they are reached by name, as the upstream programs are.
var standIns = map[string]func([]string) int{
	"spark-submit":      sparkstub.Submit,
	"spark-drivers":     sparkstub.HostDrivers,
	"flink-jobmanagers": flinkstub.HostJobManagers,
}

// Which program this is says argv[0] (a symlink, or the name the supervisor
// gave), or else the first argument.
func main() {
	dispatch(filepath.Base(os.Args[0]))
	if len(os.Args) > 1 {
		own := os.Args
		os.Args = os.Args[1:]
		dispatch(os.Args[0])
		os.Args = own
	}
	os.Exit(launcher.Main(os.Args[1:]))
}

// dispatch runs the program of that name and does not return if there is one.
func dispatch(name string) {
	if run, ok := standIns[name]; ok {
		os.Exit(run(os.Args[1:]))
	}
	if run, ok := upstream[name]; ok {
		run()
		os.Exit(0)
	}
}
