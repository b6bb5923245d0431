package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/context/docker"
	contexts "github.com/docker/cli/cli/context/store"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/moby/moby/client"
)

// Kinds of daemons.
const (
	KindDocker = "docker"
	KindPodman = "podman"
)

// probeTime is how long a daemon may take to say whether it has an image.
const probeTime = 5 * time.Second

// Daemon is the API of a container engine on this machine: Docker's, or
// Podman's, which speaks the same.
type Daemon struct {
	kind string
	api  *client.Client
}

// errNoDaemon says that nothing hints at a daemon on this machine.
var errNoDaemon = errors.New("it does not run here")

// NewDaemon connects to a daemon of a kind: Docker's by DOCKER_HOST, else by
// docker's current context; Podman's by CONTAINER_HOST, else at its usual
// sockets. Nothing is sent before the daemon is asked something. The error is
// of type [Error], about ref.
func NewDaemon(kind, ref string) (*Daemon, error) {
	opts, err := dockerOptions()
	if kind == KindPodman {
		opts, err = podmanOptions()
	}
	var api *client.Client
	if err == nil {
		api, err = client.New(opts...)
	}
	if errors.Is(err, errNoDaemon) {
		err = hintf("start it, or name an image of a registry with registry:REF", "%w", err)
	}
	if err != nil {
		return nil, fail(ref, "looking for "+kind, err)
	}
	return &Daemon{kind, api}, nil
}

// dockerOptions are those of docker's own command line.
func dockerOptions() ([]client.Opt, error) {
	if os.Getenv("DOCKER_HOST") != "" {
		return []client.Opt{client.FromEnv}, nil
	}
	file := config.LoadDefaultConfigFile(io.Discard)
	current := file.CurrentContext
	if v := os.Getenv("DOCKER_CONTEXT"); v != "" {
		current = v
	}
	if current == "" || current == "default" {
		if _, err := os.Stat("/var/run/docker.sock"); err != nil {
			return nil, errNoDaemon
		}
		return []client.Opt{client.FromEnv}, nil
	}
	s := contexts.New(config.ContextStoreDir(), contexts.NewConfig(
		func() any { return &map[string]any{} },
		contexts.EndpointTypeGetter(docker.DockerEndpoint, func() any { return &docker.EndpointMeta{} }),
	))
	meta, err := s.GetMetadata(current)
	if err != nil {
		return nil, fmt.Errorf("docker's context %q: %w", current, err)
	}
	epMeta, err := docker.EndpointFromContext(meta)
	if err != nil {
		return nil, fmt.Errorf("docker's context %q: %w", current, err)
	}
	ep, err := docker.WithTLSData(s, current, epMeta)
	if err != nil {
		return nil, fmt.Errorf("docker's context %q: %w", current, err)
	}
	opts, err := ep.ClientOpts()
	if err != nil {
		return nil, fmt.Errorf("docker's context %q: %w", current, err)
	}
	return opts, nil
}

func podmanOptions() ([]client.Opt, error) {
	if h := os.Getenv("CONTAINER_HOST"); h != "" {
		return []client.Opt{client.WithHost(h)}, nil
	}
	sockets := []string{"/run/podman/podman.sock"}
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		sockets = append([]string{filepath.Join(d, "podman", "podman.sock")}, sockets...)
	}
	for _, p := range sockets {
		if st, err := os.Stat(p); err == nil && st.Mode()&os.ModeSocket != 0 {
			return []client.Opt{client.WithHost("unix://" + p)}, nil
		}
	}
	return nil, errNoDaemon
}

// Has says whether the daemon has an image.
func (d *Daemon) Has(ctx context.Context, ref string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := d.api.ImageInspect(ctx, ref)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Save has the daemon write an image as an archive for [OpenStream].
func (d *Daemon) Save(ctx context.Context, ref string) (io.ReadCloser, error) {
	full := d.kind + ":" + ref
	ok, err := d.Has(ctx, ref)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fail(full, "asking the daemon", daemonError(d.kind, err))
	}
	if !ok {
		return nil, fail(full, "asking the daemon", hintf(
			fmt.Sprintf("%s images shows what it has; an image of a registry is named registry:%s", d.kind, ref), "it has no such image"))
	}
	r, err := d.api.ImageSave(ctx, []string{ref})
	if err != nil {
		return nil, fail(full, "asking the daemon", daemonError(d.kind, err))
	}
	return r, nil
}

// Close closes the connection.
func (d *Daemon) Close() error { return d.api.Close() }

// permission says whether a client's error is that the socket may not be used.
func permission(text string) bool { return strings.Contains(text, "permission denied") }

func daemonError(kind string, err error) error {
	switch {
	case errors.Is(err, os.ErrPermission) || permission(err.Error()):
		return hintf("run as a user that may use the daemon (its group, or root)", "no permission for the socket of %s", kind)
	case client.IsErrConnectionFailed(err):
		return hintf("start it, or name an image of a registry with registry:REF", "the daemon cannot be reached: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return hintf("see what the daemon does", "the daemon did not answer within %s", probeTime)
	}
	return err
}

// Local finds a daemon that has an image of this name, in the order docker,
// podman. It is nil if none has it; the error then says why those that are
// there could not be asked.
func Local(ctx context.Context, ref string) (*Daemon, error) {
	if _, err := name.ParseReference(ref); err != nil {
		return nil, nil //nolint:nilerr,nilnil // no name: the registry's parser says so
	}
	var failed []error
	for _, kind := range []string{KindDocker, KindPodman} {
		d, err := NewDaemon(kind, ref)
		if errors.Is(err, errNoDaemon) {
			continue
		}
		if err == nil {
			ok, herr := d.Has(ctx, ref)
			if ok {
				return d, nil
			}
			err = errors.Join(herr, d.Close())
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", kind, daemonError(kind, err)))
		}
	}
	return nil, errors.Join(failed...)
}

// Kind is docker or podman.
func (d *Daemon) Kind() string { return d.kind }
