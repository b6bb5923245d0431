package scan

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/source"
)

type netBlob struct{ io.Reader }

func (netBlob) Close() error               { return nil }
func (netBlob) Section() *io.SectionReader { return nil }

// TestProgress holds that every byte that comes from a network is told, and
// the end of each layer.
func TestProgress(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	img := open(t, b.OCIArchive(), source.Options{})
	for i := range img.Layers {
		img.Layers[i].Open = func(context.Context) (source.Blob, error) { return netBlob{bytes.NewReader(b.Layers[i].Data)}, nil }
	}
	var mu sync.Mutex
	read, done := map[int]int{}, 0
	_, err := Image(t.Context(), img, Options{Progress: func(l source.Layer) (func(int), func()) {
		return func(n int) {
				mu.Lock()
				defer mu.Unlock()
				read[l.Index] += n
			}, func() {
				mu.Lock()
				defer mu.Unlock()
				done++
			}
	}})
	if err != nil || done != 2 || read[0] != len(b.Layers[0].Data) || read[1] != len(b.Layers[1].Data) {
		t.Errorf("read %v, done %d, %v", read, done, err)
	}
}
