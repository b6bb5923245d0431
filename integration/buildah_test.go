//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// TestBuildah has buildah build an image, delete a file of it in a further
// layer, and write it in each of its forms.
func TestBuildah(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	// Its user namespace leaves files that only it can delete.
	t.Cleanup(func() {
		if os.Geteuid() != 0 {
			_ = exec.Command("buildah", "unshare", "rm", "-rf", root).Run() // the test's directory tells
		}
	})
	buildah := func(args ...string) string {
		t.Helper()
		args = append([]string{"--root", root, "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs"}, args...)
		if os.Geteuid() != 0 {
			args = append([]string{"unshare", "buildah"}, args...)
		}
		out, err := exec.Command("buildah", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("buildah %s: %v: make test installs it\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name string, data []byte) {
		t.Helper()
		p := filepath.Join(dir, "context", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("Dockerfile", []byte("FROM scratch\nCOPY a /\nLABEL l=v\nCOPY b /opt/lib/\n"))
	write("a/usr/lib/libcuda.so.470.256.02", testimage.DriverLibrary("libcuda.so.1", "470.256.02"))
	write("b/libcuda.so.535.161.08", testimage.DriverLibrary("libcuda.so.1", "535.161.08"))
	buildah("build", "--layers", "--isolation", "chroot", "-t", "localhost/team/app:1", filepath.Join(dir, "context"))
	c := buildah("from", "localhost/team/app:1")
	// The root of a container is only there in buildah's own mounts.
	script := `m=$(buildah "$@" mount ` + c + `) && rm "$m/usr/lib/libcuda.so.470.256.02" && buildah "$@" umount ` + c
	args := []string{"-c", script, "sh", "--root", root, "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs"}
	name := "sh"
	if os.Geteuid() != 0 {
		name, args = "buildah", append([]string{"unshare", "sh"}, args...)
	}
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	buildah("commit", c, "localhost/team/app:2")
	for form, kind := range map[string]string{"oci-archive": "oci-archive", "docker-archive": "docker-archive", "oci": "oci-layout"} {
		to := filepath.Join(dir, form)
		buildah("push", "localhost/team/app:2", form+":"+to+":localhost/team/app:2")
		_, _, found := lint(t, "--input", to)
		got := make([]string, 0, len(found.DriverFiles))
		for _, d := range found.DriverFiles {
			line := d.Path + " " + copyOf.ReplaceAllString(found.Layers[d.Layer].CreatedBy, "COPY dir:… in $1")
			if d.Shadowed != nil {
				line += " " + d.Shadowed.How
			}
			got = append(got, line)
		}
		slices.Sort(got)
		want := []string{"/opt/lib/libcuda.so.535.161.08 COPY dir:… in /opt/lib/", "/usr/lib/libcuda.so.470.256.02 COPY dir:… in / whiteout"}
		if found.Source != kind || found.Name != "localhost/team/app" || found.Config.Labels["l"] != "v" || len(found.Layers) != 3 || !slices.Equal(got, want) {
			t.Errorf("%s: %s %s %v\n%s\n%+v", form, found.Source, found.Name, found.Config.Labels, strings.Join(got, "\n"), layersOf(found))
		}
	}
}

// copyOf is how buildah writes a COPY into the history, with the hash of what
// it copied.
var copyOf = regexp.MustCompile(`^/bin/sh -c #\(nop\) COPY dir:[0-9a-f]{64} in (\S+) *$`)

// layersOf are the instructions of an image's layers.
func layersOf(img facts.Image) []string {
	list := make([]string, 0, len(img.Layers))
	for _, l := range img.Layers {
		list = append(list, l.CreatedBy)
	}
	return list
}
