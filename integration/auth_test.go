//go:build integration

package integration

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
)

// authority is a certificate that signs itself, in files.
type authority struct {
	key               *ecdsa.PrivateKey
	der               []byte
	certFile, keyFile string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gpulint test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	a := authority{key: key}
	if a.der, err = x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key); err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a.certFile, a.keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, b := range map[string]*pem.Block{a.certFile: {Type: "CERTIFICATE", Bytes: a.der}, a.keyFile: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// token signs a token that allows what was asked for.
func (a authority) token(t *testing.T, service, repository string) string {
	t.Helper()
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	now := time.Now().Unix()
	access := []any{}
	if repository != "" {
		access = append(access, map[string]any{"type": "repository", "name": repository, "actions": []string{"pull"}})
	}
	text := part(map[string]any{"typ": "JWT", "alg": "ES256", "x5c": []string{base64.StdEncoding.EncodeToString(a.der)}}) + "." +
		part(map[string]any{"iss": "gpulint", "sub": "user", "aud": service, "exp": now + 300, "nbf": now - 30, "iat": now, "jti": "1", "access": access})
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, a.key, sum[:])
	if err != nil {
		t.Error(err)
	}
	sig := make([]byte, 64)
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

// tokenServer gives tokens to the user with the password.
func (a authority) tokenServer(t *testing.T) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(a.certFile, a.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "user" || password != "pass" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		repository := ""
		if f := strings.Split(r.URL.Query().Get("scope"), ":"); len(f) == 3 {
			repository = f[1]
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"token": a.token(t, r.URL.Query().Get("service"), repository)}) // the client sees it
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	// Token servers are not looked for at private addresses, only at names.
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
}

// TestRegistryAuth reads an image from a real registry with TLS that wants a
// password, and from one that wants a token of a server beside it.
func TestRegistryAuth(t *testing.T) {
	s := bundled(t, libcuda535, libcudart118, "535.261.03", "11.8", "11.8.89", true)
	img := build(t, "zstd", s.layers...)
	data, ca := t.TempDir(), newAuthority(t)
	img.push(t, startRegistryWith(t, data, ""), "team/cuda", "1")
	hash, err := bcrypt.GenerateFromPassword([]byte("pass"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	htpasswd := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(htpasswd, []byte("user:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	https := fmt.Sprintf("  tls:\n    certificate: %s\n    key: %s\n", ca.certFile, ca.keyFile)
	for kind, auth := range map[string]string{
		"basic": fmt.Sprintf("auth:\n  htpasswd:\n    realm: test\n    path: %s\n", htpasswd),
		"token": fmt.Sprintf("auth:\n  token:\n    realm: %s\n    service: test\n    issuer: gpulint\n    rootcertbundle: %s\n", ca.tokenServer(t), ca.certFile),
	} {
		t.Run(kind, func(t *testing.T) {
			addr := startRegistryWith(t, data, https+auth)
			ref := addr + "/team/cuda:1"
			login := func(user, password string) {
				dir := t.TempDir()
				config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, addr, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
				if user == "" {
					config = "{}"
				}
				if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
					t.Fatal(err)
				}
				t.Setenv("DOCKER_CONFIG", dir)
			}
			login("user", "pass")
			for _, flags := range [][]string{{"--ca-file", ca.certFile}, {"--insecure"}} {
				status, report, found := lint(t, append(flags, ref)...)
				s.check(t, img, status, report, found)
			}
			for _, tt := range []struct {
				user, password string
				flags          []string
				want           string
			}{
				{"user", "pass", nil, "certificate"},
				{"", "", []string{"--ca-file", ca.certFile}, "wants credentials, and docker's configuration has none"},
				{"user", "wrong", []string{"--ca-file", ca.certFile}, "does not accept the credentials"},
			} {
				login(tt.user, tt.password)
				var out, errw bytes.Buffer
				status := cli.Main(t.Context(), append(append([]string{"image"}, tt.flags...), ref), strings.NewReader(""), &out, &errw)
				if status != 3 || !strings.Contains(errw.String(), tt.want) || !strings.Contains(errw.String(), ref) {
					t.Errorf("%s:%s %v: status %d: %s", tt.user, tt.password, tt.flags, status, errw.String())
				}
			}
		})
	}
}
