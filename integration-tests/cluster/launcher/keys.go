package launcher

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A tokenUser is an identity that logs in by a token, which is one line of a file
// instead of a certificate each.
type tokenUser struct{ component, user, groups string }

// tokenUsers are the components' identities.
var tokenUsers = []tokenUser{
	{"kube-controller-manager", "system:kube-controller-manager", ""},
	{"kube-scheduler", "system:kube-scheduler", ""},
	{"second-scheduler", "system:kube-scheduler", ""},
	{"kwok", "kwok", "system:masters"},
	{"spark-operator", "spark-operator", "system:masters"},
	{"spark-drivers", "spark-drivers", "system:masters"},
	{"flink-operator", "flink-operator", "system:masters"},
	{"flink-jobmanagers", "flink-jobmanagers", "system:masters"},
	{"launcher", "esi-cluster", "system:masters"},
}

// authority is a certificate and its key, able to sign others.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// makeKeys writes all keys and certificates of a cluster into folder:
// ca.crt, ca.key, apiserver.*, admin.*, front-proxy-ca.crt, front-proxy.*,
// service-account.{key,pub}, tokens.csv.
func makeKeys(folder string, nodes RealNodes) error {
	ca, err := newAuthority(folder, "ca", "esi-cluster")
	if err != nil {
		return err
	}
	// The API server signs the calls it passes on to aggregated servers with a
	// key of another authority: otherwise any client could pretend to be it.
	proxyCA, err := newAuthority(folder, "front-proxy-ca", "esi-cluster-front-proxy")
	if err != nil {
		return err
	}
	names := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local"}
	if err := ca.issue(folder, "apiserver", pkix.Name{CommonName: "kube-apiserver"}, append(names, nodes.host())); err != nil {
		return err
	}
	admin := pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}}
	if err := ca.issue(folder, "admin", admin, nil); err != nil {
		return err
	}
	if err := proxyCA.issue(folder, "front-proxy", pkix.Name{CommonName: "front-proxy-client"}, nil); err != nil {
		return err
	}
	signer, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	if err := writeKeyPair(folder, "service-account", signer); err != nil {
		return err
	}
	return writeTokens(filepath.Join(folder, "tokens.csv"), append(nodes.users(), tokenUsers...))
}

func newAuthority(folder, file, name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := newTemplate(pkix.Name{CommonName: name})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if err := writePEM(filepath.Join(folder, file+".crt"), "CERTIFICATE", der); err != nil {
		return nil, err
	}
	return &authority{certificate, key}, writeECKey(filepath.Join(folder, file+".key"), key)
}

// issue makes a certificate for a client, and for a server if names are given.
func (a *authority) issue(folder, file string, subject pkix.Name, names []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := a.sign(folder, file, subject, names, key); err != nil {
		return err
	}
	return writeECKey(filepath.Join(folder, file+".key"), key)
}

func (a *authority) sign(folder, file string, subject pkix.Name, names []string, key crypto.Signer) error {
	template := newTemplate(subject)
	template.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(names) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		template.IPAddresses = []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP("10.96.0.1")}
		for _, name := range names {
			if ip := net.ParseIP(name); ip != nil {
				template.IPAddresses = append(template.IPAddresses, ip)
			} else {
				template.DNSNames = append(template.DNSNames, name)
			}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	return writePEM(filepath.Join(folder, file+".crt"), "CERTIFICATE", der)
}

func newTemplate(subject pkix.Name) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // the system has no randomness: nothing works
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(30 * 24 * time.Hour),
	}
}

func writeECKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writeKeyPair(folder, name string, key *rsa.PrivateKey) error {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writePEM(filepath.Join(folder, name+".pub"), "PUBLIC KEY", public); err != nil {
		return err
	}
	return writePEM(filepath.Join(folder, name+".key"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

func writeTokens(path string, users []tokenUser) error {
	var lines strings.Builder
	for _, entry := range users {
		secret := make([]byte, 16)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s,%s,%s,\"%s\"\n", hex.EncodeToString(secret), entry.user, entry.component, entry.groups)
	}
	return os.WriteFile(path, []byte(lines.String()), 0o600)
}

// readTokens returns the tokens by component.
func readTokens(path string) (map[string]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Split(line, ","); len(fields) == 4 {
			tokens[fields[2]] = fields[0]
		}
	}
	return tokens, nil
}
