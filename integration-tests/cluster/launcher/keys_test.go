package launcher

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
)

func TestServingCertificateIsTrustedForLoopback(t *testing.T) {
	folder := t.TempDir()
	if err := makeKeys(folder, RealNodes{}); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "apiserver.crt"), filepath.Join(folder, "apiserver.key"))
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(folder, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	for _, name := range []string{"127.0.0.1", "localhost", "10.96.0.1", "kubernetes.default.svc"} {
		if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryComponentHasItsOwnToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.csv")
	if err := writeTokens(path, tokenUsers); err != nil {
		t.Fatal(err)
	}
	tokens, err := readTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, entry := range tokenUsers {
		token := tokens[entry.component]
		if len(token) != 32 || seen[token] {
			t.Errorf("%s has the token %q, want 32 characters of its own", entry.component, token)
		}
		seen[token] = true
	}
}
