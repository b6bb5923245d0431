package layers

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/gpulint/gpulint/facts"
)

// item is one entry of a test layer.
type item struct {
	name, body, link string
	typ              byte
}

func tarOf(t testing.TB, items ...item) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, i := range items {
		if i.typ == 0 {
			i.typ = tar.TypeReg
		}
		h := &tar.Header{Name: i.name, Typeflag: i.typ, Linkname: i.link, Size: int64(len(i.body)), Mode: 0o755}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, i.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gz(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func zst(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(h[:])
}

func section(b []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b)))
}

func walkBytes(t testing.TB, b []byte) *Facts {
	t.Helper()
	f, err := Walk(context.Background(), Blob{Reader: bytes.NewReader(b), Digest: sum(b), Size: int64(len(b))}, Options{Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var mixed = []item{
	{name: "usr/lib/libcuda.so.1"}, // empty
	{name: "usr/lib/libcuda.so.418.56"},
	{name: "usr/lib/libcuda.so", link: "libcuda.so.1", typ: tar.TypeSymlink},
	{name: "./usr/lib/libnvidia-ml.so.1", link: "/nowhere", typ: tar.TypeSymlink},
	{name: "usr/lib/libssl.so", link: "libssl.so.3", typ: tar.TypeSymlink},
	{name: "usr/bin/nvidia-smi", body: "#!/bin/sh\necho no GPU, but a script of more than fifty-two bytes\n"},
	{name: "usr/local/cuda-12.4/version.json", body: `{"cuda":{"name":"CUDA SDK","version":"12.4.1"}}`},
	{name: "opt/app/version.json", body: `{"cuda":{"version":"9.9"}}`},
	{name: "usr/local/cuda-10.2/version.txt", body: "CUDA Version 10.2.89\n"},
	{name: "etc/ld.so.conf", body: "# comment\ninclude /etc/ld.so.conf.d/*.conf\n"},
	{name: "etc/ld.so.conf.d/a.conf", body: "/usr/local/cuda/lib64\n"},
	{name: "var/lib/dpkg/status", body: "Package: libcuda1\nStatus: install ok installed\nVersion: 535.1-1\n\nPackage: bash\nStatus: install ok installed\nVersion: 5\n"},
	{name: "var/lib/dpkg/info/libcuda1:amd64.list", body: "/.\n/lib/libcuda.so.1\n/usr/share/doc/libcuda1\n"},
}

func TestWalkIsTheSameHoweverStored(t *testing.T) {
	t.Parallel()
	plain := tarOf(t, mixed...)
	want := walkBytes(t, plain)
	if len(want.DriverFiles) != 4 || len(want.Toolkits) != 2 || len(want.Records) != 1 || len(want.Owners) != 1 || len(want.Conf) != 2 {
		t.Fatalf("facts: %+v", want)
	}
	for name, b := range map[string]Blob{
		"gzip":   {Reader: bytes.NewReader(gz(t, plain)), DiffID: sum(plain), Size: -1},
		"zstd":   {Reader: bytes.NewReader(zst(t, plain)), DiffID: sum(plain), Size: -1},
		"slow":   {Reader: iotest.OneByteReader(bytes.NewReader(plain)), Digest: sum(plain), Size: -1},
		"seek":   {Section: section(plain), Digest: "sha256:claimed", Size: -1},
		"gzfile": {Section: section(gz(t, plain)), Digest: sum(gz(t, plain)), Size: -1},
	} {
		f, err := Walk(context.Background(), b, Options{Limits: DefaultLimits()})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Verified != (name != "seek") {
			t.Errorf("%s: verified is %v", name, f.Verified)
		}
		for what, d := range map[string]string{
			"driver files": cmp.Diff(want.DriverFiles, f.DriverFiles), "toolkits": cmp.Diff(want.Toolkits, f.Toolkits),
			"records": cmp.Diff(want.Records, f.Records), "owners": cmp.Diff(want.Owners, f.Owners),
			"conf": cmp.Diff(want.Conf, f.Conf), "tree": cmp.Diff(allPaths(want.Index), allPaths(f.Index)),
		} {
			if d != "" {
				t.Errorf("%s: %s: %s", name, what, d)
			}
		}
	}
}

func allPaths(x *Index) []string {
	var out []string
	x.from("", func(e *Entry) bool { out = append(out, fmt.Sprintf("%c %s %s", e.Type, e.Path, e.Link)); return true })
	return out
}

func TestWalkRefuses(t *testing.T) {
	t.Parallel()
	plain := tarOf(t, mixed...)
	zipped := gz(t, plain)
	flipped := bytes.Clone(zipped)
	flipped[len(flipped)/2] ^= 0xff
	stop := errors.New("the network is gone")
	for name, c := range map[string]struct {
		blob Blob
		want error
		text string
	}{
		"wrong digest":        {Blob{Reader: bytes.NewReader(plain), Digest: sum([]byte("x"))}, ErrDigest, "manifest names"},
		"wrong diff ID":       {Blob{Reader: bytes.NewReader(zipped), DiffID: sum([]byte("x"))}, ErrDigest, "configuration names"},
		"flipped":             {Blob{Reader: bytes.NewReader(flipped), Digest: sum(zipped)}, ErrDigest, "manifest names"},
		"flipped, no digest":  {Blob{Reader: bytes.NewReader(flipped)}, ErrBroken, ""},
		"cut gzip":            {Blob{Reader: bytes.NewReader(zipped[:len(zipped)/2]), Digest: sum(zipped), Size: int64(len(zipped))}, ErrBroken, "cut off"},
		"cut plain":           {Blob{Section: section(plain[:2000])}, ErrBroken, "ends in the middle"},
		"no tar":              {Blob{Reader: strings.NewReader(strings.Repeat("no tar at all ", 100))}, ErrBroken, "no valid tar"},
		"the source's errors": {Blob{Reader: io.MultiReader(bytes.NewReader(plain[:1000]), iotest.ErrReader(stop))}, stop, "network is gone"},
		"and inside gzip":     {Blob{Reader: io.MultiReader(bytes.NewReader(zipped[:200]), iotest.ErrReader(stop))}, stop, "network is gone"},
	} {
		_, err := Walk(context.Background(), c.blob, Options{Limits: DefaultLimits()})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
		if c.want == stop && errors.Is(err, ErrBroken) {
			t.Errorf("%s: an error of the source is taken for one of the content: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, b := range map[string]Blob{"stream": {Reader: bytes.NewReader(zipped)}, "seek": {Section: section(plain)}} {
		if _, err := Walk(ctx, b, Options{Limits: DefaultLimits()}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled %s: %v", name, err)
		}
	}
}

func TestWalkLimits(t *testing.T) {
	t.Parallel()
	plain := tarOf(t, append([]item{{name: "etc/ld.so.conf.d/big.conf", body: strings.Repeat("/a\n", 40_000)}, {name: strings.Repeat("d/", 3000) + "f"}}, mixed...)...)
	for limit, l := range map[string]func(*Limits){
		"entries":      func(l *Limits) { l.Entries = 5 },
		"layer-bytes":  func(l *Limits) { l.LayerBytes = 5000 },
		"driver-files": func(l *Limits) { l.Facts = 1 },
		"path":         func(*Limits) {},
		"ld.so.conf":   func(*Limits) {},
	} {
		limits := DefaultLimits()
		l(&limits)
		f, err := Walk(context.Background(), Blob{Reader: bytes.NewReader(gz(t, plain)), Size: -1}, Options{Limits: limits})
		if err != nil {
			t.Errorf("%s: %v", limit, err)
			continue
		}
		found := false
		for _, x := range f.Incomplete {
			found = found || x.Limit == limit && x.Count > 0 && x.Hides != ""
		}
		if !found {
			t.Errorf("%s: not said: %+v", limit, f.Incomplete)
		}
	}
}

func TestWalkDuplicates(t *testing.T) {
	t.Parallel()
	f := walkBytes(t, tarOf(t,
		item{name: "usr/lib/libcuda.so.1"},
		item{name: "usr/lib/libcuda.so.1", link: "x", typ: tar.TypeSymlink},
		item{name: "usr/lib/libnvidia-ml.so.1"},
		item{name: "usr/lib/libnvidia-ml.so.1", body: "text now"},
		item{name: "lib", link: "usr/lib", typ: tar.TypeSymlink},
		item{name: "lib/libcuda.so.2", link: "y", typ: tar.TypeSymlink},
		item{name: "usr/lib/libnvidia-cfg.so.1"},
		item{name: "usr/lib64/libnvidia-cfg.so.1", link: "usr/lib/libnvidia-cfg.so.1", typ: tar.TypeLink},
	))
	var got []string
	for _, d := range f.DriverFiles {
		got = append(got, d.Class+" "+d.Path)
	}
	want := []string{
		"link /usr/lib/libcuda.so.1", "link /usr/lib/libcuda.so.2",
		"empty /usr/lib/libnvidia-cfg.so.1", "empty /usr/lib64/libnvidia-cfg.so.1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	status := func(pkgs ...string) string {
		s := ""
		for _, p := range pkgs {
			name, deps, _ := strings.Cut(p, "<")
			s += "Package: " + name + "\nStatus: install ok installed\nVersion: 1\nDepends: " + deps + "\n\n"
		}
		return s
	}
	empty := func(p string) item { return item{name: p} }
	fs := []*Facts{
		walkBytes(t, tarOf(t,
			item{name: "lib", link: "usr/lib", typ: tar.TypeSymlink}, empty("usr/lib/libcuda.so.1"),
			empty("opt/a/libcuda.so.1"), empty("opt/b/libcuda.so.1"), empty("opt/c/d/libcuda.so.1"), empty("opt/e/libcuda.so.1"),
			item{name: "var/lib/dpkg/status", body: status("libcuda1")},
			item{name: "var/lib/dpkg/info/libcuda1:amd64.list", body: "/lib/libcuda.so.1\n"},
			item{name: "etc/ld.so.conf", body: "include ld.so.conf.d/*.conf\n/last\n"},
			item{name: "etc/ld.so.conf.d/b.conf", body: "/b\n"}, item{name: "etc/ld.so.conf.d/a.conf", body: "/a\n"},
		)),
		walkBytes(t, tarOf(t,
			empty("opt/.wh.a"), empty("opt/b/.wh..wh..opq"), item{name: "opt/c", link: "b", typ: tar.TypeSymlink},
			item{name: "opt/e/libcuda.so.1", body: "text"}, empty("etc/ld.so.conf.d/.wh.b.conf"),
			item{name: "var/lib/dpkg/status", body: status("libcuda1", "nvidia-smi<libcuda1", "libcuinj64-11.8<nvidia-smi, libcuda1")},
			item{name: "usr/lib/libnvidia-ml.so", link: "/lib/libcuda.so.1", typ: tar.TypeSymlink},
			item{name: "usr/bin/nv-hostengine", body: "x"},
		)),
	}
	img := &facts.Image{Config: facts.Config{
		Env: []facts.EnvVar{{Name: "LD_LIBRARY_PATH", Value: "/lib:relative:/opt/c"}}, Cmd: []string{"/bin/sh", "-c", "exec /usr/bin/nv-hostengine -n"},
	}}
	Merge(img, fs)
	var got []string
	for _, f := range img.DriverFiles {
		line := f.Path + " layer " + fmt.Sprint(f.Layer)
		if f.Package != "" {
			line += " of " + f.Package
		}
		if f.Resolved != "" {
			line += " to " + f.Resolved
		}
		if f.Shadowed != nil {
			line += fmt.Sprintf(" %s by %s of layer %d", f.Shadowed.How, f.Shadowed.By, f.Shadowed.Layer)
		}
		got = append(got, line)
	}
	want := []string{
		"/usr/lib/libcuda.so.1 layer 0 of libcuda1",
		"/opt/a/libcuda.so.1 layer 0 whiteout by /opt/a of layer 1",
		"/opt/b/libcuda.so.1 layer 0 opaque by /opt/b of layer 1",
		"/opt/c/d/libcuda.so.1 layer 0 replaced by /opt/c of layer 1",
		"/opt/e/libcuda.so.1 layer 0 replaced by /opt/e/libcuda.so.1 of layer 1",
		"/usr/lib/libnvidia-ml.so layer 1 to /usr/lib/libcuda.so.1",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = nil
	for _, p := range img.Packages {
		got = append(got, fmt.Sprint(p.Name, " layer ", p.Layer, " by ", p.PulledBy))
	}
	want = []string{"libcuda1 layer 0 by [libcuinj64-11.8]", "libcuinj64-11.8 layer 1 by []", "nvidia-smi layer 1 by [libcuinj64-11.8]"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = nil
	for _, l := range img.LinkerDirs[:5] {
		got = append(got, l.Dir+" = "+l.Resolved+" from "+l.From)
	}
	want = []string{
		"/lib = /usr/lib from LD_LIBRARY_PATH", "/opt/c = /opt/b from LD_LIBRARY_PATH", "/a = /a from /etc/ld.so.conf.d/a.conf",
		"/last = /last from /etc/ld.so.conf", "/lib/x86_64-linux-gnu = /lib/x86_64-linux-gnu from default",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(img.Markers) != 1 || img.Markers[0].Kind != "dcgm" {
		t.Errorf("markers: %+v", img.Markers)
	}
}

// TestIndexRuns holds an index of several runs and many blocks against a map.
func TestIndexRuns(t *testing.T) {
	t.Parallel()
	const n = 200_000
	var b builder
	want := map[string]string{}
	for i := range n {
		p := fmt.Sprintf("d%d/e%d/file-%d", i%7, i%1009, (i*7919)%150_000)
		link := fmt.Sprint("to", i)
		b.add(p, Symlink, link)
		want[p] = link
	}
	x := b.index()
	for p, link := range want {
		if len(p)%5 == 0 { // a sample: each look-up decodes a block
			if got := x.Get(p); got.Type != Symlink || got.Link != link {
				t.Fatalf("%s: %+v, want %s", p, got, link)
			}
		}
	}
	if x.Get("d1/e1").Type != Dir || x.Get("d1/nothing").Type != 0 || x.Get("d").Type != 0 {
		t.Error("implied directories")
	}
	if per := float64(x.Size()) / n; per > 24 {
		t.Errorf("%.1f bytes a path", per)
	}
}

func FuzzWalk(f *testing.F) {
	f.Add(tarOf(f, mixed...))
	f.Add(gz(f, tarOf(f, mixed...)))
	f.Add(zst(f, tarOf(f, mixed[:3]...)))
	limits := Limits{Entries: 1000, LayerBytes: 1 << 20, IndexBytes: 1 << 20, Facts: 100}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, b := range []Blob{{Reader: bytes.NewReader(data), Size: -1}, {Section: section(data), Size: -1}} {
			facts1, err := Walk(context.Background(), b, Options{Limits: limits})
			if err != nil {
				continue
			}
			Merge(&facts.Image{}, []*Facts{facts1, facts1})
		}
	})
}

// TestDeepPaths holds that a path of two thousand elements, links among them,
// is resolved step by step and not anew for each step.
func TestDeepPaths(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("d/", 1900)
	items := []item{{name: deep + "l", typ: tar.TypeSymlink, link: "../f"}, {name: strings.TrimSuffix(deep, "d/") + "f", body: "x"}}
	var indexes []*Index
	for range 5 {
		indexes = append(indexes, walkBytes(t, tarOf(t, items...)).Index)
	}
	tree := NewTree(indexes)
	for range 20 {
		to, n, ok := tree.Resolve(deep + "l")
		if !ok || n.Type != Regular || to != strings.TrimSuffix(deep, "d/")+"f" {
			t.Fatalf("%.20s %v %t", to, n, ok)
		}
		if tree.Shadow(0, deep+"l") == nil {
			t.Fatal("the lowest of equal files is not hidden")
		}
	}
}

// TestDeepFiles holds that a driver file below a thousand directories is found,
// and that what hides it on its way is told.
func TestDeepFiles(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("d/", 1000)
	file := item{name: deep + "libcuda.so.1"}
	half := deep[:1000] + ".wh.d"
	for name, tt := range map[string]struct {
		upper item
		want  *facts.Shadow
	}{
		"whiteout": {item{name: half}, &facts.Shadow{Layer: 1, How: "whiteout", By: "/" + deep[:1001]}},
		"opaque":   {item{name: deep[:1000] + opaqueMarker}, &facts.Shadow{Layer: 1, How: "opaque", By: "/" + deep[:999]}},
		"replaced": {item{name: deep[:1001], typ: tar.TypeSymlink, link: "x"}, &facts.Shadow{Layer: 1, How: "replaced", By: "/" + deep[:1001]}},
		"beside":   {item{name: deep + "e"}, nil},
	} {
		img := &facts.Image{}
		Merge(img, []*Facts{walkBytes(t, tarOf(t, file)), walkBytes(t, tarOf(t, tt.upper))})
		if len(img.DriverFiles) != 1 || img.DriverFiles[0].Path != "/"+file.name {
			t.Fatalf("%s: %.300v", name, img.DriverFiles)
		}
		if diff := cmp.Diff(tt.want, img.DriverFiles[0].Shadowed); diff != "" {
			t.Errorf("%s (-want +got):\n%.600s", name, diff)
		}
	}
}
