//go:build integration

package integration

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
)

// daemon starts a program that listens on a socket, and stops it with the test.
// It returns the client of the daemon's API.
func daemon(t *testing.T, socket string, env []string, name string, args ...string) *client.Client {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("no %s: make test installs it\n%v", name, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // interrupted
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	for range 300 {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close() // only tried
			api, err := client.New(client.WithHost("unix://" + socket))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = api.Close() })
			return api
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", name, log.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not listen:\n%s", name, log.String())
	return nil
}

// load puts an archive into a daemon.
func load(t *testing.T, api *client.Client, archive string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // read only
	res, err := api.ImageLoad(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(res); err != nil {
		t.Fatal(err)
	}
	if err := res.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), `"error"`) {
		t.Fatalf("loading: %s", out.String())
	}
}

// TestDaemons reads an image of a real Docker and of a real Podman, as a
// stream: by the daemon's name, and without it from the daemon that has it.
func TestDaemons(t *testing.T) {
	s := bundled(t, libcuda535, libcudart118, "535.261.03", "11.8", "11.8.89", true)
	img := build(t, "plain", s.layers...) // as daemons save layers
	archive := img.write(t, "docker", "example.org/team/cuda", "1")
	// Sockets have short paths.
	dir, err := os.MkdirTemp("", "gpulint-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what a daemon left mounted stays
	for kind, start := range map[string]func(t *testing.T, socket string) *client.Client{
		"docker": func(t *testing.T, socket string) *client.Client {
			t.Helper()
			if os.Geteuid() != 0 {
				t.Skip("dockerd needs root")
			}
			home := filepath.Join(dir, "docker")
			config := home + ".json" // not the machine's
			if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			return daemon(t, socket, nil, "dockerd", "-H", "unix://"+socket, "--data-root", home+"/data", "--exec-root", home+"/exec",
				"--pidfile", home+".pid", "--bridge", "none", "--iptables=false", "--ip6tables=false", "--storage-driver", "vfs", "--config-file", config)
		},
		"podman": func(t *testing.T, socket string) *client.Client {
			t.Helper()
			home := filepath.Join(dir, "podman")
			return daemon(t, socket, []string{"XDG_RUNTIME_DIR=" + dir}, "podman", "--root", home+"/root", "--runroot", home+"/run",
				"--storage-driver", "vfs", "system", "service", "--time", "0", "unix://"+socket)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			socket := filepath.Join(dir, kind+".sock")
			load(t, start(t, socket), archive)
			for _, env := range []string{"DOCKER_HOST", "CONTAINER_HOST"} {
				t.Setenv(env, "unix:///nowhere.sock")
			}
			t.Setenv(map[string]string{"docker": "DOCKER_HOST", "podman": "CONTAINER_HOST"}[kind], "unix://"+socket)
			for _, ref := range []string{kind + ":example.org/team/cuda:1", "example.org/team/cuda:1"} {
				status, report, found := lint(t, ref)
				s.check(t, img, status, report, found)
				if found.Source != kind || !found.Verified || found.Name != "example.org/team/cuda" {
					t.Errorf("%s: source %s, verified %t, name %s", ref, found.Source, found.Verified, found.Name)
				}
			}
		})
	}
}
