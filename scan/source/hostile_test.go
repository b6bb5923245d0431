package source

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gpulint/gpulint/internal/testimage"
)

// TestManyIndexes holds that indexes which name each other again and again
// cost no exponential time.
func TestManyIndexes(t *testing.T) {
	t.Parallel()
	inner := testimage.Index()
	blobs := []testimage.Blob{inner}
	for range 3 {
		many := make([]testimage.Blob, 500)
		for i := range many {
			many[i] = inner
		}
		inner = testimage.Index(many...)
		blobs = append(blobs, inner)
	}
	input := write(t, testimage.Tar(testimage.LayoutOf(testimage.Index(inner), blobs...)...))
	start := time.Now()
	_, err := openInput(t, input, Options{})
	if err == nil || !strings.Contains(err.Error(), "indexes") || time.Since(start) > 30*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}

// TestIndexOfItself holds that an index cannot name itself: no digest allows.
func TestIndexOfItself(t *testing.T) {
	t.Parallel()
	self := testimage.Index()
	blob := self
	blob.Data = testimage.Index(self).Data
	_, err := openInput(t, write(t, testimage.Tar(testimage.LayoutOf(testimage.Index(self), blob)...)), Options{})
	if !errors.Is(err, errDigest) {
		t.Errorf("%v", err)
	}
}

