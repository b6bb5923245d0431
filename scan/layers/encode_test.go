package layers

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/s2"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/catalog"
)

// everything is a layer with facts of every kind, and a name that is no UTF-8.
func everything(t testing.TB) []byte {
	t.Helper()
	items := []item{
		{name: "usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08", body: string(testimage.DriverLibrary("libcuda.so.1", "535.161.08"))},
		{name: "usr/lib/x86_64-linux-gnu/libcuda.so.1", link: "libcuda.so.535.161.08", typ: tar.TypeSymlink},
		{name: "opt/\xff\xfe/libcuda.so.1", body: ""},
		{name: "usr/local/cuda-12.4/lib64/libcudart.so.12.4.127", body: string(testimage.DriverLibrary("libcudart.so.12", ""))},
		{name: "usr/local/cuda-12.4/version.json", body: `{"cuda":{"name":"CUDA SDK","version":"12.4.1"}}`},
		{name: "etc/ld.so.conf", body: "include /etc/ld.so.conf.d/*.conf\n/opt/\xff\n"},
		{name: "etc/ld.so.conf.d/a.conf", body: "/opt/lib\n"},
		{name: "var/lib/dpkg/status", body: "Package: libcuda1\nStatus: install ok installed\nVersion: 535.161.08-1\nArchitecture: amd64\nDepends: libnvidia-ptxjitcompiler1\n\n"},
		{name: "var/lib/dpkg/info/libcuda1:amd64.list", body: "/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08\n"},
		{name: "gone/.wh.file"},
		{name: "empty/.wh..wh..opq"},
		{name: "opt/k.cubin", body: string(testimage.Cubin(86, "k"))},
		{name: "opt/l.so", body: string(testimage.ELF{SONAME: "l.so", Sections: []testimage.Section{{Name: ".nv_fatbin", Data: testimage.Fatbin(testimage.Code{Kind: 1, SM: 90, Major: 8})}}}.Bytes())},
		{name: "dev/null", typ: tar.TypeChar},
	}
	for i := range 3000 {
		items = append(items, item{name: fmt.Sprintf("usr/share/doc/package-%04d/copyright", i), body: "x"})
	}
	return tarOf(t, items...)
}

func encoded(t testing.TB, f *Facts) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEncode holds that facts come back as they were.
func TestEncode(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"everything": everything(t), "empty": tarOf(t)} {
		want := walkBytes(t, data)
		if full := name == "everything"; full != (min(len(want.DriverFiles), len(want.Runtimes), len(want.Toolkits), len(want.Conf), len(want.Binaries),
			len(want.Records), len(want.Owners)) > 0) || len(want.Incomplete) > 0 {
			t.Fatalf("%s: %+v", name, want)
		}
		got, err := Decode(encoded(t, want), DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Facts{}, "Index")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if a, b := allPaths(want.Index), allPaths(got.Index); !slices.Equal(a, b) || got.Index.Len() != want.Index.Len() || got.Index.Size() != want.Index.Size() {
			t.Errorf("%s: %d paths, %d of them came back", name, len(a), len(b))
		}
	}
}

// TestEncodeIndex holds that each index which gpulint builds passes the check
// of those that come from outside.
func TestEncodeIndex(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		var b builder
		for range r.IntN(2000) {
			p := strings.Repeat(string(rune('a'+r.IntN(3)))+"/", r.IntN(6)) + strings.Repeat("n", r.IntN(4)*r.IntN(1500)) + string(rune('a'+r.IntN(5)))
			typ := []Type{Dir, Regular, Symlink, Other, Whiteout, Opaque}[r.IntN(6)]
			link := ""
			if typ == Symlink {
				link = strings.Repeat("t", r.IntN(3)*r.IntN(2000)) + "x"
			}
			if typ == Opaque && r.IntN(2) == 0 {
				p = ""
			}
			b.add(p, typ, link)
			if r.IntN(300) == 0 {
				b.flush()
			}
		}
		want := &Facts{Index: b.index()}
		got, err := Decode(encoded(t, want), DefaultLimits())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !slices.Equal(entriesOf(want.Index), entriesOf(got.Index)) {
			t.Fatalf("seed %d: the entries differ", seed)
		}
	}
}

func entriesOf(x *Index) []Entry {
	var list []Entry
	x.from("", func(e *Entry) bool { list = append(list, *e); return true })
	return list
}

