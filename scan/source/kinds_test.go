package source

import (
	"errors"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

// TestMediaTypes holds that a manifest is told by its media type, and by its
// shape where it has none.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	b := small(testimage.Gzip).Build()
	const docker = "application/vnd.docker.distribution.manifest.v2+json"
	typed := func(own, named string) testimage.Blob {
		m := string(b.Manifest.Data)
		if own == "" {
			m = strings.Replace(m, `"mediaType":"`+testimage.TypeManifest+`",`, "", 1)
		}
		blob := testimage.NewBlob(named, []byte(strings.Replace(m, testimage.TypeManifest, own, 1)))
		return blob
	}
	inner := testimage.Index(b.Manifest)
	inner.MediaType = ""
	for name, tt := range map[string]struct {
		blob testimage.Blob
		want string
	}{
		"OCI":                     {typed(testimage.TypeManifest, testimage.TypeManifest), ""},
		"docker":                  {typed(docker, docker), ""},
		"by itself":               {typed(docker, ""), ""},
		"by its shape":            {typed("", ""), ""},
		"schema 1":                {typed("x", "application/vnd.docker.distribution.manifest.v1+prettyjws"), "manifests of Docker's schema 1 are not supported"},
		"other":                   {typed("x", "application/vnd.example"), `unknown media type "application/vnd.example"`},
		"other, by itself":        {typed("application/vnd.example", ""), `unknown media type "application/vnd.example"`},
		"no shape":                {testimage.NewBlob("", []byte("{}")), `unknown media type ""`},
		"no JSON":                 {testimage.NewBlob("", []byte("{")), "invalid JSON"},
		"escapes":                 {typed("x", `\u001b[31m`), "unknown media type"},
		"index as manifest":       {inner, "an index stands where a manifest was named"},
		"manifest named an index": {testimage.NewBlob(testimage.TypeIndex, b.Manifest.Data), "it has no image"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := testimage.LayoutOf(testimage.Index(tt.blob), tt.blob, b.Config, b.Layers[0], b.Layers[1])
			input := write(t, testimage.Tar(files...))
			s, err := openInput(t, input, Options{})
			if tt.want != "" {
				isError(t, err, input, tt.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := summarize(t, s.Images[0]); len(got.Content) != 2 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestAttestationsAlone holds that BuildKit's attestations are no image, by
// their annotation and by their platform.
func TestAttestationsAlone(t *testing.T) {
	t.Parallel()
	noted, unknown := small(testimage.Plain).Build(), small(testimage.Plain).Build()
	noted.Manifest.Notes = map[string]string{attestation: "attestation-manifest"}
	unknown.Manifest.Platform = &testimage.Platform{OS: "unknown", Architecture: "unknown"}
	for _, files := range [][]testimage.File{testimage.Layout(noted), testimage.Layout(unknown), testimage.NestedLayout(noted, unknown)} {
		input := write(t, testimage.Tar(files...))
		_, err := openInput(t, input, Options{})
		isError(t, err, input, "it has no image")
	}
}

// TestOversizedMetadata holds that files which are too large for what they are
// are not read.
func TestOversizedMetadata(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	pad := func(files []testimage.File, name string, n int) []testimage.File {
		for i := range files {
			if files[i].Name == name {
				files[i].Data = append([]byte(strings.Repeat(" ", n)), files[i].Data...)
			}
		}
		return files
	}
	old := dockerFiles(b, "c.json", "a", "b")
	for name, files := range map[string][]testimage.File{
		"index.json":         pad(testimage.Layout(b), "index.json", maxManifest),
		blobName(b.Manifest): pad(testimage.Layout(b), blobName(b.Manifest), maxManifest),
		blobName(b.Config):   pad(testimage.Layout(b), blobName(b.Config), maxConfig),
		"manifest.json":      pad(append([]testimage.File{}, old...), "manifest.json", maxManifest),
		"c.json":             pad(append([]testimage.File{}, old...), "c.json", maxConfig),
	} {
		input := write(t, testimage.Tar(files...))
		_, err := openInput(t, input, Options{})
		isError(t, err, input, `"`+name+`" has `)
	}
}

// TestMalformedPlatforms holds that a platform which is none is the caller's
// error, whatever is opened.
func TestMalformedPlatforms(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"", "linux", "linux/", "/amd64", "a/b/c/d", "all"} {
		o := Options{Platforms: []string{p}}
		_, file := OpenInput(t.Context(), "missing.tar", o)
		_, remote := Open(t.Context(), "registry.invalid/a:b", o)
		_, stream := OpenStream(t.Context(), "-", strings.NewReader(""), o, nil)
		for ref, err := range map[string]error{"missing.tar": file, "registry.invalid/a:b": remote, "-": stream} {
			var e *Error
			if !errors.As(err, &e) || !e.Usage || e.Ref != ref || !strings.Contains(err.Error(), `is no platform: want one like linux/amd64`) || e.Hint == "" {
				t.Errorf("%q: %v", p, err)
			}
		}
	}
}

// TestRegistryPlatforms holds that what an index lacks is answered with what
// it has, and that a lone image of another platform is none.
func TestRegistryPlatforms(t *testing.T) {
	t.Parallel()
	v7 := small(testimage.Gzip)
	v7.Platform = "linux/arm/v7"
	a, b := small(testimage.Gzip).Build(), v7.Build()
	host := startRegistry(t, nil)
	if err := testimage.PushIndex(t.Context(), host, "team/app", "all", testimage.Index(a.Manifest, b.Manifest), a, b); err != nil {
		t.Fatal(err)
	}
	if err := b.Push(t.Context(), host, "team/app", "v7"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tag, platform, want string }{
		{"all", "linux/arm/v6", "no image for linux/arm/v6: the index has linux/amd64, linux/arm/v7"},
		{"all", "windows/amd64", "no image for windows/amd64: the index has linux/amd64, linux/arm/v7"},
		{"v7", "linux/amd64", "no image for linux/amd64: it is of linux/arm/v7"},
		{"v7", "linux/arm/v7", ""},
		{"all", "linux/arm", ""},
	} {
		o := plainHTTP()
		o.Platforms = []string{tt.platform}
		ref := host + "/team/app:" + tt.tag
		s, err := Open(t.Context(), ref, o)
		switch {
		case tt.want != "":
			isError(t, err, ref, tt.want)
		case err != nil || len(s.Images) != 1 || s.Images[0].Platform != "linux/arm/v7":
			t.Errorf("%s of %s: %v", tt.platform, tt.tag, err)
		}
	}
}

// TestRegistryManyIndexes holds that a registry's index may not name others
// without end.
func TestRegistryManyIndexes(t *testing.T) {
	t.Parallel()
	host := startRegistry(t, nil)
	index := testimage.Index()
	for range maxNesting + 2 {
		if err := testimage.PushManifest(t.Context(), host, "team/app", index.Digest, index); err != nil {
			t.Fatal(err)
		}
		index = testimage.Index(index)
	}
	if err := testimage.PushManifest(t.Context(), host, "team/app", "1", index); err != nil {
		t.Fatal(err)
	}
	ref := host + "/team/app:1"
	_, err := Open(t.Context(), ref, plainHTTP())
	isError(t, err, ref, "4 levels")
}
