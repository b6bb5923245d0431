package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vbauerster/mpb/v8"

	"github.com/gpulint/gpulint/scan/source"
)

// TestTotalSize holds that a layer which images have in common is counted once.
func TestTotalSize(t *testing.T) {
	t.Parallel()
	base := source.Layer{Blob: "a", Size: 10}
	images := []*source.Image{
		{Layers: []source.Layer{base, {Blob: "b", Size: 5}, {Blob: "c", Size: 100, Foreign: true}}},
		{Layers: []source.Layer{base, {Size: 3}, {Size: 3}, {Blob: "d", Size: -1}}},
	}
	if n := totalSize(images); n != 21 {
		t.Errorf("%d", n)
	}
}

// TestProgress holds that a large layer has a line, and all together have one.
func TestProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{bars: mpb.New(mpb.WithOutput(&out), mpb.WithAutoRefresh()), size: 3 * minProgress}
	read, done := p.layer(source.Layer{Index: 4, Digest: "sha256:0123456789abcdef", Size: 2 * minProgress})
	small, smallDone := p.layer(source.Layer{Index: 5, Size: 7})
	read(minProgress)
	small(7)
	if n := p.total.Current(); n != minProgress+7 {
		t.Errorf("the total is %d", n)
	}
	done()
	smallDone()
	p.wait()
	var nobody *progress
	nobody.wait()
	if text := out.String(); strings.Contains(text, "layer 5") {
		t.Errorf("a small layer has a line: %q", text)
	}
}
