package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gpulint/gpulint/internal/testimage"
)

// stream opens bytes as a stream, and returns what was shown as layers.
func stream(t *testing.T, data []byte, o Options) (*Set, map[string]string, error) {
	t.Helper()
	seen := map[string]string{}
	s, err := OpenStream(t.Context(), "-", iotest.HalfReader(bytes.NewReader(data)), o, func(_ context.Context, name string, _ int64, r io.Reader) error {
		b, err := io.ReadAll(r)
		seen[name] = testimage.Digest(b)
		return err
	})
	return s, seen, err
}

// TestStream opens the same image in every form, with the manifests first and
// last.
func TestStream(t *testing.T) {
	t.Parallel()
	for _, compression := range []string{testimage.Plain, testimage.Gzip, testimage.Zstd} {
		b := small(compression).Build()
		files := testimage.Layout(b)
		back := make([]testimage.File, 0, len(files))
		for i := range files {
			back = append(back, files[len(files)-1-i])
		}
		for form, data := range map[string][]byte{
			"oci": b.OCIArchive(), "backwards": testimage.Tar(back...), "docker": b.DockerArchive(), "docker 25": b.DockerArchive25(),
			"gzip": testimage.Compress(testimage.Gzip, b.OCIArchive()), "zstd": testimage.Compress(testimage.Zstd, b.DockerArchive()),
		} {
			s, seen, err := stream(t, data, Options{})
			if err != nil || len(s.Images) != 1 || s.Images[0].Name != "registry.example.com:5000/team/app" {
				t.Errorf("%s %s: %+v, %v", compression, form, s, err)
				continue
			}
			for i, l := range s.Images[0].Layers {
				want := b.Layers[i].Digest
				if l.Digest == "" { // an old archive: plain, and without digests
					want = b.DiffIDs[i]
				}
				if seen[l.Key] != want {
					t.Errorf("%s %s: layer %d is %q: %s, want %s", compression, form, i, l.Key, seen[l.Key], want)
				}
				if _, err := l.Open(t.Context()); !errors.Is(err, errPassed) {
					t.Errorf("a layer of a stream was opened: %v", err)
				}
			}
		}
	}
}

// TestStreamLinks holds that a layer which occurs twice is found by its link.
func TestStreamLinks(t *testing.T) {
	t.Parallel()
	img := small(testimage.Plain)
	img.Layers = append(img.Layers, img.Layers[0])
	b := img.Build()
	s, seen, err := stream(t, b.DockerArchive(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := s.Images[0].Layers
	if len(l) != 3 || l[0].Key != l[2].Key || seen[l[2].Key] != b.DiffIDs[0] {
		t.Errorf("%+v", l)
	}
}

func TestStreamBad(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	good := b.DockerArchive25()
	for want, data := range map[string][]byte{
		"it is empty":        {},
		"no tar archive":     []byte("text"),
		"no tar archive ":    bytes.Repeat([]byte("text"), 1000),
		"cut off":            good[:len(good)/2],
		"neither index.json": testimage.Tar(testimage.Text("a", "b")),
		"more than are kept": testimage.Tar(testimage.Text("manifest.json", "["+strings.Repeat(" ", maxConfig)+"]")),
		"cut off ":           testimage.Compress(testimage.Gzip, good)[:900],
		"is missing":         testimage.Tar(testimage.Text("manifest.json", `[{"Config":"a","Layers":["b"]}]`), testimage.Symlink("a", "a")),
	} {
		_, _, err := stream(t, data, Options{})
		var e *Error
		if !errors.As(err, &e) || e.Ref != "-" || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%s: %v", want, err)
		}
	}
	broken := errors.New("no more")
	_, err := OpenStream(t.Context(), "-", bytes.NewReader(good), Options{}, func(context.Context, string, int64, io.Reader) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("the visitor's error: %v", err)
	}
	disk := errors.New("disk on fire")
	_, _, err = func() (*Set, map[string]string, error) {
		s, err := OpenStream(t.Context(), "-", io.MultiReader(bytes.NewReader(good[:3000]), iotest.ErrReader(disk)), Options{}, func(_ context.Context, _ string, _ int64, r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		return s, nil, err
	}()
	if !errors.Is(err, disk) {
		t.Errorf("the reader's error: %v", err)
	}
}

func TestScheme(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"app:1":                         "|app:1",
		"docker:app:1":                  "docker|app:1",
		"docker:app":                    "docker|app",
		"podman:localhost/app:1":        "podman|localhost/app:1",
		"containerd:app:1":              "containerd|app:1",
		"containerd:5000/x":             "|containerd:5000/x",
		"registry:localhost:5000/app:1": "registry|localhost:5000/app:1",
		"registry:5000/x":               "|registry:5000/x",
		"registry:5000/x:1":             "|registry:5000/x:1",
		"docker:5000/x@sha256:0":        "|docker:5000/x@sha256:0",
		"registry:2":                    "|registry:2",
		"docker:24.0-dind":              "|docker:24.0-dind",
		"docker:":                       "|docker:",
		"registry:2nd/app":              "registry|2nd/app",
		"oci:dir":                       "oci|dir",
		"oci-archive:a.tar":             "oci-archive|a.tar",
		"docker-archive:/x/a.tar":       "docker-archive|/x/a.tar",
		"rootfs:/":                      "rootfs|/",
		"localhost:5000/a":              "|localhost:5000/a",
	} {
		scheme, rest := Scheme(ref)
		if got := scheme + "|" + rest; got != want {
			t.Errorf("%s: %s, want %s", ref, got, want)
		}
	}
}
