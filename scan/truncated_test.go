package scan

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/source"
)

// TestTruncated cuts archives at every block and beside it: what can still be
// scanned has all facts.
func TestTruncated(t *testing.T) {
	t.Parallel()
	gz, plain := image(testimage.Gzip).Build(), image(testimage.Plain).Build()
	for form, data := range map[string][]byte{
		"oci": gz.OCIArchive(), "plain": plain.OCIArchive(), "docker": plain.DockerArchive(), "docker 25": gz.DockerArchive25(),
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			p := filepath.Join(t.TempDir(), "image.tar")
			scanned := 0
			for _, n := range cuts(len(data)) {
				if err := os.WriteFile(p, data[:n], 0o600); err != nil {
					t.Fatal(err)
				}
				s, err := source.OpenInput(t.Context(), p, source.Options{})
				if err != nil {
					var e *source.Error
					if !errors.As(err, &e) || e.Hint == "" {
						t.Errorf("%d bytes: %v", n, err)
					}
					continue
				}
				img, err := Image(t.Context(), s.Images[0], Options{})
				var le *LayerError
				switch {
				case err == nil && len(img.DriverFiles) == 2 && len(img.Packages) == 1 && len(img.Layers) == 2:
					scanned++
				case !errors.As(err, &le) || le.Hint() == "":
					t.Errorf("%d bytes of %d: facts %v, error %v", n, len(data), img, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if scanned == 0 {
				t.Error("not even the whole archive was scanned")
			}
		})
	}
}

// cuts are the lengths around each block of a tar, and all of it.
func cuts(size int) []int {
	var out []int
	for n := 0; n < size; n += 512 {
		out = append(out, n, n+1, n+511)
	}
	return append(out, size)
}
