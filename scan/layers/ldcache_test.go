package layers

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// linkerCacheOf builds a cache in the newer format, behind one in the older if
// both are wanted, or in the older alone.
func linkerCacheOf(format string, entries ...[2]string) string {
	le := binary.LittleEndian
	build := func(b []byte, base int, entry func(name, path uint32) []byte) []byte {
		size := len(entry(0, 0))
		texts := []byte{}
		at := func(s string) uint32 {
			n := len(texts)
			texts = append(append(texts, s...), 0)
			return uint32(base + n)
		}
		if base != 0 {
			base = len(b) + len(entries)*size
		}
		for _, e := range entries {
			b = append(b, entry(at(e[0]), at(e[1]))...)
		}
		return append(b, texts...)
	}
	older := build(le.AppendUint32(append([]byte(oldCache), 0), uint32(len(entries))), 0, func(name, path uint32) []byte {
		return le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 0x303), name), path)
	})
	newer := make([]byte, 48)
	copy(newer, newCache)
	le.PutUint32(newer[20:], uint32(len(entries)))
	newer = build(newer, 1, func(name, path uint32) []byte {
		return append(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 0x303), name), path), make([]byte, 12)...)
	})
	switch format {
	case "old":
		return string(older)
	case "both":
		head := le.AppendUint32(append([]byte(oldCache), 0), 0)
		return string(head) + string(newer)
	}
	return string(newer)
}

// TestLinkerCache holds what is kept of the linker's cache, in each format.
func TestLinkerCache(t *testing.T) {
	t.Parallel()
	entries := [][2]string{{"libc.so.6", "/lib/libc.so.6"}, {"libcuda.so.1", "/usr/local/cuda/compat/libcuda.so.1"}, {"libcublas.so.12", "/usr/lib/libcublas.so.12"}}
	want := []facts.CachedLibrary{{Name: "libcuda.so.1", Path: "/usr/local/cuda/compat/libcuda.so.1", Stale: true}, {Name: "libcublas.so.12", Path: "/usr/lib/libcublas.so.12"}}
	for _, format := range []string{"new", "both", "old"} {
		lower := walkBytes(t, tarOf(t,
			item{name: "etc/ld.so.cache", body: linkerCacheOf(format, entries...)},
			item{name: "usr/lib/libcublas.so.12", body: string(testimage.Library("libcublas.so.12"))}))
		img := &facts.Image{}
		Merge(img, []*Facts{lower})
		if diff := cmp.Diff(want, img.LinkerCache); diff != "" || len(img.Incomplete) > 0 {
			t.Errorf("%s: %v (-want +got):\n%s", format, img.Incomplete, diff)
		}
		kept, err := Decode(encoded(t, lower), DefaultLimits())
		if err != nil || !slices.Equal(kept.LinkerCache, lower.LinkerCache) {
			t.Errorf("%s: kept are %v, %v", format, kept, err)
		}
		img = &facts.Image{}
		Merge(img, []*Facts{lower, walkBytes(t, tarOf(t, item{name: "etc/ld.so.cache", body: linkerCacheOf("new")}))})
		if len(img.LinkerCache) > 0 {
			t.Errorf("%s: a later layer's cache replaces it: %v", format, img.LinkerCache)
		}
	}
	for name, body := range map[string]string{"something else": "not a cache", "cut": linkerCacheOf("new", entries...)[:60], "a huge count": newCache + strings.Repeat("\xff", 60), "empty": ""} {
		f := walkBytes(t, tarOf(t, item{name: "etc/ld.so.cache", body: body}))
		if len(f.LinkerCache) > 0 || len(f.Incomplete) > 0 { // as the linker does
			t.Errorf("%s: %v, %v", name, f.LinkerCache, f.Incomplete)
		}
	}
}

// FuzzLinkerCache holds that no cache makes the parser panic or read beside it.
func FuzzLinkerCache(f *testing.F) {
	for _, format := range []string{"new", "both", "old"} {
		f.Add([]byte(linkerCacheOf(format, [2]string{"libcuda.so.1", "/lib/libcuda.so.1"})))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		err := parseLinkerCache(b, func(name, path string) {
			if n++; name == "" || path == "" || len(name) > maxPathLength || n > maxLinkerEntries {
				t.Fatal(fmt.Sprint(n, len(name)))
			}
		})
		if err != nil && n > 0 {
			t.Fatalf("%d entries and %v", n, err)
		}
	})
}
