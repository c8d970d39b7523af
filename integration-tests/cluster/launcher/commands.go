// Package launcher starts a Kubernetes control plane as plain processes, looks
// after it, and takes it down.
package launcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

const usage = `A Kubernetes control plane with pretended nodes, from nothing in seconds.

  esi-cluster up --dir DIR [...]           start a cluster; returns when pods are accepted
  esi-cluster down --dir DIR               end it; DIR stays, with the logs
  esi-cluster env --dir DIR                shell lines: KUBECONFIG, PATH with kubectl and helm
  esi-cluster status --dir DIR             JSON: components, pids, ports, files
  esi-cluster stop COMPONENT --dir DIR     [--signal KILL|TERM|STOP|CONT]
  esi-cluster start COMPONENT --dir DIR    returns when it serves; [--extender-url URL]
  esi-cluster nodes add --dir DIR          --count N [--prefix --cpu --memory --pods --labels]
  esi-cluster nodes remove NAME... --dir DIR
  esi-cluster kubeconfig --dir DIR         --service-account NAMESPACE/NAME [--expiration 24h]
  esi-cluster kubectl|helm ...             the programs themselves

esi-cluster COMMAND --help says more.
`

// command is one of the launcher's own commands.
type command struct {
	arguments string
	// declare adds its flags, and returns what runs it on the other arguments.
	declare func(*pflag.FlagSet, *Dir) func(args []string) error
}

var commands = map[string]command{
	"up":           {"", upCommand},
	"down":         {"", downCommand},
	"env":          {"", envCommand},
	"status":       {"", statusCommand},
	"stop":         {"COMPONENT", stopCommand},
	"start":        {"COMPONENT", startCommand},
	"nodes add":    {"", nodesAddCommand},
	"nodes remove": {"NAME...", nodesRemoveCommand},
	"kubeconfig":   {"", kubeconfigCommand},
}

// Main runs a command and returns the exit code: 0, 1 = it failed, 2 = wrong usage.
func Main(args []string) int {
	if len(args) == 2 && args[0] == "supervise" {
		return supervise(Dir(args[1]))
	}
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		fmt.Print(usage)
		return 0
	}
	name, rest := args[0], args[1:]
	if name == "nodes" && len(rest) > 0 {
		name, rest = name+" "+rest[0], rest[1:]
	}
	command, ok := commands[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "esi-cluster: no command %q\n\n%s", name, usage)
		return 2
	}
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {
		fmt.Printf("esi-cluster %s\n%s", strings.TrimSpace(name+" "+command.arguments), flags.FlagUsages())
	}
	var dir Dir
	folder := flags.String("dir", os.Getenv("ESI_CLUSTER_DIR"), "the cluster's folder (default: $ESI_CLUSTER_DIR)")
	run := command.declare(flags, &dir)
	if err := flags.Parse(rest); errors.Is(err, pflag.ErrHelp) {
		return 0
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "esi-cluster:", err)
		return 2
	}
	if *folder == "" {
		fmt.Fprintln(os.Stderr, "esi-cluster: --dir is missing: which cluster?")
		return 2
	}
	absolute, err := filepath.Abs(*folder)
	if err == nil {
		dir = Dir(absolute)
		err = run(flags.Args())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "esi-cluster %s: %v\n", name, err)
		return 1
	}
	return 0
}
