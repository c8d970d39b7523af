package launcher

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

func nodeFlags(flags *pflag.FlagSet, prefix string) (spec *NodeSpec, labels *string) {
	spec = &NodeSpec{}
	flags.StringVar(&spec.CPU, prefix+"cpu", "2", "CPUs of a node")
	flags.StringVar(&spec.Memory, prefix+"memory", "8Gi", "memory of a node")
	flags.StringVar(&spec.Pods, prefix+"pods", "110", "pods that a node takes")
	labels = flags.String(prefix+"labels", "", "labels of the nodes, k=v,...; {i} is the node's number")
	return spec, labels
}

func upCommand(flags *pflag.FlagSet, dir *Dir) func([]string) error {
	var options Options
	var crds []string
	var kubernetes string
	flags.IntVar(&options.Count, "nodes", 3, "number of nodes, node-0 and so on")
	spec, labels := nodeFlags(flags, "node-")
	flags.BoolVar(&options.Audit, "audit", false, "write DIR/audit.log")
	flags.BoolVar(&options.Spark, "spark", false, "run the Spark operator with a stand-in for Spark")
	flags.BoolVar(&options.SparkWebhook, "spark-webhook", false, "run the Spark operator's webhook too")
	flags.BoolVar(&options.Flink, "flink-operator", false, "run the Flink operator with a stand-in for Flink's JobManagers")
	realNodesFlags(flags, &options.RealNodes)
	flags.StringVar(&options.ExtenderURL, "second-scheduler", "",
		"run the second scheduler, external-scheduler, with the extender at this URL (it adds /extender/filter and so on)")
	flags.StringArrayVar(&crds, "crds", nil, "a CRD file, or a folder of them; may be repeated, and more may follow as arguments")
	flags.IntVar(&options.ParentPID, "parent-pid", 0, "end the cluster when this process ends")
	flags.StringVar(&options.Features, "feature-gates", "", "for the API server and the schedulers, A=true,B=false")
	flags.StringVar(&kubernetes, "kubernetes", os.Getenv("K8S"),
		"minor version of the control plane, such as 1.34, if that is built (default: $K8S, else this program's own)")
	flags.StringArrayVar(&options.APIServerFlags, "apiserver-flag", nil,
		"one more flag for kube-apiserver, --NAME=VALUE; may be repeated")
	return func(args []string) error {
		var err error
		spec.Prefix = "node"
		if spec.Labels, err = splitLabels(*labels); err != nil {
			return err
		}
		options.Nodes = *spec
		if options.CRDs, err = existing(append(crds, args...)); err != nil {
			return err
		}
		if options.Kubernetes, err = kubernetesBinary(kubernetes); err != nil {
			return err
		}
		if err := options.RealNodes.check(); err != nil {
			return err
		}
		if options.RealNodes.exist() {
			options.Count = 0
		}
		if err := checkFlags(options.APIServerFlags); err != nil {
			return err
		}
		options.Spark = options.Spark || options.SparkWebhook
		if options.ParentPID != 0 {
			parent, err := identify(options.ParentPID)
			if err != nil {
				return fmt.Errorf("--parent-pid %d: no such process", options.ParentPID)
			}
			options.ParentStart = parent.Start
		}
		return up(*dir, options)
	}
}

// existing returns the absolute paths of files that must be there.
func existing(paths []string) ([]string, error) {
	var absolute []string
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, err
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		absolute = append(absolute, path)
	}
	return absolute, nil
}

// checkFlags wants each flag in one piece: what does not look like one would be
// taken for an argument, of which kube-apiserver has none.
func checkFlags(given []string) error {
	for _, flag := range given {
		if !strings.HasPrefix(flag, "--") {
			return fmt.Errorf("--apiserver-flag %q: want --apiserver-flag=--NAME=VALUE", flag)
		}
	}
	return nil
}

func up(dir Dir, options Options) error {
	if err := os.MkdirAll(string(dir), 0o755); err != nil {
		return err
	}
	if state, err := dir.lastState(); err == nil && state.Running {
		return fmt.Errorf("a cluster runs in %s already (pid %d)", dir, state.Supervisor.PID)
	}
	if err := dir.prepare(); err != nil {
		return err
	}
	if err := dir.writeOptions(options); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range []string{"kubectl", "helm", "esi-cluster"} {
		if err := os.Symlink(self, dir.Path("bin", name)); err != nil {
			return err
		}
	}
	begin := time.Now()
	lines, err := startSupervisor(dir, self)
	if err != nil {
		return err
	}
	defer lines.Close()
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		switch line := scanner.Text(); {
		case line == lastLineReady:
			fmt.Printf("up in %.1f s; eval \"$(%s env --dir %s)\"\n", time.Since(begin).Seconds(), os.Args[0], dir)
			return nil
		case strings.HasPrefix(line, lastLineFailed):
			return fmt.Errorf("%s; logs are in %s", strings.TrimPrefix(line, lastLineFailed), dir.Path("logs"))
		default:
			fmt.Println(line)
		}
	}
	return errors.New("the supervisor has ended; its log is " + dir.log("supervisor"))
}

// startSupervisor starts it as the leader of a session of its own, so that it
// outlives the shell, and returns the pipe with its progress.
func startSupervisor(dir Dir, self string) (*os.File, error) {
	log, err := os.OpenFile(dir.log("supervisor"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	command := exec.Command(self, "supervise", string(dir))
	command.Args[0] = "esi-cluster"
	command.Dir = "/"
	command.Env = append(os.Environ(), progressVariable+"=1")
	command.Stdout, command.Stderr = log, log
	command.ExtraFiles = []*os.File{writer}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		reader.Close()
		return nil, err
	}
	return reader, command.Process.Release()
}
