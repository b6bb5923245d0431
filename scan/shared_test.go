package scan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// TestShared holds that a layer which images of one set have in common is read
// once, and judged by what each of them claims of it.
func TestShared(t *testing.T) {
	t.Parallel()
	one := image(testimage.Gzip)
	one.Ref = "app:1"
	two := one
	two.Ref, two.Env = "app:2", []string{"A=b"}
	p := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(p, testimage.Tar(testimage.Layout(one.Build(), two.Build())...), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := source.OpenInput(t.Context(), p, source.Options{})
	if err != nil || len(set.Images) != 2 {
		t.Fatalf("%+v, %v", set, err)
	}
	defer func() { _ = set.Close() }()
	opened := map[string]int{}
	o := Options{Shared: &Shared{}, Parallel: 1, Verify: true}
	for _, img := range set.Images {
		for i, l := range img.Layers {
			img.Layers[i].Open = func(ctx context.Context) (source.Blob, error) {
				opened[l.Digest]++
				return l.Open(ctx)
			}
		}
		found, err := Image(t.Context(), img, o)
		if err != nil || !found.Verified || len(found.DriverFiles) != 2 {
			t.Errorf("%s: %+v, %v", img.Ref, found, err)
		}
	}
	for digest, n := range opened {
		if n != 1 {
			t.Errorf("%s was read %d times", digest, n)
		}
	}
	size := set.Images[1].Layers[0].Size
	set.Images[1].Layers[0].Size = 123
	if f, err := o.Shared.get(set.Images[1].Layers[0], false); f != nil || err != nil { // it is read again, and found out
		t.Errorf("a false size: %v, %v", f, err)
	}
	set.Images[1].Layers[0].Size = size
	set.Images[1].Layers[0].DiffID = testimage.Digest(nil)
	if _, err := Image(t.Context(), set.Images[1], o); !errors.Is(err, layers.ErrDigest) {
		t.Errorf("a false diff ID: %v", err)
	}
}
