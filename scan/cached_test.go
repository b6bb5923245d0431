package scan

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/cache"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// cached opens a cache of the test's own.
func cached(t *testing.T) Cached {
	t.Helper()
	c, err := cache.Open(t.TempDir(), layers.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // nothing is written by it
	return Cached{Cache: c, Tell: func(_ source.Layer, err error) {
		if err != nil {
			t.Error(err)
		}
	}}
}

// TestCachedLayersAreNotFetched holds that a layer which was read is not asked
// for again, and that its facts are the same.
func TestCachedLayersAreNotFetched(t *testing.T) {
	t.Parallel()
	for _, compression := range []string{testimage.Plain, testimage.Gzip, testimage.Zstd} {
		b := image(compression).Build()
		var fetched atomic.Int64
		img := remote(t.Context(), t, b, func(_ http.ResponseWriter, r *http.Request) bool {
			for _, l := range b.Layers {
				if strings.HasSuffix(r.URL.Path, l.Digest) {
					fetched.Add(1)
				}
			}
			return false
		})
		o := Options{Cached: cached(t)}
		cold, err := Image(t.Context(), img, o)
		if err != nil || fetched.Load() != 2 {
			t.Fatalf("%d fetched, %v", fetched.Load(), err)
		}
		warm, err := Image(t.Context(), img, o)
		if err != nil || fetched.Load() != 2 || !warm.Verified {
			t.Fatalf("%d fetched, %v", fetched.Load(), err)
		}
		if diff := cmp.Diff(jsonOf(t, cold), jsonOf(t, warm)); diff != "" {
			t.Errorf("-read +cached:\n%s", diff)
		}
		o.Verify = true
		if _, err := Image(t.Context(), img, o); err != nil || fetched.Load() != 4 {
			t.Errorf("with Verify: %d fetched, %v", fetched.Load(), err)
		}
	}
}

// driverless is the image of a base without driver files.
func driverless() testimage.Image {
	img := image(testimage.Gzip)
	img.Layers = img.Layers[:1]
	img.Layers[0].Files = append(img.Layers[0].Files, testimage.Reg("blob", noise(2*minClaimed)))
	return img
}

// noise is what no compression makes smaller.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b) // never fails
	return b
}

// TestForgedDiffIDs holds that a configuration which claims the diff IDs of a
// clean base gets nothing of its facts, and does not spoil what is kept of it.
func TestForgedDiffIDs(t *testing.T) {
	t.Parallel()
	clean := driverless().Build()
	o := Options{Cached: cached(t)}
	scan := func(img *source.Image, drivers int) {
		t.Helper()
		found, err := Image(t.Context(), img, o)
		if err != nil || len(found.DriverFiles) != drivers {
			t.Errorf("%s: %+v, %v", img.Kind, found, err)
		}
	}
	scan(remote(t.Context(), t, clean, nil), 0)
	dirty := image(testimage.Gzip)
	dirty.Layers = dirty.Layers[2:]
	forged := dirty.Build()
	config := strings.Replace(string(forged.Config.Data), forged.DiffIDs[0], clean.DiffIDs[0], 1)
	manifest := forged.Manifest
	forged.Config = testimage.NewBlob(forged.Config.MediaType, []byte(config))
	forged.Manifest = testimage.NewBlob(testimage.TypeManifest, []byte(strings.Replace(strings.Replace(string(manifest.Data),
		dirty.Build().Config.Digest, forged.Config.Digest, 1), `"size":`+strconv.Itoa(len(dirty.Build().Config.Data)), `"size":`+strconv.Itoa(len(config)), 1)))
	forged.DiffIDs = clean.DiffIDs
	for _, img := range []*source.Image{
		remote(t.Context(), t, forged, nil),
		open(t, testimage.Tar(testimage.Layout(forged)...), source.Options{}),
		open(t, forged.DockerArchive(), source.Options{}),
	} {
		found, err := Image(t.Context(), img, o)
		// The lie is told of where the diff ID is computed, and the driver file
		// where it is not.
		if err == nil && len(found.DriverFiles) != 2 || err != nil && !errors.Is(err, layers.ErrDigest) {
			t.Errorf("%s: %+v, %v", img.Kind, found, err)
		}
	}
	scan(remote(t.Context(), t, clean, nil), 0)
	scan(remote(t.Context(), t, dirty.Build(), nil), 2)
}

