package source

import (
	"errors"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

// TestRepeatedConfiguration holds that a small archive which names one large
// configuration again and again costs no memory without bound.
func TestRepeatedConfiguration(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	b = withConfig(b, strings.Replace(string(b.Config.Data), `{`, `{"padding":"`+strings.Repeat("x", 7<<20)+`",`, 1))
	const n = maxMetadata/(7<<20) + 2
	named := make([]testimage.Blob, n)
	same := make([]testimage.Blob, n)
	blobs := []testimage.Blob{b.Config, b.Layers[0], b.Layers[1]}
	for i := range n {
		m := withManifest(b, strings.Replace(string(b.Manifest.Data), "{", `{"n":`+itoa(int64(i))+",", 1)).Manifest
		blobs = append(blobs, m)
		named[i], same[i] = m, m
		named[i].Notes = map[string]string{"io.containerd.image.name": "app" + itoa(int64(i))}
		same[i].Platform = nil
	}
	entry := strings.TrimSuffix(docker25(b)[1:], "]")
	docker := []testimage.File{
		testimage.Text("manifest.json", "["+entry+strings.Repeat(","+entry, n)+"]"),
		testimage.Reg(blobName(b.Config), b.Config.Data), testimage.Reg(blobName(b.Layers[0]), b.Tars[0]), testimage.Reg(blobName(b.Layers[1]), b.Tars[1]),
	}
	for name, files := range map[string][]testimage.File{
		"names":     testimage.LayoutOf(testimage.Index(named...), blobs...),
		"platforms": testimage.LayoutOf(testimage.Index(same...), blobs...),
		"docker":    docker,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openInput(t, write(t, testimage.Tar(files...)), Options{AllPlatforms: true})
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), "manifests and configurations of more than") || e.Hint == "" {
				t.Errorf("%v", err)
			}
		})
	}
}
