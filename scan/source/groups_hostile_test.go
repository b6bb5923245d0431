package source

import (
	"strings"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

// TestPickByDigest holds that a digest takes the very manifest or index that it
// names, whatever others call themselves.
func TestPickByDigest(t *testing.T) {
	t.Parallel()
	arm, amd := noted(imageOf("", "linux/arm64", "arm"), "", false), noted(imageOf("", "linux/amd64", "amd"), "", false)
	evil := noted(imageOf("", "", "evil"), amd.Manifest.Digest, true)
	inner := testimage.Index(arm.Manifest, amd.Manifest)
	outer := testimage.Index(inner)
	blobs := []testimage.Blob{inner, outer, arm.Manifest, arm.Config, arm.Layers[0], amd.Manifest, amd.Config, amd.Layers[0], evil.Manifest, evil.Config, evil.Layers[0]}
	evilDocker := strings.Replace(docker25(evil), `"RepoTags":null`, `"RepoTags":["@0","`+amd.Config.Digest+`"]`, 1)
	docker := append(testimage.LayoutOf(testimage.Index(), blobs...),
		testimage.Text("manifest.json", strings.TrimSuffix(docker25(amd), "]")+","+strings.TrimPrefix(evilDocker, "[")))
	for name, tt := range map[string]struct {
		files      []testimage.File
		form, pick string
		want       string
	}{
		"first of merged":  {testimage.Layout(arm, amd), "oci-archive:", "@" + arm.Manifest.Digest, "arm"},
		"second of merged": {testimage.Layout(arm, amd), "oci-archive:", "@" + amd.Manifest.Digest, "amd"},
		"a digest as name": {testimage.Layout(evil, amd), "oci-archive:", "@" + amd.Manifest.Digest, "amd"},
		"nested index":     {testimage.LayoutOf(testimage.Index(outer), blobs...), "oci-archive:", "@" + inner.Digest, "amd"},
		"docker, index":    {docker, "docker-archive:", ":@0", "amd"},
		"docker, digest":   {docker, "docker-archive:", "@" + amd.Config.Digest, "amd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := tt.form + write(t, testimage.Tar(tt.files...)) + tt.pick
			s, err := openInput(t, input, Options{})
			if err != nil || len(s.Images) != 1 {
				t.Fatalf("%+v, %v", s, err)
			}
			if got := strings.TrimPrefix(s.Images[0].Layers[0].CreatedBy, "COPY "); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestBesideImages holds what does not hide an image beside it, and what is an
// error.
func TestBesideImages(t *testing.T) {
	t.Parallel()
	one, two := imageOf("app:1", "", "one"), noted(imageOf("", "", "two"), "", false)
	sbom := withManifest(two, strings.Replace(string(two.Manifest.Data), testimage.TypeConfig, emptyConfig, 1))
	sbom.Manifest.Notes = nil
	inner := testimage.Index(one.Manifest, two.Manifest)
	inner.Notes = map[string]string{"org.opencontainers.image.ref.name": "all"}
	blobs := []testimage.Blob{inner, one.Manifest, one.Config, one.Layers[0], two.Manifest, two.Config, two.Layers[0], sbom.Manifest}
	arm := noted(imageOf("", "linux/arm64", "arm"), "", false)
	for name, tt := range map[string]struct {
		index testimage.Blob
		want  string
	}{
		"an artifact":            {testimage.Index(one.Manifest, sbom.Manifest), "#app:1|app|linux/amd64|one"},
		"an artifact alone":      {testimage.Index(sbom.Manifest), "error: it is no container image"},
		"listed twice":           {testimage.Index(inner, two.Manifest), "||linux/amd64|two"},
		"names in a named index": {testimage.Index(inner), "|app|linux/amd64|one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := write(t, testimage.Tar(testimage.LayoutOf(tt.index, blobs...)...))
			s, err := openInput(t, input, Options{})
			if text, ok := strings.CutPrefix(tt.want, "error: "); ok {
				isError(t, err, input, text)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := opened(s, input)
			if name == "listed twice" {
				if len(s.Images) != 1 {
					t.Errorf("%s", got)
				}
			} else if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("a tampered platform", func(t *testing.T) {
		t.Parallel()
		bad := two.Config
		bad.Data = []byte(strings.Replace(string(bad.Data), "amd64", "amd46", 1))
		index := testimage.Index(arm.Manifest, two.Manifest)
		input := write(t, testimage.Tar(testimage.LayoutOf(index, arm.Manifest, arm.Config, arm.Layers[0], two.Manifest, bad, two.Layers[0])...))
		_, err := openInput(t, input, Options{})
		isError(t, err, input, "wrong digest")
	})
}

// TestDockerPlatforms holds that each wanted platform is looked for among all
// images of a docker archive.
func TestDockerPlatforms(t *testing.T) {
	t.Parallel()
	amd, arm := imageOf("app:1", "linux/amd64", "amd"), imageOf("app:1", "linux/arm64", "arm")
	files := append(testimage.LayoutOf(testimage.Index(), amd.Config, amd.Layers[0], arm.Config, arm.Layers[0]),
		testimage.Text("manifest.json", "["+tagged(amd)+","+tagged(arm)+"]"))
	input := "docker-archive:" + write(t, testimage.Tar(files...))
	for want, platforms := range map[string][]string{
		"2": {"linux/amd64", "linux/arm64"}, "1": {"linux/arm64"}, "1 ": {"linux/arm64", "linux/arm64/v8"},
		"no image for linux/s390x": {"linux/amd64", "linux/s390x"}, "it is of linux/": {"linux/s390x"},
	} {
		s, err := openInput(t, input, Options{Platforms: platforms})
		if len(want) > 2 {
			isError(t, err, input, want)
		} else if err != nil || itoa(int64(len(s.Images))) != strings.TrimSpace(want) {
			t.Errorf("%v: %+v, %v", platforms, s, err)
		}
	}
}

// TestStreamedForm holds that a compressed archive is no directory.
func TestStreamedForm(t *testing.T) {
	t.Parallel()
	p := write(t, testimage.Compress(testimage.Gzip, small(testimage.Plain).Build().OCIArchive()))
	for _, form := range []string{"oci:", "rootfs:"} {
		if _, err := OpenFile(t.Context(), form+p); err == nil {
			t.Errorf("%s: it was opened", form)
		}
	}
}
