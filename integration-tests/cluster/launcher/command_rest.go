package launcher

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientapi "k8s.io/client-go/tools/clientcmd/api"
)

func downCommand(_ *pflag.FlagSet, dir *Dir) func([]string) error {
	return func([]string) error {
		state, err := dir.lastState()
		if os.IsNotExist(err) {
			return nil // never was up, or is cleared away: as wanted
		} else if err != nil {
			return err
		}
		_, err = dir.call("POST", "/down", nil)
		if err != nil && !errors.Is(err, errNoSupervisor) {
			// It does not answer: the kernel ends its children with it.
			_ = state.Supervisor.kill(syscall.SIGKILL)
		}
		deadline := time.Now().Add(30 * time.Second)
		for state.Supervisor.alive() {
			if time.Now().After(deadline) {
				_ = state.Supervisor.kill(syscall.SIGKILL)
			}
			time.Sleep(20 * time.Millisecond)
		}
		// Normally none is left. state.json is read again: it names all by now.
		if state, err = dir.lastState(); err == nil {
			for _, component := range state.Components {
				_ = component.kill(syscall.SIGKILL)
			}
		}
		return nil
	}
}

func envCommand(_ *pflag.FlagSet, dir *Dir) func([]string) error {
	return func([]string) error {
		state, err := dir.lastState()
		if err != nil {
			return fmt.Errorf("%s: %w", *dir, errNoSupervisor)
		}
		fmt.Printf("export ESI_CLUSTER_DIR=%s\n", quote(string(*dir)))
		fmt.Printf("export ESI_CLUSTER_SERVER=%s\n", quote(state.Server))
		fmt.Printf("export KUBECONFIG=%s\n", quote(state.Kubeconfig))
		// kubectl remembers what a server at an address serves; the next cluster
		// may have the address.
		fmt.Printf("export KUBECACHEDIR=%s\n", quote(dir.Path("kube-cache")))
		fmt.Printf("export PATH=%s:$PATH\n", quote(dir.Path("bin")))
		return nil
	}
}

// quote makes one word for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func statusCommand(_ *pflag.FlagSet, dir *Dir) func([]string) error {
	return func([]string) error {
		body, err := dir.call("GET", "/status", nil)
		if errors.Is(err, errNoSupervisor) {
			var state State
			if state, err = dir.lastState(); err != nil {
				return fmt.Errorf("%s: %w", *dir, errNoSupervisor)
			}
			return printJSON(state)
		} else if err != nil {
			return err
		}
		return reprintJSON(body)
	}
}

func stopCommand(flags *pflag.FlagSet, dir *Dir) func([]string) error {
	signal := flags.String("signal", "KILL", "KILL, TERM, STOP (pause) or CONT (go on)")
	return func(args []string) error {
		return eachComponent(args, func(name string) error {
			_, err := dir.call("POST", "/stop", url.Values{"component": {name}, "signal": {*signal}})
			return err
		})
	}
}

func startCommand(flags *pflag.FlagSet, dir *Dir) func([]string) error {
	extender := flags.String("extender-url", "", "for second-scheduler: its extender from now on")
	return func(args []string) error {
		return eachComponent(args, func(name string) error {
			form := url.Values{"component": {name}}
			if *extender != "" {
				if name != "second-scheduler" {
					return errors.New("--extender-url is for second-scheduler")
				}
				form.Set("extender", *extender)
			}
			_, err := dir.call("POST", "/start", form)
			return err
		})
	}
}

func eachComponent(names []string, act func(string) error) error {
	if len(names) == 0 {
		return errors.New("which component? `status` lists them")
	}
	for _, name := range names {
		if err := act(name); err != nil {
			return err
		}
	}
	return nil
}

// commandTime bounds a command that talks to the API.
func commandTime(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), limit, fmt.Errorf("waited for %s", limit))
}

func nodesAddCommand(flags *pflag.FlagSet, dir *Dir) func([]string) error {
	count := flags.Int("count", 1, "number of nodes")
	prefix := flags.String("prefix", "node", "names are PREFIX-NUMBER")
	spec, labels := nodeFlags(flags, "")
	return func([]string) error {
		var err error
		spec.Prefix = *prefix
		if spec.Labels, err = splitLabels(*labels); err != nil {
			return err
		}
		api, err := dir.connect()
		if err != nil {
			return err
		}
		ctx, cancel := commandTime(patience)
		defer cancel()
		names, err := api.createNodes(ctx, *spec, *count)
		if err != nil {
			return err
		}
		if err := api.awaitNodes(ctx, names); err != nil {
			return err
		}
		fmt.Println(strings.Join(names, "\n"))
		return nil
	}
}

func nodesRemoveCommand(_ *pflag.FlagSet, dir *Dir) func([]string) error {
	return func(args []string) error {
		if len(args) == 0 {
			return errors.New("which node?")
		}
		api, err := dir.connect()
		if err != nil {
			return err
		}
		ctx, cancel := commandTime(patience)
		defer cancel()
		for _, name := range args {
			if err := api.kube.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
}

func kubeconfigCommand(flags *pflag.FlagSet, dir *Dir) func([]string) error {
	account := flags.String("service-account", "", "NAMESPACE/NAME")
	expiration := flags.Duration("expiration", 24*time.Hour, "how long its token is good for (at least 10m)")
	return func([]string) error {
		namespace, name, ok := strings.Cut(*account, "/")
		if !ok {
			return errors.New("--service-account NAMESPACE/NAME is missing")
		}
		api, err := dir.connect()
		if err != nil {
			return err
		}
		ctx, cancel := commandTime(patience)
		defer cancel()
		seconds := int64(expiration.Seconds())
		token, err := api.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
			&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
			metav1.CreateOptions{})
		if err != nil {
			return err
		}
		ca, err := os.ReadFile(dir.Path("pki", "ca.crt"))
		if err != nil {
			return err
		}
		config := newKubeconfig(api.config.Host, ca,
			func(user *clientapi.AuthInfo) { user.Token = token.Status.Token })
		content, err := clientcmd.Write(*config)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(content)
		return err
	}
}
