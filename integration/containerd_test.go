//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
)

// TestContainerd reads an image of a real containerd's content store: by its
// name, without it, in the kubelet's namespace, and after the node discarded a
// layer.
func TestContainerd(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("containerd needs root")
	}
	s := bundled(t, libcuda535, libcudart118, "535.261.03", "11.8", "11.8.89", true)
	img := build(t, "gzip", s.layers...)
	archive := img.write(t, "oci", "example.org/team/cuda", "1")
	dir, err := os.MkdirTemp("", "gpulint-") // sockets have short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, config := filepath.Join(dir, "c.sock"), filepath.Join(dir, "config.toml")
	text := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n[ttrpc]\naddress = %q\n",
		dir+"/root", dir+"/state", socket, dir+"/t.sock")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon(t, socket, nil, "containerd", "--config", config)
	ctr := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "ctr", append([]string{"--address", socket}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("ctr %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	t.Setenv("CONTAINERD_ADDRESS", socket)
	t.Setenv("DOCKER_HOST", "unix:///nowhere.sock")
	t.Setenv("CONTAINER_HOST", "unix:///nowhere.sock")
	ctr("-n", "k8s.io", "images", "import", "--no-unpack", archive)
	for _, ref := range []string{"containerd:example.org/team/cuda:1", "example.org/team/cuda:1"} {
		status, report, found := lint(t, ref)
		s.check(t, img, status, report, found)
		if found.Source != "containerd" || !found.Verified || found.Name != "example.org/team/cuda" {
			t.Errorf("%s: source %s, verified %t, name %s", ref, found.Source, found.Verified, found.Name)
		}
	}
	_, _, found := lint(t, "containerd:example.org/team/cuda:1")
	fails := func(want string) {
		t.Helper()
		var out, errw bytes.Buffer
		status := cli.Main(t.Context(), []string{"image", "containerd:example.org/team/cuda:1"}, strings.NewReader(""), &out, &errw)
		if status != 3 || !strings.Contains(errw.String(), want) {
			t.Errorf("status %d, want 3: %s", status, errw.String())
		}
	}
	t.Setenv("CONTAINERD_NAMESPACE", "default")
	fails("it has no such image in the namespaces [default]")
	t.Setenv("CONTAINERD_NAMESPACE", "k8s.io")
	ctr("-n", "k8s.io", "content", "rm", found.Layers[0].Digest)
	fails("layer 0 (" + found.Layers[0].Digest + ")")
	fails("nodes may discard layers once they are unpacked")
}