// TestCachedClaims holds that the blobs of a local archive are what their names
// say only by claim: the report says so, and Verify finds out.
func TestCachedClaims(t *testing.T) {
	t.Parallel()
	img := driverless()
	b := img.Build()
	o := Options{Cached: cached(t)}
	archive := open(t, b.OCIArchive(), source.Options{})
	if found, err := Image(t.Context(), archive, o); err != nil || !found.Verified {
		t.Fatalf("read: %+v, %v", found, err)
	}
	if found, err := Image(t.Context(), archive, o); err != nil || found.Verified || found.Layers[0].Digest != b.Layers[0].Digest {
		t.Errorf("cached: %+v, %v", found, err)
	}
	lie := *archive
	lie.Layers = append([]source.Layer{}, archive.Layers...)
	lie.Layers[0].DiffID = testimage.Digest(nil)
	o.Verify = true
	if _, err := Image(t.Context(), &lie, o); !errors.Is(err, layers.ErrDigest) {
		t.Errorf("a false diff ID: %v", err)
	}
	o.Verify = false
	lie.Layers[0].DiffID = archive.Layers[0].DiffID
	lie.Layers[0].Size++
	if found, err := Image(t.Context(), &lie, o); err != nil || !found.Verified {
		t.Errorf("of another size it is read: %+v, %v", found, err)
	}
	// What is not there, or is cut off, is an error with the cache as without.
	for name, blob := range map[string][]testimage.File{"missing": nil, "cut": {testimage.Reg("blobs/sha256/"+b.Layers[0].Digest[7:], b.Layers[0].Data[:100])}} {
		files := append(testimage.Without(testimage.Layout(b), "blobs/sha256/"+b.Layers[0].Digest[7:]), blob...)
		if found, err := Image(t.Context(), open(t, testimage.Tar(files...), source.Options{}), o); err == nil {
			t.Errorf("%s: %+v", name, found)
		}
	}
	small := open(t, image(testimage.Gzip).Build().OCIArchive(), source.Options{})
	for range 2 {
		if found, err := Image(t.Context(), small, o); err != nil || !found.Verified {
			t.Errorf("small layers are read, and verified: %+v, %v", found, err)
		}
	}
}

// TestCachedBase holds that the base's layers are told by their diff IDs as
// computed, also where the facts were kept without them.
func TestCachedBase(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	lower := image(testimage.Zstd)
	lower.Layers = lower.Layers[:1]
	o := Options{Cached: cached(t)}
	img := remote(t.Context(), t, b, nil)
	if _, err := Image(t.Context(), img, o); err != nil { // keeps no diff IDs
		t.Fatal(err)
	}
	o.Base = &Base{Image: remote(t.Context(), t, lower.Build(), nil), How: "reference"}
	for _, how := range []string{"read", "cached"} {
		if found, err := Image(t.Context(), img, o); err != nil || found.Base == nil || found.Base.Layers != 1 {
			t.Errorf("%s: %+v, %v", how, found, err)
		}
	}
	// A false diff ID is found out where it is computed, cached or not.
	img.Layers[0].DiffID = testimage.Digest(nil)
	base := *o.Base
	o.Base = nil
	if _, err := Image(t.Context(), img, o); err != nil {
		t.Errorf("it was not computed: %v", err)
	}
	other := *base.Image
	other.Layers = slices.Clone(other.Layers)
	other.Layers[0].DiffID = img.Layers[0].DiffID
	o.Base = &Base{Image: &other, How: "reference"}
	if _, err := Image(t.Context(), img, o); !errors.Is(err, layers.ErrDigest) {
		t.Errorf("a diff ID that is known to be false: %v", err)
	}
}

// TestCacheFails holds that a cache which cannot be written fails no scan.
func TestCacheFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := cache.Open(dir, layers.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	told := 0
	o := Options{Cached: Cached{Cache: c, Tell: func(_ source.Layer, err error) {
		if err != nil {
			told++
		}
	}}, Parallel: 1}
	found, err := Image(t.Context(), remote(t.Context(), t, image(testimage.Gzip).Build(), nil), o)
	if err != nil || len(found.DriverFiles) != 2 || told == 0 {
		t.Errorf("told %d times, %+v, %v", told, found, err)
	}
}
