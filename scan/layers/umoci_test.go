//go:build integration

package layers

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

// TestMergeIsUmoci compares the merged tree of random layer stacks with what
// umoci unpacks of them. No path of the stacks leads through a link: umoci
// follows links of lower layers, which overlayfs does not.
//
//nolint:paralleltest // a program that is just being started keeps the mounts of other tests busy
func TestMergeIsUmoci(t *testing.T) {
	const stacks = 150
	compared := 0
	for seed := range uint64(stacks) {
		r := rand.New(rand.NewPCG(seed, 11))
		img := testimage.Image{Ref: "app:1", Compression: testimage.Gzip}
		for _, files := range plainStack(r) {
			img.Layers = append(img.Layers, testimage.Layer{CreatedBy: "COPY", Files: files})
		}
		b := img.Build()
		dir := t.TempDir()
		layout, bundle := filepath.Join(dir, "layout"), filepath.Join(dir, "bundle")
		if err := testimage.WriteDir(layout, testimage.Layout(b)); err != nil {
			t.Fatal(err)
		}
		var dump strings.Builder
		var indexes []*Index
		for i, l := range img.Layers {
			f, err := Walk(t.Context(), Blob{Reader: bytes.NewReader(b.Layers[i].Data), Size: -1}, Options{Limits: DefaultLimits()})
			if err != nil {
				t.Fatal(err)
			}
			indexes = append(indexes, f.Index)
			fmt.Fprintf(&dump, "layer %d\n", i)
			for _, f := range l.Files {
				fmt.Fprintf(&dump, "  %s -> %s\n", f.Name, f.Link)
			}
		}
		tag := strings.TrimPrefix(img.Ref, "app:")
		if out, err := exec.Command("umoci", "unpack", "--rootless", "--image", layout+":"+tag, bundle).CombinedOutput(); err != nil {
			t.Fatalf("umoci: %v: make test installs it\n%s\n%s", err, out, dump.String())
		}
		want := listDisk(t, filepath.Join(bundle, "rootfs"))
		if got := listTree(NewTree(indexes)); got != want {
			t.Fatalf("seed %d\n%s\numoci unpacks\n%s\nMerge shows\n%s", seed, dump.String(), want, got)
		}
		if strings.Count(want, "\n") > 3 {
			compared++
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if compared < stacks/3 {
		t.Errorf("only %d stacks have more than a few paths", compared)
	}
}

// plainStack makes layers of which no path leads through a link, and in which
// each path stands once, with its directories before it.
func plainStack(r *rand.Rand) [][]testimage.File {
	type entry struct {
		path string
		kind int // file, directory, link, whiteout, opaque
	}
	stack := make([][]entry, 2+r.IntN(4))
	links := map[string]bool{}
	for i := range stack {
		for range 1 + r.IntN(8) {
			e := entry{randomPath(r), r.IntN(5)}
			stack[i] = append(stack[i], e)
			links[e.path] = links[e.path] || e.kind == 2
		}
	}
	out := make([][]testimage.File, len(stack))
	for i, entries := range stack {
		taken := map[string]int{} // what stands at a path: 'd'irectory, or else
		for _, e := range entries {
			if !fits(e.path, e.kind, links, taken) {
				continue
			}
			for n, c := range e.path {
				if c == '/' && taken[e.path[:n]] == 0 {
					taken[e.path[:n]] = 'd'
					out[i] = append(out[i], testimage.Dir(e.path[:n]))
				}
			}
			switch e.kind {
			case 0:
				out[i] = append(out[i], testimage.Text(e.path, "x"))
			case 1:
				out[i] = append(out[i], testimage.Dir(e.path))
			case 2:
				out[i] = append(out[i], testimage.Symlink(e.path, randomTarget(r)))
			case 3:
				out[i] = append(out[i], testimage.Whiteout(e.path))
			case 4:
				out[i] = append(out[i], testimage.Dir(e.path), testimage.Opaque(e.path))
			}
			taken[e.path] = 'x'
			if e.kind == 1 || e.kind == 4 {
				taken[e.path] = 'd'
			}
		}
	}
	return out
}

// fits says whether an entry can stand in a layer that has taken some paths.
func fits(p string, kind int, links map[string]bool, taken map[string]int) bool {
	if kind == 4 && links[p] || taken[p] != 0 {
		return false
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if links[dir] || taken[dir] != 0 && taken[dir] != 'd' {
			return false
		}
	}
	return true
}