// TestDecodeRefuses holds that an index which breaks what lookups stand on is
// refused.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	entry := func(w *encoder, p string, typ Type, seq uint32, link string) {
		w.add(&Entry{Path: p, Type: typ, Link: link, seq: seq})
	}
	built := func(entries func(w *encoder)) *Index {
		var w encoder
		entries(&w)
		return w.done()
	}
	raw := func(first string, raw ...byte) *Index {
		return &Index{count: 1, blocks: []block{{first: first, data: s2.Encode(nil, raw)}}}
	}
	twice := func(x *Index) *Index {
		x.blocks = append(x.blocks, x.blocks[0])
		x.count *= 2
		return x
	}
	for name, x := range map[string]*Index{
		"not sorted":             built(func(w *encoder) { entry(w, "b", Regular, 1, ""); entry(w, "a", Regular, 2, "") }),
		"not in order of places": built(func(w *encoder) { entry(w, "a", Regular, 2, ""); entry(w, "a", Regular, 1, "") }),
		"the same block again":   twice(built(func(w *encoder) { entry(w, "a", Regular, 1, "") })),
		"no such type":           built(func(w *encoder) { entry(w, "a", 'x', 1, "") }),
		"a path without end":     built(func(w *encoder) { entry(w, strings.Repeat("a", maxStoredPath+1), Regular, 1, "") }),
		"a target without end":   built(func(w *encoder) { entry(w, "a", Symlink, 1, strings.Repeat("a", maxStoredPath+1)) }),
		"place 0":                built(func(w *encoder) { entry(w, "a", Regular, 0, "") }),
		"a wrong first path":     {count: 1, blocks: []block{{first: "b", data: built(func(w *encoder) { entry(w, "a", Regular, 1, "") }).blocks[0].data}}},
		"more than there is":     {count: 2, blocks: built(func(w *encoder) { entry(w, "a", Regular, 1, "") }).blocks},
		"no s2":                  {count: 1, blocks: []block{{data: []byte("plain")}}},
		"an empty block":         {blocks: []block{{data: s2.Encode(nil, nil)}}},
		"a huge block":           {count: 1, blocks: []block{{data: s2.Encode(nil, make([]byte, maxRaw+1))}}},
		"shares what is not":     raw("", 5, 1, 'a', 'f', 2),
		"cut":                    raw("", 0, 9, 'a'),
		"a place without end":    raw("", 0, 1, 'a', 'f', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
	} {
		if f, err := Decode(encoded(t, &Facts{Index: x}), DefaultLimits()); !errors.Is(err, ErrEncoded) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	whole := encoded(t, walkBytes(t, everything(t)))
	for n := range 300 {
		if _, err := Decode(whole[:n*len(whole)/300], DefaultLimits()); !errors.Is(err, ErrEncoded) {
			t.Errorf("cut after %d/300: %v", n, err)
		}
	}
	if _, err := Decode(append(slices.Clone(whole), 0), DefaultLimits()); !errors.Is(err, ErrEncoded) {
		t.Errorf("a byte too many: %v", err)
	}
	few := DefaultLimits()
	few.Entries = 100
	if _, err := Decode(whole, few); !errors.Is(err, ErrEncoded) {
		t.Errorf("more than the limits allow: %v", err)
	}
}

// FuzzDecode holds that what Decode takes can be merged, whoever wrote it.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, walkBytes(f, tarOf(f, item{name: "a/b", body: "x"}, item{name: "a/l", link: "../b", typ: tar.TypeSymlink}, item{name: "a/.wh.c"}))))
	f.Add(encoded(f, walkBytes(f, everything(f))))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Decode(data, DefaultLimits())
		if err != nil {
			if !errors.Is(err, ErrEncoded) {
				t.Fatal(err)
			}
			return
		}
		if n := len(entriesOf(x.Index)); n != x.Index.Len() {
			t.Fatalf("%d entries of %d", n, x.Index.Len())
		}
		img := &facts.Image{}
		Merge(img, []*Facts{x, x})
		y, err := Decode(encoded(t, x), DefaultLimits())
		if err != nil || !slices.Equal(entriesOf(x.Index), entriesOf(y.Index)) {
			t.Fatalf("encoded again: %v", err)
		}
	})
}

// TestVersion holds that Version goes up when what Walk finds in a layer
// changes: facts that were kept would go on being used.
func TestVersion(t *testing.T) {
	t.Parallel()
	f := walkBytes(t, everything(t))
	entries, err := json.Marshal(allPaths(f.Index))
	if err != nil {
		t.Fatal(err)
	}
	f.Index = nil
	found, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	want := struct {
		version int
		tables  string
		facts   string
	}{3, "56acf040ed35c79a", "sha256:fed9c61edbe00f90"}
	got := want
	got.version, got.tables, got.facts = Version, catalog.Hash()[:16], sum(append(found, entries...))[:23]
	if got != want {
		t.Errorf("what is found in a layer has changed: raise Version if the tables did not, and write here %+v", got)
	}
}

// TestDecodeIsBounded holds that a few bytes do not become much memory.
func TestDecodeIsBounded(t *testing.T) {
	t.Parallel()
	list := func(field string, n int) []byte {
		b := append([]byte{0xa1, 0x60 | byte(len(field))}, field...)
		b = append(b, 0x9a, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		return append(b, bytes.Repeat([]byte{0xa0}, n)...)
	}
	encode := func(raw []byte) []byte {
		var b bytes.Buffer
		e := &encodedWriter{w: &b}
		e.bytes(s2.Encode(nil, raw))
		e.uvarint(0)
		e.uvarint(0)
		return b.Bytes()
	}
	if f, err := Decode(encode(list("DriverFiles", 1000)), DefaultLimits()); err != nil || len(f.DriverFiles) != 1000 {
		t.Fatalf("%v", err)
	}
	for name, raw := range map[string][]byte{
		"maps":           list("DriverFiles", maxEncodedMaps+1),
		"items":          append(list("Records", 10), bytes.Repeat([]byte{0x60}, maxEncodedItems)...),
		"a text's end":   {0xa1, 0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"without length": {0xbf, 0xff},
	} {
		if _, err := Decode(encode(raw), DefaultLimits()); !errors.Is(err, ErrEncoded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
