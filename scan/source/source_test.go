package source

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/internal/testimage"
)

// small is an image of two layers with history between them.
func small(compression string) testimage.Image {
	return testimage.Image{
		Ref: "registry.example.com:5000/team/app:1.2", Compression: compression,
		Layers: []testimage.Layer{
			{CreatedBy: "ADD rootfs.tar /", Files: []testimage.File{testimage.Text("etc/os-release", "ID=debian\n")}},
			{CreatedBy: "ENV A=b", NoBlob: true},
			{CreatedBy: "COPY app /", Files: []testimage.File{testimage.Text("app", strings.Repeat("x", 3000))}},
		},
	}
}

// write puts bytes into a file of the test's own.
func write(t *testing.T, data []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(p, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// openInput opens and closes with the test.
func openInput(t *testing.T, input string, o Options) (*Set, error) {
	t.Helper()
	s, err := OpenInput(t.Context(), input, o)
	if err == nil {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s, err
}

// summary is what matters of an image.
type summary struct {
	Kind, Name, Platform string
	Digests, DiffIDs     []string
	CreatedBy            []string
	Content              []string
}

func summarize(t *testing.T, img *Image) summary {
	t.Helper()
	s := summary{Kind: img.Kind, Name: img.Name, Platform: img.Platform}
	for i, l := range img.Layers {
		if l.Index != i {
			t.Errorf("layer %d has the index %d", i, l.Index)
		}
		b, err := l.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(b)
		if err != nil {
			t.Fatal(err)
		}
		if sec := b.Section(); sec != nil && sec.Size() != l.Size || int64(len(data)) != l.Size {
			t.Errorf("layer %d has %d bytes, %d were read", i, l.Size, len(data))
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		s.Digests, s.DiffIDs = append(s.Digests, l.Digest), append(s.DiffIDs, l.DiffID)
		s.CreatedBy, s.Content = append(s.CreatedBy, l.CreatedBy), append(s.Content, testimage.Digest(data))
	}
	return s
}

// TestForms opens the same image in every form.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, compression := range []string{testimage.Plain, testimage.Gzip, testimage.Zstd} {
		b := small(compression).Build()
		stored := []string{b.Layers[0].Digest, b.Layers[1].Digest}
		dir := t.TempDir()
		if err := testimage.WriteDir(dir, testimage.Layout(b)); err != nil {
			t.Fatal(err)
		}
		dot := testimage.Layout(b)
		for i := range dot {
			dot[i].Name = "./" + dot[i].Name
		}
		docker := write(t, b.DockerArchive())
		archive := write(t, b.OCIArchive())
		for name, tt := range map[string]struct {
			input, kind string
			digests     bool
		}{
			"oci archive":     {archive, KindOCIArchive, true},
			"oci prefix":      {"oci-archive:" + archive, KindOCIArchive, true},
			"oci archive, ./": {write(t, testimage.Tar(dot...)), KindOCIArchive, true},
			"nested index":    {write(t, testimage.Tar(testimage.NestedLayout(b)...)), KindOCIArchive, true},
			"docker save 25":  {write(t, b.DockerArchive25()), KindOCIArchive, true},
			"layout":          {dir, KindOCILayout, true},
			"layout prefix":   {"oci:" + dir, KindOCILayout, true},
			"docker archive":  {docker, KindDockerArchive, false},
			"docker prefix":   {"docker-archive:" + docker, KindDockerArchive, false},
		} {
			t.Run(compression+" "+name, func(t *testing.T) {
				t.Parallel()
				s, err := openInput(t, tt.input, Options{})
				if err != nil || len(s.Images) != 1 {
					t.Fatalf("%v: %v", s, err)
				}
				want := summary{
					Kind: tt.kind, Name: "registry.example.com:5000/team/app", Platform: "linux/amd64",
					Digests: stored, DiffIDs: b.DiffIDs, CreatedBy: []string{"ADD rootfs.tar /", "COPY app /"}, Content: stored,
				}
				if !tt.digests { // an old archive names none, and its layers are plain
					want.Digests, want.Content = []string{"", ""}, b.DiffIDs
				}
				if diff := cmp.Diff(want, summarize(t, s.Images[0])); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestNames holds that a name never comes from the input's path.
func TestNames(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"": "", "app:1": "app", "localhost:5000/a/b": "localhost:5000/a/b", "a/b@sha256:00": "a/b", "a/b:1@sha256:00": "a/b",
	} {
		img := small(testimage.Plain)
		img.Ref = ref
		for _, data := range [][]byte{img.Build().OCIArchive(), img.Build().DockerArchive()} {
			s, err := openInput(t, write(t, data), Options{})
			if err != nil || s.Images[0].Name != want {
				t.Errorf("%q: %v, %v", ref, s, err)
			}
		}
	}
}

// TestHistory holds that instructions are not guessed where history and layers
// do not match.
func TestHistory(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	config := strings.Replace(string(b.Config.Data), `,"empty_layer":true`, "", 1)
	if config == string(b.Config.Data) {
		t.Fatal("no empty layer in the history")
	}
	b = withConfig(b, config)
	s, err := openInput(t, write(t, b.OCIArchive()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Images[0].Layers {
		if l.CreatedBy != "" {
			t.Errorf("layer %d: %q", l.Index, l.CreatedBy)
		}
	}
}

// withConfig replaces the configuration, and what names it.
func withConfig(b testimage.Built, config string) testimage.Built {
	old := b.Config
	b.Config = testimage.NewBlob(testimage.TypeConfig, []byte(config))
	m := strings.Replace(string(b.Manifest.Data), old.Digest, b.Config.Digest, 1)
	return withManifest(b, strings.Replace(m, `"size":`+itoa(old.Size), `"size":`+itoa(b.Config.Size), 1))
}

func withManifest(b testimage.Built, manifest string) testimage.Built {
	m := testimage.NewBlob(testimage.TypeManifest, []byte(manifest))
	m.Platform, m.Notes = b.Manifest.Platform, b.Manifest.Notes
	b.Manifest = m
	return b
}

func TestPlatforms(t *testing.T) {
	t.Parallel()
	of := func(platform string) testimage.Built {
		img := small(testimage.Plain)
		img.Platform = platform
		img.Layers = append(img.Layers, testimage.Layer{CreatedBy: platform})
		return img.Build()
	}
	amd, arm, v7 := of("linux/amd64"), of("linux/arm64"), of("linux/arm/v7")
	att := of("linux/amd64")
	att.Manifest.Platform = &testimage.Platform{OS: "unknown", Architecture: "unknown"}
	att.Manifest.Notes = map[string]string{"vnd.docker.reference.type": "attestation-manifest"}
	all := write(t, testimage.Tar(testimage.NestedLayout(arm, att, amd, v7)...))
	noAmd := write(t, testimage.Tar(testimage.NestedLayout(arm, v7)...))
	one := write(t, amd.OCIArchive())
	for name, tt := range map[string]struct {
		input string
		o     Options
		want  string
		err   string
		usage bool
	}{
		"default":        {input: all, want: "linux/amd64"},
		"no amd64":       {input: noAmd, want: "linux/arm64"},
		"all":            {input: all, o: Options{AllPlatforms: true}, want: "linux/arm64 linux/amd64 linux/arm/v7"},
		"one":            {input: all, o: Options{Platforms: []string{"linux/arm64"}}, want: "linux/arm64"},
		"arm64 is v8":    {input: all, o: Options{Platforms: []string{"linux/arm64/v8"}}, want: "linux/arm64"},
		"arm of some v":  {input: all, o: Options{Platforms: []string{"linux/arm"}}, want: "linux/arm/v7"},
		"two":            {input: all, o: Options{Platforms: []string{"linux/arm/v7", "linux/amd64"}}, want: "linux/arm/v7 linux/amd64"},
		"not there":      {input: all, o: Options{Platforms: []string{"linux/s390x"}}, err: "no image for linux/s390x: the index has linux/arm64, linux/amd64, linux/arm/v7"},
		"other variant":  {input: all, o: Options{Platforms: []string{"linux/arm/v6"}}, err: "no image for linux/arm/v6"},
		"malformed":      {input: all, o: Options{Platforms: []string{"linux"}}, err: "is no platform", usage: true},
		"nonsense":       {input: all, o: Options{Platforms: []string{"a/b/c/d"}}, err: "is no platform", usage: true},
		"single, right":  {input: one, o: Options{Platforms: []string{"linux/amd64"}}, want: "linux/amd64"},
		"single, other":  {input: one, o: Options{Platforms: []string{"linux/arm64"}}, err: "linux/arm64"},
		"single and all": {input: one, o: Options{AllPlatforms: true}, want: "linux/amd64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openInput(t, tt.input, tt.o)
			if tt.err != "" {
				var e *Error
				if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.err) || e.Usage != tt.usage || !tt.usage && e.Hint == "" {
					t.Fatalf("%#v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, 0, len(s.Images))
			for _, img := range s.Images {
				got = append(got, img.Platform)
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%v, want %s", got, tt.want)
			}
			if n := len(s.Images[0].IndexPlatforms); tt.input == all && n != 3 {
				t.Errorf("the index has %d platforms", n)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "localhost:1/a:b", Options{PlainHTTP: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
