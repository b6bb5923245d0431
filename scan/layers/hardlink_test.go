package layers

import (
	"archive/tar"
	"bytes"
	"fmt"
	"testing"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// TestHardlinks holds that a hard link is judged as the file it names in its
// layer, and that one to a file of a lower layer is said not to be known.
func TestHardlinks(t *testing.T) {
	t.Parallel()
	lib := string(testimage.DriverLibrary("libcuda.so.1", "535.161.08"))
	filler := make([]item, 0, 2*runEntries)
	for i := range 2 * runEntries {
		filler = append(filler, item{name: fmt.Sprintf("f/%d", i)})
	}
	for name, tt := range map[string]struct {
		items   []item
		drivers int
		unknown bool
	}{
		"inside":         {[]item{{name: "a/blob", body: lib}, {name: "b/libcuda.so.535.161.08", typ: tar.TypeLink, link: "a/blob"}}, 2, false},
		"absolute":       {[]item{{name: "a/blob", body: lib}, {name: "b/libcuda.so.535.161.08", typ: tar.TypeLink, link: "/a/blob"}}, 2, false},
		"below":          {[]item{{name: "b/libcuda.so.535.161.08", typ: tar.TypeLink, link: "a/blob"}}, 0, true},
		"below, no name": {[]item{{name: "b/readme", typ: tar.TypeLink, link: "a/blob"}}, 0, false},
		"a stub":         {[]item{{name: "a/blob", body: string(testimage.Stub("libcuda.so.1"))}, {name: "b/libcuda.so.1", typ: tar.TypeLink, link: "a/blob"}}, 0, false},
		"far above":      {append(append([]item{{name: "a/blob"}}, filler...), item{name: "b/libcuda.so.1", typ: tar.TypeLink, link: "a/blob"}), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Walk(t.Context(), Blob{Reader: bytes.NewReader(tarOf(t, tt.items...)), Size: -1}, Options{Limits: DefaultLimits()})
			if err != nil {
				t.Fatal(err)
			}
			unknown := len(f.Incomplete) == 1 && f.Incomplete[0].Limit == "hard-link"
			if n := len(f.DriverFiles); n != tt.drivers || unknown != tt.unknown {
				t.Errorf("%d driver files, want %d; incomplete %v", n, tt.drivers, f.Incomplete)
			}
		})
	}
}

// TestSpecialFiles holds that devices and pipes with a driver file's name are
// no driver files but replace them, and that mode bits change nothing.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	lib := testimage.DriverLibrary("libcuda.so.1", "535.161.08")
	const name = "usr/lib/libcuda.so.535.161.08"
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, h := range []tar.Header{
		{Name: name, Typeflag: tar.TypeReg, Mode: 0o6755, Size: int64(len(lib))},
		{Name: "dev/nvidia0", Typeflag: tar.TypeChar, Devmajor: 195},
		{Name: "usr/lib/libnvidia-ml.so.535.161.08", Typeflag: tar.TypeFifo},
		{Name: "usr/lib/libcudadebugger.so.535.161.08", Typeflag: tar.TypeBlock, Devmajor: 8},
	} {
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := tw.Write(lib); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	below, err := Walk(t.Context(), Blob{Reader: &buf, Size: -1}, Options{Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	if len(below.DriverFiles) != 1 || below.DriverFiles[0].Path != "/"+name {
		t.Errorf("%+v", below.DriverFiles)
	}
	above, err := Walk(t.Context(), Blob{Reader: bytes.NewReader(tarOf(t, item{name: name, typ: tar.TypeChar})), Size: -1}, Options{Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	out := &facts.Image{Layers: []facts.Layer{{}, {Index: 1}}}
	Merge(out, []*Facts{below, above})
	if len(out.DriverFiles) != 1 || out.DriverFiles[0].Shadowed == nil {
		t.Errorf("a device does not hide the file: %+v", out.DriverFiles)
	}
}
