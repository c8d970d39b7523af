package main

// The upstream programs that this binary contains. Each is the program's own
// main function, reduced to the lines that matter. They are linked into one
// static binary because they share nearly all of their code: one build, one
// file of 150 MB instead of seven with 700.

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	helmcmd "helm.sh/helm/v4/pkg/cmd"
	helmkube "helm.sh/helm/v4/pkg/kube"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwokcmd "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	kwoksignals "sigs.k8s.io/kwok/pkg/utils/signals"
)

// upstream maps a program's name to its main function, which finds its
// arguments in os.Args as if it were alone.
var upstream = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { runComponent(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { runComponent(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() { runComponent(scheduler.NewSchedulerCommand()) },
	"kubectl":                 runKubectl,
	"helm":                    runHelm,
	"kwok":                    runKwok,
}

func runComponent(command *cobra.Command) { os.Exit(cli.Run(command)) }

// dropGlobalFlags forgets what the linked packages put into the global flag
// set. One of them registers a `version` flag that takes a value; cobra merges
// it into every command, where it collides with the command's own --version.
func dropGlobalFlags() {
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ExitOnError)
}

func runKubectl() {
	dropGlobalFlags()
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)) // a wrong -v is reported by the flag parser
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

func runHelm() {
	dropGlobalFlags()
	helmkube.ManagedFieldsManager = "helm"
	command, err := helmcmd.NewRootCmd(os.Stdout, os.Args[1:], helmcmd.SetupLogging)
	if err != nil {
		slog.Error("helm", "error", err)
		os.Exit(1)
	}
	if err := command.Execute(); err != nil {
		var status helmcmd.CommandError
		if errors.As(err, &status) {
			os.Exit(status.ExitCode)
		}
		os.Exit(1)
	}
}

func runKwok() {
	dropGlobalFlags()
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := kwoklog.InitFlags(kwoksignals.SetupSignalContext(), flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err == nil {
		command := kwokcmd.NewCommand(ctx)
		command.PersistentFlags().AddFlagSet(flags)
		err = command.ExecuteContext(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		os.Exit(1)
	}
}
