package layers

import (
	"fmt"
	"strings"
	"testing"
)

// TestIndexLongNames holds that names which are long and alike, and take no
// room in the index, take none in memory either while it is made or read.
func TestIndexLongNames(t *testing.T) {
	t.Parallel()
	const n = 40_000
	prefix := strings.Repeat("directory-with-a-name/", 180)
	var b builder
	for i := range n {
		b.add(fmt.Sprintf("%s%06d", prefix, i*7919%n), Regular, "")
		if len(b.runs) > 3*maxRuns {
			t.Fatalf("%d runs", len(b.runs))
		}
	}
	total := 0
	for _, r := range b.runs {
		total += r.size
	}
	if b.size != total || len(b.runs) < 2 || b.runs[0].level == 0 {
		t.Errorf("%d runs, the first of level %d, of %d bytes, counted %d", len(b.runs), b.runs[0].level, total, b.size)
	}
	x := b.index()
	if x.Len() != n {
		t.Fatalf("%d entries, want %d", x.Len(), n)
	}
	for i := range x.blocks {
		names := 0
		for _, e := range decodeBlock(x.blocks[i].data) {
			names += len(e.Path)
		}
		if names > blockNames+maxPathLength {
			t.Fatalf("block %d decodes to %d bytes of names", i, names)
		}
	}
	for i := 0; i < n; i += 97 {
		if got := x.Get(fmt.Sprintf("%s%06d", prefix, i)); got.Type != Regular {
			t.Fatalf("%d: %+v", i, got)
		}
		if got := x.Get(fmt.Sprintf("%s%06dx", prefix, i)); got.Type != 0 {
			t.Fatalf("%dx: %+v", i, got)
		}
	}
	if per := x.Size() / n; per > 128 { // a name of 4 KB for each block
		t.Errorf("%d bytes a path", per)
	}
}
