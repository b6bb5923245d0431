//go:build integration

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// registryProgram returns Debian's docker-registry: the one installed, or one
// that is unpacked into the cache, for which no root is needed and which starts
// no service of its own.
func registryProgram() (string, error) {
	if p, err := exec.LookPath("docker-registry"); err == nil {
		return p, nil
	}
	suite := "bookworm"
	if release, err := os.ReadFile("/etc/os-release"); err == nil {
		for _, s := range suites {
			if strings.Contains(string(release), "VERSION_CODENAME="+s+"\n") {
				suite = s // its C library is the machine's
			}
		}
	}
	program := ""
	err := locked(func(dir string) error {
		root := filepath.Join(dir, "docker-registry-"+suite)
		program = filepath.Join(root, "usr/bin/docker-registry")
		if _, err := os.Stat(program); err == nil {
			return nil
		}
		pkg := root + ".deb"
		if err := (&apt{dir: dir}).download("docker-registry:amd64", suite, pkg, ""); err != nil {
			return err
		}
		tmp, err := os.MkdirTemp(dir, "unpack-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(tmp) }()
		if _, err := dpkgDeb("--extract", pkg, tmp); err != nil {
			return err
		}
		return os.Rename(tmp, root)
	})
	return program, err
}

// startRegistry starts a registry of the test's own on a free port of the
// loopback interface and returns its address.
func startRegistry(t *testing.T) string {
	t.Helper()
	return startRegistryWith(t, t.TempDir(), "")
}

// startRegistryWith starts a registry on a folder of data, with more lines of
// configuration; those of http come first.
func startRegistryWith(t *testing.T, data, more string) string {
	t.Helper()
	program, err := registryProgram()
	if err != nil {
		t.Fatalf("no docker-registry: %v\n  install Debian's package docker-registry, or see that it can be fetched", err)
	}
	var failures []error
	for range 5 { // another process may take the port first
		addr, err := tryRegistry(t, program, data, more)
		if err == nil {
			return addr
		}
		failures = append(failures, err)
	}
	t.Fatalf("docker-registry does not start: %v", errors.Join(failures...))
	return ""
}

func tryRegistry(t *testing.T, program, data, more string) (string, error) {
	t.Helper()
	addr, err := freePort(t.Context())
	if err != nil {
		return "", err
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yml")
	text := fmt.Sprintf("version: 0.1\nlog:\n  level: warn\nstorage:\n  filesystem:\n    rootdirectory: %s\nhttp:\n  addr: %s\n  secret: integration\n%s",
		data, addr, more)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", err
	}
	var log bytes.Buffer
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "serve", config)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		stop()
		return "", err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed, or its log tells why it ended
		close(done)
	}()
	end := func() { stop(); <-done }
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		select {
		case <-done:
			stop()
			return "", fmt.Errorf("it ended: %s", log.String())
		default:
		}
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close() // only tried
			t.Cleanup(end)
			return addr, nil
		}
	}
	end()
	return "", fmt.Errorf("no answer on %s within 30 s: %s", addr, log.String())
}

func freePort(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// call makes a request and returns the status and the Location.
func call(ctx context.Context, method, to, mediaType string, body []byte) (status int, location string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return 0, "", err
	}
	if resp.StatusCode >= 400 {
		return resp.StatusCode, "", fmt.Errorf("%s %s: %s: %s", method, to, resp.Status, text)
	}
	return resp.StatusCode, resp.Header.Get("Location"), nil
}

// push uploads the image by the registry's HTTP API.
func (img *image) push(t *testing.T, addr, repository, tag string) {
	t.Helper()
	api := "http://" + addr + "/v2/" + repository
	for _, b := range append([]blob{img.config}, img.layers...) {
		_, upload, err := call(t.Context(), http.MethodPost, api+"/blobs/uploads/", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(upload)
		if err != nil {
			t.Fatal(err)
		}
		q := to.Query()
		q.Set("digest", b.digest)
		to.RawQuery = q.Encode()
		if _, _, err := call(t.Context(), http.MethodPut, to.String(), "application/octet-stream", b.data); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := call(t.Context(), http.MethodPut, api+"/manifests/"+tag, img.manifest.mediaType, img.manifest.data); err != nil {
		t.Fatal(err)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	addr := startRegistry(t)
	img := build(t, "gzip", base())
	img.push(t, addr, "team/base", "1")
	status, _, err := call(t.Context(), http.MethodHead, "http://"+addr+"/v2/team/base/blobs/"+img.layers[0].digest, "", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("the layer is not in the registry: %d, %v", status, err)
	}
}
