package launcher

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientapi "k8s.io/client-go/tools/clientcmd/api"
)

// newKubeconfig builds a kubeconfig with one context; fill says who logs in.
func newKubeconfig(server string, ca []byte, fill func(*clientapi.AuthInfo)) *clientapi.Config {
	config := clientapi.NewConfig()
	config.Clusters["esi"] = &clientapi.Cluster{Server: server, CertificateAuthorityData: ca}
	user := clientapi.NewAuthInfo()
	fill(user)
	config.AuthInfos["esi"] = user
	config.Contexts["esi"] = &clientapi.Context{Cluster: "esi", AuthInfo: "esi", Namespace: "default"}
	config.CurrentContext = "esi"
	return config
}

// writeKubeconfigs makes the administrator's kubeconfig and one per component.
func (d Dir) writeKubeconfigs(server string) error {
	ca, err := os.ReadFile(d.Path("pki", "ca.crt"))
	if err != nil {
		return err
	}
	certificate, err := os.ReadFile(d.Path("pki", "admin.crt"))
	if err != nil {
		return err
	}
	key, err := os.ReadFile(d.Path("pki", "admin.key"))
	if err != nil {
		return err
	}
	admin := newKubeconfig(server, ca, func(user *clientapi.AuthInfo) {
		user.ClientCertificateData = certificate
		user.ClientKeyData = key
	})
	if err := clientcmd.WriteToFile(*admin, d.Kubeconfig()); err != nil {
		return err
	}
	tokens, err := readTokens(d.Path("pki", "tokens.csv"))
	if err != nil {
		return err
	}
	for component, token := range tokens {
		config := newKubeconfig(server, ca, func(user *clientapi.AuthInfo) { user.Token = token })
		if err := clientcmd.WriteToFile(*config, d.componentKubeconfig(component)); err != nil {
			return err
		}
	}
	return nil
}

// clients are the launcher's own ways into the API.
type clients struct {
	config  *rest.Config
	kube    *kubernetes.Clientset
	dynamic *dynamic.DynamicClient
}

func (d Dir) connect() (*clients, error) {
	config, err := clientcmd.BuildConfigFromFlags("", d.componentKubeconfig("launcher"))
	if err != nil {
		return nil, fmt.Errorf("no cluster in %s: %w", d, err)
	}
	config.QPS = -1              // no limit of the client's: the server has its own
	config.Timeout = time.Minute // the API server itself waits no longer
	config.UserAgent = "esi-cluster"
	// Warnings about deprecated things in other people's CRDs are no news here.
	config.WarningHandler = rest.NoWarnings{}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &clients{config, kube, dynamicClient}, nil
}

// probe returns a check that a URL answers 200. Only a server with our
// certificate counts: another cluster's on the same port would not do.
func (c *clients) probe(url string) (func() error, error) {
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return nil, err
	}
	return func() error { return expectOK(client, url) }, nil
}

func probePlain(url string) func() error {
	client := &http.Client{Timeout: 2 * time.Second}
	return func() error { return expectOK(client, url) }
}

// probeSelfSigned asks a component that made its own certificate. Its port is
// ours alone (ports.go), so who answers is known without it.
func probeSelfSigned(port int) func() error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	url := fmt.Sprintf("https://127.0.0.1:%d/healthz", port)
	return func() error { return expectOK(client, url) }
}

func expectOK(client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
