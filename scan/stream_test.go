package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

func streamed(t *testing.T, data []byte) (*facts.Image, error) {
	t.Helper()
	set, seen, err := Stream(t.Context(), "image.tar", bytes.NewReader(data), source.Options{}, Options{})
	if err != nil {
		return nil, err
	}
	return Image(t.Context(), set.Images[0], Options{Passed: seen})
}

// TestStreamSameFacts holds that a stream gives the facts of the file, and is
// verified wherever something names what its layers must be.
func TestStreamSameFacts(t *testing.T) {
	t.Parallel()
	for _, compression := range []string{testimage.Plain, testimage.Gzip, testimage.Zstd} {
		b := image(compression).Build()
		for form, data := range map[string][]byte{"oci": b.OCIArchive(), "docker": b.DockerArchive(), "docker25": b.DockerArchive25()} {
			want, err := Image(t.Context(), open(t, data, source.Options{}), Options{Verify: true})
			if err != nil {
				t.Fatal(err)
			}
			got, err := streamed(t, data)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Verified {
				t.Errorf("%s %s is not verified", form, compression)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-file +stream):\n%s", form, compression, diff)
			}
		}
	}
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	b.Layers[1].Data = bytes.Clone(b.Layers[1].Data)
	b.Layers[1].Data[4]++ // the time in gzip's header
	raw := image(testimage.Plain)
	raw.Layers[2] = testimage.Layer{CreatedBy: "RUN x", Raw: []byte("neither a tar nor compressed")}
	diffID := image(testimage.Plain).Build()
	diffID.Config = testimage.NewBlob(testimage.TypeConfig, []byte(strings.Replace(string(diffID.Config.Data), diffID.DiffIDs[1], "sha256:"+strings.Repeat("0", 64), 1)))
	for name, tt := range map[string]struct {
		data []byte
		is   error
	}{
		"digest":  {b.OCIArchive(), layers.ErrDigest},
		"no tar":  {raw.Build().OCIArchive(), layers.ErrBroken},
		"diff ID": {diffID.DockerArchive(), layers.ErrDigest},
	} {
		_, err := streamed(t, tt.data)
		var le *LayerError
		if !errors.As(err, &le) || le.Index != 1 || !errors.Is(err, tt.is) || le.Hint() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRootfs holds that a directory gives the facts of its files, without
// layers, and that nothing outside of it is read.
func TestRootfs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, f := range image(testimage.Plain).Layers[2].Files {
		p := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if f.Link != "" {
			err = os.Symlink(f.Link, p)
		} else {
			err = os.WriteFile(p, f.Data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "libcuda.so.1"), testimage.DriverLibrary("libcuda.so.1", "470.57.02"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range []struct{ to, at string }{{outside, "usr/lib/out"}, {"/", "usr/lib/up"}} {
		if err := os.Symlink(link.to, filepath.Join(dir, link.at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "usr/lib/libnvidia-ml.so.1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "proc/1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "proc/1/libcuda.so.1"), testimage.DriverLibrary("libcuda.so.1", "470.57.02"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := source.OpenInput(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() }) // read only
	img, err := Image(t.Context(), set.Images[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal([]any{img.Source, img.Layers, img.Incomplete, img.Verified, img.Packages[0].Layer})
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != `["rootfs",[],null,false,-1]` {
		t.Errorf("%s", got)
	}
	lines := []string{}
	for _, f := range img.DriverFiles {
		lines = append(lines, f.Path+" "+f.Class+" "+f.Driver+" "+f.Package+" "+f.Resolved)
		if f.Layer != -1 {
			t.Errorf("%s is of layer %d", f.Path, f.Layer)
		}
	}
	lib := "/usr/lib/x86_64-linux-gnu/"
	want := []string{
		lib + "libcuda.so.1 link  libcuda1 " + lib + "libcuda.so.535.161.08",
		lib + "libcuda.so.535.161.08 library 535.161.08 libcuda1 ",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
