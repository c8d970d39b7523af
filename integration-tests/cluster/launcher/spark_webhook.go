package launcher

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509/pkix"
	"fmt"
	"os"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Spark operator's webhook as a process of its own. It takes its key from a
// secret, as if cert-manager had made it: that way alone it leaves the webhook
// configurations to us, who must write an address into them instead of a Service,
// because nothing here routes to Services.

const webhookSecret = "spark-operator-webhook-certs"

func (s *supervisor) startSparkWebhook(ctx context.Context, api *clients) error {
	folder := s.dir.Path("pki", "spark-webhook")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	ca, err := newAuthority(folder, "ca", "esi-cluster-spark-webhook")
	if err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048) // it reads RSA keys (PKCS#1) only
	if err != nil {
		return err
	}
	if err := writeKeyPair(folder, "tls", key); err != nil {
		return err
	}
	if err := ca.sign(folder, "tls", pkix.Name{CommonName: "spark-webhook"}, []string{"localhost"}, key); err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: webhookSecret, Namespace: "default"}, Data: map[string][]byte{}}
	for _, name := range []string{"ca.crt", "tls.crt", "tls.key"} {
		if secret.Data[name], err = os.ReadFile(s.dir.Path("pki", "spark-webhook", name)); err != nil {
			return err
		}
	}
	if _, err := api.kube.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return err
	}
	webhook, err := sparkWebhook(s.dir, s.ports)
	if err != nil {
		return err
	}
	if err := s.launchReady(ctx, webhook); err != nil {
		return err
	}
	return api.registerSparkWebhook(ctx, s.ports.SparkWebhookTLS, secret.Data["ca.crt"])
}

func sparkWebhook(dir Dir, ports Ports) (component, error) {
	binary, err := sparkOperatorBinary()
	if err != nil {
		return component{}, err
	}
	return component{name: "spark-webhook", program: "spark-operator", binary: binary,
		env: sparkEnvironment(dir, ports),
		args: []string{"webhook", "start",
			"--kubeconfig", dir.componentKubeconfig("spark-operator"),
			"--namespaces=", // all
			"--enable-cert-manager", "--webhook-secret-name", webhookSecret, "--webhook-secret-namespace", "default",
			"--webhook-cert-dir", dir.Path("run", "spark-webhook"),
			"--webhook-port", fmt.Sprint(ports.SparkWebhookTLS),
			"--health-probe-bind-address", fmt.Sprintf("127.0.0.1:%d", ports.SparkWebhook),
			"--leader-election=false", "--metrics-bind-address", "0",
		},
		ready: probePlain(loopback(ports.SparkWebhook) + "/readyz"),
	}, nil
}

// registerSparkWebhook makes the API server ask the webhook: about Spark's pods,
// and about the applications.
func (c *clients) registerSparkWebhook(ctx context.Context, port int, ca []byte) error {
	none, fail := admissionv1.SideEffectClassNone, admissionv1.Fail
	at := func(path string) admissionv1.WebhookClientConfig {
		url := fmt.Sprintf("https://127.0.0.1:%d%s", port, path)
		return admissionv1.WebhookClientConfig{URL: &url, CABundle: ca}
	}
	rule := func(group, version, resource string, operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
		return []admissionv1.RuleWithOperations{{Operations: operations, Rule: admissionv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}}}}
	}
	applications := rule("sparkoperator.k8s.io", "v1beta2", "sparkapplications", admissionv1.Create, admissionv1.Update)
	const applicationPath = "-sparkoperator-k8s-io-v1beta2-sparkapplication"
	name := metav1.ObjectMeta{Name: "spark-operator-webhook"}

	_, err := c.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx,
		&admissionv1.MutatingWebhookConfiguration{ObjectMeta: name, Webhooks: []admissionv1.MutatingWebhook{
			{Name: "mutate-pod.sparkoperator.k8s.io", AdmissionReviewVersions: []string{"v1"},
				ClientConfig: at("/mutate--v1-pod"), Rules: rule("", "v1", "pods", admissionv1.Create),
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
					"sparkoperator.k8s.io/launched-by-spark-operator": "true"}},
				SideEffects: &none, FailurePolicy: &fail},
			{Name: "mutate-application.sparkoperator.k8s.io", AdmissionReviewVersions: []string{"v1"},
				ClientConfig: at("/mutate" + applicationPath), Rules: applications,
				SideEffects: &none, FailurePolicy: &fail},
		}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = c.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx,
		&admissionv1.ValidatingWebhookConfiguration{ObjectMeta: name, Webhooks: []admissionv1.ValidatingWebhook{
			{Name: "validate-application.sparkoperator.k8s.io", AdmissionReviewVersions: []string{"v1"},
				ClientConfig: at("/validate" + applicationPath), Rules: applications,
				SideEffects: &none, FailurePolicy: &fail},
		}}, metav1.CreateOptions{})
	return err
}
