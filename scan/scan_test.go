package scan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

func image(compression string) testimage.Image {
	return testimage.Image{
		Ref: "team/app:1", Compression: compression, Env: []string{"A=b=c", "EMPTY=", "LD_LIBRARY_PATH=/opt/lib"},
		Labels: map[string]string{"l": "v"}, Entrypoint: []string{"/e"}, Cmd: []string{"c"},
		Layers: []testimage.Layer{
			{CreatedBy: "ADD rootfs.tar /", Files: []testimage.File{testimage.Text("etc/os-release", "ID=debian\n")}},
			{CreatedBy: "ENV A=b", NoBlob: true},
			{CreatedBy: "RUN apt-get install libcuda1", Files: []testimage.File{
				testimage.Reg("usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08", testimage.DriverLibrary("libcuda.so.1", "535.161.08")),
				testimage.Symlink("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.535.161.08"),
				testimage.Text("var/lib/dpkg/status", "Package: libcuda1\nStatus: install ok installed\nVersion: 535.161.08-1\nArchitecture: amd64\n\n"),
				testimage.Text("var/lib/dpkg/info/libcuda1:amd64.list", "/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08\n/usr/lib/x86_64-linux-gnu/libcuda.so.1\n"),
			}},
		},
	}
}

// open opens an archive that is written to a file.
func open(t testing.TB, data []byte, o source.Options) *source.Image {
	t.Helper()
	p := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(p, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := source.OpenInput(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // read only
	img := s.Images[0]
	img.Ref = "image.tar"
	return img
}

func TestImage(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	img, err := Image(t.Context(), open(t, b.OCIArchive(), source.Options{}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	layer := func(i int, created string, entries int) facts.Layer {
		return facts.Layer{
			Index: i, Digest: b.Layers[i].Digest, DiffID: b.DiffIDs[i], Size: b.Layers[i].Size, MediaType: b.Layers[i].MediaType,
			CreatedBy: created, Entries: entries, Verified: true,
		}
	}
	dir := "/usr/lib/x86_64-linux-gnu/"
	want := &facts.Image{
		Schema: facts.SchemaFacts, Ref: "image.tar", Name: "team/app", Source: source.KindOCIArchive, Digest: b.Manifest.Digest,
		ConfigDigest: b.Config.Digest, Platform: "linux/amd64", Verified: true,
		Config: facts.Config{
			Env:    []facts.EnvVar{{Name: "A", Value: "b=c"}, {Name: "EMPTY"}, {Name: "LD_LIBRARY_PATH", Value: "/opt/lib"}},
			Labels: map[string]string{"l": "v"}, Entrypoint: []string{"/e"}, Cmd: []string{"c"},
		},
		Layers: []facts.Layer{layer(0, "ADD rootfs.tar /", 1), layer(1, "RUN apt-get install libcuda1", 4)},
		DriverFiles: []facts.DriverFile{
			{
				File:  facts.File{Path: dir + "libcuda.so.535.161.08", Layer: 1, Size: int64(len(testimage.DriverLibrary("libcuda.so.1", "535.161.08"))), Package: "libcuda1", Manager: "dpkg"},
				Class: facts.ClassLibrary, Name: "libcuda.so", SONAME: "libcuda.so.1", Driver: "535.161.08", Matched: "rm-suffix", Machine: "x86_64",
			},
			{
				File:  facts.File{Path: dir + "libcuda.so.1", Layer: 1, Link: "libcuda.so.535.161.08", Resolved: dir + "libcuda.so.535.161.08", Package: "libcuda1", Manager: "dpkg"},
				Class: facts.ClassLink, Name: "libcuda.so", Matched: "name",
			},
		},
		Runtimes: []facts.Runtime{}, Toolkits: []facts.Toolkit{},
		Binaries: []facts.Binary{{
			File: facts.File{Path: dir + "libcuda.so.535.161.08", Layer: 1, Size: int64(len(testimage.DriverLibrary("libcuda.so.1", "535.161.08"))), Package: "libcuda1", Manager: "dpkg"},
			Kind: facts.BinaryLibrary, Machine: "x86_64", SONAME: "libcuda.so.1", Needed: []string{"libc.so.6"}, Links: []facts.Link{{Name: "libc.so.6"}},
		}},
		Libraries: []facts.Library{}, Frameworks: []facts.Framework{},
		Packages: []facts.Package{{Manager: "dpkg", Name: "libcuda1", Version: "535.161.08-1", Arch: "amd64", State: "installed", Layer: 1, Driver: true, Record: "/var/lib/dpkg/status"}},
	}
	if len(img.LinkerDirs) == 0 || img.LinkerDirs[0] != (facts.LinkerDir{Dir: "/opt/lib", Resolved: "/opt/lib", From: "LD_LIBRARY_PATH"}) {
		t.Errorf("linker directories %v", img.LinkerDirs)
	}
	for i, f := range img.DriverFiles {
		if f.Source == "" {
			t.Errorf("%s names no table row", f.Path)
		}
		img.DriverFiles[i].Source = ""
	}
	img.LinkerDirs = nil
	if diff := cmp.Diff(want, img); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSameFacts holds that form and compression change nothing but what they
// are about.
func TestSameFacts(t *testing.T) {
	t.Parallel()
	var want string
	for _, compression := range []string{testimage.Plain, testimage.Gzip, testimage.Zstd} {
		b := image(compression).Build()
		for form, data := range map[string][]byte{"oci": b.OCIArchive(), "docker": b.DockerArchive(), "docker25": b.DockerArchive25()} {
			for _, verify := range []bool{false, true} {
				img, err := Image(t.Context(), open(t, data, source.Options{}), Options{Verify: verify})
				if err != nil {
					t.Fatal(err)
				}
				if read := compression != testimage.Plain && form != "docker" || verify; img.Verified != read {
					t.Errorf("%s %s, verify %t: verified %t", form, compression, verify, img.Verified)
				}
				img.Source, img.Digest, img.Verified = "", "", false
				for i := range img.Layers {
					l := &img.Layers[i]
					l.Digest, l.MediaType, l.Size, l.Verified = "", "", 0, false
				}
				got, err := json.Marshal(img)
				if err != nil {
					t.Fatal(err)
				}
				if want == "" {
					want = string(got)
				}
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Errorf("%s %s (-want +got):\n%s", form, compression, diff)
				}
			}
		}
	}
}

// TestLayerErrors holds that each broken layer is named, with what to do.
func TestLayerErrors(t *testing.T) {
	t.Parallel()
	spoil := func(b testimage.Built, change func([]byte) []byte) testimage.Built {
		b.Layers[1].Data = change(bytes.Clone(b.Layers[1].Data))
		return b
	}
	gz, plain := image(testimage.Gzip), image(testimage.Plain)
	raw := func(compression string, data []byte) []byte {
		img := image(compression)
		img.Layers[2] = testimage.Layer{CreatedBy: "RUN x", Raw: data}
		return img.Build().OCIArchive()
	}
	diffID := gz.Build()
	diffID.DiffIDs[1] = "sha256:" + strings.Repeat("0", 64)
	for name, tt := range map[string]struct {
		data   []byte
		verify bool
		want   string
		is     error
	}{
		"digest": {spoil(gz.Build(), func(b []byte) []byte { b[4]++; return b }).OCIArchive(), false, "the manifest names sha256:", layers.ErrDigest},
		"digest, plain": {
			spoil(plain.Build(), func(b []byte) []byte { b[600]++; return b }).OCIArchive(), true, "the manifest names sha256:", layers.ErrDigest,
		},
		"gzip broken": {spoil(gz.Build(), func(b []byte) []byte { b[len(b)/2] ^= 0xff; return b }).OCIArchive(), false, "", nil},
		"not a tar":   {raw(testimage.Gzip, []byte(strings.Repeat("no tar at all ", 100))), false, "no valid tar", layers.ErrBroken},
		"gzip cut":    {raw(testimage.Plain, testimage.Compress(testimage.Gzip, bytes.Repeat([]byte("x"), 9000))[:30]), false, "", layers.ErrBroken},
		"tar cut":     {raw(testimage.Gzip, image(testimage.Plain).Layers[2].Tar()[:1200]), false, "in the middle", layers.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Image(t.Context(), open(t, tt.data, source.Options{}), Options{Verify: tt.verify})
			var le *LayerError
			if !errors.As(err, &le) {
				t.Fatalf("%v", err)
			}
			if le.Index != 1 || !strings.HasPrefix(err.Error(), "image.tar: layer 1 (sha256:") || !strings.Contains(err.Error(), tt.want) || le.Hint() == "" {
				t.Errorf("%v (hint %q)", err, le.Hint())
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
		})
	}
}

// TestWrongDiffID holds that a configuration cannot claim the diff IDs of
// another image, where the layer is read whole.
func TestWrongDiffID(t *testing.T) {
	t.Parallel()
	b := image(testimage.Plain).Build()
	config := strings.Replace(string(b.Config.Data), b.DiffIDs[1], "sha256:"+strings.Repeat("0", 64), 1)
	b.Config = testimage.NewBlob(testimage.TypeConfig, []byte(config))
	_, err := Image(t.Context(), open(t, b.DockerArchive(), source.Options{}), Options{Verify: true})
	if !errors.Is(err, layers.ErrDigest) || !strings.Contains(fmt.Sprint(err), "the configuration names") {
		t.Errorf("%v", err)
	}
}

func TestForeignLayer(t *testing.T) {
	t.Parallel()
	img := open(t, image(testimage.Gzip).Build().OCIArchive(), source.Options{})
	img.Layers[1].Foreign = true
	found, err := Image(t.Context(), img, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []facts.Incomplete{{Limit: "foreign-layer", Layer: 1, Count: 1, Hides: "all of the layer, which is not distributed with the image"}}
	if diff := cmp.Diff(want, found.Incomplete); diff != "" || found.Verified || !found.Layers[1].Foreign {
		t.Errorf("verified %t, layers %v (-want +got):\n%s", found.Verified, found.Layers, diff)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	why := errors.New("out of time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Image(ctx, open(t, image(testimage.Gzip).Build().OCIArchive(), source.Options{}), Options{}); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

// TestLimits holds that what a limit hides is said.
func TestLimits(t *testing.T) {
	t.Parallel()
	l := layers.DefaultLimits()
	l.Entries = 2
	img, err := Image(t.Context(), open(t, image(testimage.Gzip).Build().OCIArchive(), source.Options{}), Options{Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	if len(img.Incomplete) != 1 || img.Incomplete[0].Limit != "entries" || img.Incomplete[0].Layer != 1 {
		t.Errorf("%+v", img.Incomplete)
	}
}

// FuzzArchive opens anything as an image and scans what opens.
func FuzzArchive(f *testing.F) {
	b := image(testimage.Gzip).Build()
	plain := image(testimage.Plain)
	plain.Layers = append(plain.Layers, plain.Layers[0])
	p := plain.Build()
	for _, data := range [][]byte{
		b.OCIArchive(), b.DockerArchive(), b.DockerArchive25(), image(testimage.Zstd).Build().OCIArchive(),
		// Layers that no digest is compared with reach further.
		p.OCIArchive(), p.DockerArchive(), p.DockerArchive25(), testimage.Tar(testimage.NestedLayout(p, b)...),
	} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := filepath.Join(t.TempDir(), "image.tar")
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := source.OpenInput(t.Context(), p, source.Options{AllPlatforms: true})
		if err != nil {
			return
		}
		for _, img := range s.Images {
			found, err := Image(t.Context(), img, Options{})
			if (found == nil) == (err == nil) {
				t.Errorf("facts %v, error %v", found, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
