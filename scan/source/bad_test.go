package source

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// TestBadInput holds that each broken input gets one error that names it, says
// why, and mostly what to do.
func TestBadInput(t *testing.T) {
	t.Parallel()
	b := small(testimage.Gzip).Build()
	good := b.OCIArchive()
	blob := func(digest string) string { return "blobs/sha256/" + strings.TrimPrefix(digest, "sha256:") }
	layout := testimage.Layout(b)
	without := func(name string) []byte { return testimage.Tar(testimage.Without(layout, name)...) }
	manifest := func(old, replacement string) []byte {
		m := strings.Replace(string(b.Manifest.Data), old, replacement, 1)
		if m == string(b.Manifest.Data) {
			t.Fatalf("nothing to replace: %s", old)
		}
		return withManifest(b, m).OCIArchive()
	}
	indexOf := func(text string, blobs ...testimage.Blob) []byte {
		return testimage.Tar(testimage.LayoutOf(testimage.NewBlob(testimage.TypeIndex, []byte(text)), blobs...)...)
	}
	nested := b.Manifest
	blobs := []testimage.Blob{b.Manifest, b.Config, b.Layers[0], b.Layers[1]}
	for range 8 {
		nested = testimage.Index(nested)
		blobs = append(blobs, nested)
	}
	docker := func(text string) []byte { return testimage.Tar(testimage.Text("manifest.json", text)) }
	for want, data := range map[string][]byte{
		"the file is empty":                     {},
		"it is no tar archive":                  []byte("text"),
		"it is no tar archive ":                 bytes.Repeat([]byte("text"), 4000),
		"compressed with gzip":                  testimage.Compress(testimage.Gzip, good),
		"compressed with zstd":                  testimage.Compress(testimage.Zstd, good),
		"cut off":                               good[:len(good)/2],
		"neither index.json nor manifest.json":  testimage.Tar(testimage.Text("README", "x")),
		"neither index.json nor manifest.json ": testimage.Tar(testimage.Dir("x")),
		"reading the manifest":                  without(blob(b.Manifest.Digest)),
		"reading the configuration":             without(blob(b.Config.Digest)),
		"unknown media type":                    indexOf(`{"manifests":[{"mediaType":"application/vnd.example","size":`+itoa(b.Manifest.Size)+`,"digest":"`+b.Manifest.Digest+`"}]}`, b.Manifest),
		"layer 0 is of type":                    manifest(testimage.TypeLayer+"+gzip", "application/vnd.example.model"),
		"configuration is of type":              manifest(testimage.TypeConfig, "application/vnd.cncf.helm.config.v1+json"),
		"invalid manifest":                      manifest(`"layers":`, `"layers":5,"x":`),
		"layer 0 has no digest":                 manifest(`"layers":[`, `"layers":[null,`),
		"no configuration":                      manifest(`"config":`, `"konfig":`),
		"it names 2 layers":                     withManifest(b, strings.Replace(string(b.Manifest.Data), `"layers":[`, `"layers":[`+string(jsonOf(b.Layers[0]))+",", 1)).OCIArchive(),
		"invalid configuration":                 withConfig(b, "[]").OCIArchive(),
		"it names 0 layers":                     withConfig(b, "{}").OCIArchive(),
		"invalid index":                         indexOf("{"),
		"it has no image":                       indexOf(`{"manifests":[]}`),
		"it has no image ":                      indexOf("{}"),
		"levels":                                testimage.Tar(testimage.LayoutOf(testimage.Index(nested), blobs...)...),
		"entries":                               indexOf(`{"manifests":[` + strings.Repeat(`{},`, 2000) + `{}]}`),
		"only sha256":                           indexOf(`{"manifests":[{"mediaType":"` + testimage.TypeManifest + `","size":3,"digest":"sha512:` + strings.Repeat("0", 128) + `"}]}`),
		"more than":                             indexOf(`{"manifests":[{"mediaType":"` + testimage.TypeManifest + `","size":99999999999,"digest":"` + b.Manifest.Digest + `"}]}`),
		"manifest.json: invalid JSON":           docker("{"),
		"lists 0 images":                        docker("[]"),
		"without a configuration":               docker(`[null]`),
		`"nothing.json" is missing`:             docker(`[{"Config":"nothing.json"}]`),
		"reading manifest.json":                 docker(`{"a":1}`),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			input := write(t, data)
			_, err := openInput(t, input, Options{})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%v", err)
			}
			if e.Ref != input || e.Usage || e.Hint == "" || !strings.Contains(err.Error(), strings.TrimSpace(want)) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%v (hint %q)", err, e.Hint)
			}
		})
	}
}

func jsonOf(b testimage.Blob) []byte {
	return fmt.Appendf(nil, `{"mediaType":%q,"digest":%q,"size":%d}`, b.MediaType, b.Digest, b.Size)
}

// TestNullEntries holds that holes in lists are no panic.
func TestNullEntries(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"manifests":[null]}`, `{"manifests":[{"platform":null,"digest":null}]}`, `null`, `{"manifests":[{"digest":"sha256:zz"}]}`} {
		data := testimage.Tar(testimage.LayoutOf(testimage.NewBlob(testimage.TypeIndex, []byte(text)))...)
		if _, err := openInput(t, write(t, data), Options{}); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// TestTruncatedArchive cuts archives at every block: never a success with
// fewer layers.
func TestTruncatedArchive(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	for name, data := range map[string][]byte{"oci": b.OCIArchive(), "docker": b.DockerArchive(), "docker 25": b.DockerArchive25()} {
		for n := 0; n < len(data)-1024; n += 256 {
			s, err := openInput(t, write(t, data[:n]), Options{})
			if err == nil && len(s.Images[0].Layers) != 2 {
				t.Errorf("%s of %d bytes: %d layers", name, n, len(s.Images[0].Layers))
			}
		}
	}
}

// TestLayoutOnDisk holds that nothing outside of a layout's directory is read,
// and nothing but files.
func TestLayoutOnDisk(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	name := filepath.Join("blobs", "sha256", testimage.Hex(b.Config.Data))
	for want, spoil := range map[string]func(dir string) error{
		"reading the configuration": func(dir string) error { return os.Remove(filepath.Join(dir, name)) },
		"escapes": func(dir string) error {
			out := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(out, b.Config.Data, 0o600); err != nil {
				return err
			}
			return replace(filepath.Join(dir, name), func(p string) error { return os.Symlink(out, p) })
		},
		"no regular file": func(dir string) error {
			return replace(filepath.Join(dir, name), func(p string) error { return syscall.Mkfifo(p, 0o600) })
		},
		"neither an OCI layout": func(dir string) error { return os.Remove(filepath.Join(dir, "index.json")) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := testimage.WriteDir(dir, testimage.Layout(b)); err != nil {
				t.Fatal(err)
			}
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := openInput(t, dir, Options{}); err == nil || !strings.Contains(err.Error(), want) || Hint(err) == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

func replace(p string, with func(string) error) error {
	if err := os.Remove(p); err != nil {
		return err
	}
	return with(p)
}

func TestNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string]string{
		filepath.Join(dir, "missing.tar"): "no such file",
		pipe:                              "neither a file nor a directory",
		dir + "/a\x00b":                   "invalid",
	} {
		if _, err := openInput(t, input, Options{}); err == nil || !strings.Contains(err.Error(), want) || Hint(err) == "" {
			t.Errorf("%q: %v", input, err)
		}
	}
}