// TestWrongDigests holds that a manifest, an index and a configuration are
// what their digests name, also where docker's manifest.json lies beside them.
func TestWrongDigests(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	inner := testimage.Index(b.Manifest)
	for name, of := range map[string]testimage.Blob{"configuration": b.Config, "manifest": b.Manifest, "index": inner} {
		for form, files := range map[string][]testimage.File{
			"oci": testimage.NestedLayout(b), "docker 25": append(testimage.NestedLayout(b), testimage.Text("manifest.json", docker25(b))),
		} {
			t.Run(form+" "+name, func(t *testing.T) {
				t.Parallel()
				for i := range files {
					if files[i].Name == blobName(of) {
						files[i].Data = []byte(strings.Replace(string(of.Data), `{`, `{ `, 1))
					}
				}
				_, err := openInput(t, write(t, testimage.Tar(files...)), Options{})
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, errDigest) || !strings.Contains(err.Error(), of.Digest) || !strings.Contains(e.Op, name) || e.Hint == "" {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

func blobName(b testimage.Blob) string {
	return "blobs/sha256/" + strings.TrimPrefix(b.Digest, "sha256:")
}

// docker25 is the manifest.json beside an OCI layout.
func docker25(b testimage.Built) string {
	names := make([]string, 0, len(b.Layers))
	for _, l := range b.Layers {
		names = append(names, blobName(l))
	}
	return `[{"Config":"` + blobName(b.Config) + `","RepoTags":null,"Layers":["` + strings.Join(names, `","`) + `"]}]`
}

// TestFallback holds that docker's manifest.json serves where the layout
// beside it is not whole, and that the layout's error is shown where it does
// not.
func TestFallback(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	files := append(testimage.Without(testimage.Layout(b), blobName(b.Manifest)), testimage.Text("manifest.json", docker25(b)))
	s, err := openInput(t, write(t, testimage.Tar(files...)), Options{})
	if err != nil || s.Images[0].Kind != KindDockerArchive || len(s.Images[0].Layers) != 2 {
		t.Errorf("%v, %v", s, err)
	}
	_, err = openInput(t, write(t, testimage.Tar(testimage.Without(files, blobName(b.Config))...)), Options{})
	if err == nil || !strings.Contains(err.Error(), "reading the manifest") {
		t.Errorf("%v", err)
	}
}

// TestAbsentPlatforms holds that of a multi-platform image of which only one
// platform was saved, that one is taken.
func TestAbsentPlatforms(t *testing.T) {
	t.Parallel()
	of := func(platform string) testimage.Built {
		img := small(testimage.Plain)
		img.Platform = platform
		return img.Build()
	}
	amd, arm := of("linux/amd64"), of("linux/arm64")
	input := write(t, testimage.Tar(testimage.Without(testimage.NestedLayout(amd, arm), blobName(amd.Manifest))...))
	s, err := openInput(t, input, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Images[0].IndexPlatforms, " "); s.Images[0].Platform != "linux/arm64" || !strings.Contains(got, "linux/amd64") {
		t.Errorf("%s of %s", s.Images[0].Platform, got)
	}
	s, err = openInput(t, input, Options{AllPlatforms: true})
	if err != nil || len(s.Images) != 1 || strings.Join(s.Images[0].AbsentPlatforms, " ") != "linux/amd64" {
		t.Errorf("%+v, %v", s, err)
	}
	_, err = openInput(t, input, Options{Platforms: []string{"linux/amd64"}})
	isError(t, err, input, "the index names an image for linux/amd64, "+amd.Manifest.Digest+", but it is missing in the archive")
	none := write(t, testimage.Tar(testimage.Without(testimage.Without(testimage.NestedLayout(amd, arm), blobName(amd.Manifest)), blobName(arm.Manifest))...))
	for _, o := range []Options{{}, {AllPlatforms: true}} {
		_, err = openInput(t, none, o)
		isError(t, err, none, "is missing in the archive")
	}
}

// TestLayerClaims holds that what manifest and configuration claim of a layer
// is checked.
func TestLayerClaims(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	size := `"size":` + itoa(b.Layers[1].Size)
	for want, bad := range map[string]testimage.Built{
		"layer 1 has no digest or size": withManifest(b, strings.Replace(string(b.Manifest.Data), size, `"size":-1`, 1)),
		"invalid manifest":              withManifest(b, strings.Replace(string(b.Manifest.Data), size, `"size":99999999999999999999`, 1)),
		"cannot parse hash":             withConfig(b, strings.Replace(string(b.Config.Data), `"`+b.DiffIDs[1]+`"`, "null", 1)),
		"invalid configuration":         withConfig(b, strings.Replace(string(b.Config.Data), b.DiffIDs[1], "sha256:zz", 1)),
		"it names 2 layers":             withManifest(b, strings.Replace(string(b.Manifest.Data), `"layers":[`, `"layers":[`+strings.Repeat(string(jsonOf(b.Layers[0]))+",", 900), 1)),
		"the manifest has 1003 layers":  withManifest(b, strings.Replace(string(b.Manifest.Data), `"layers":[`, `"layers":[`+strings.Repeat(string(jsonOf(b.Layers[0]))+",", 1001), 1)),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := openInput(t, write(t, bad.OCIArchive()), Options{})
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Hint == "" {
				t.Errorf("%v (%+v)", err, e)
			}
		})
	}
}

// TestBlobSize holds that a layer of another size than the manifest claims is
// an error, however large the claim.
func TestBlobSize(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	for _, claim := range []string{"0", "1", "4611686018427387904"} {
		bad := withManifest(b, strings.Replace(string(b.Manifest.Data), `"size":`+itoa(b.Layers[1].Size), `"size":`+claim, 1))
		dir := t.TempDir()
		if err := testimage.WriteDir(dir, testimage.Layout(bad)); err != nil {
			t.Fatal(err)
		}
		for _, input := range []string{write(t, bad.OCIArchive()), dir} {
			s, err := openInput(t, input, Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Images[0].Layers[1].Open(t.Context())
			if want := "bytes, the manifest says " + claim; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", claim, err)
			}
		}
	}
}

// TestUnreadable holds that a file which may not be read is said so.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	input := write(t, []byte("x"))
	if err := os.Chmod(input, 0); err != nil {
		t.Fatal(err)
	}
	_, err := openInput(t, input, Options{})
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "permission denied") || e.Hint == "" {
		t.Errorf("%v", err)
	}
}
