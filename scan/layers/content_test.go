package layers

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpulint/gpulint/internal/testimage"
)

// sparseTar is a layer of a file in PAX format 1.0 that has its content at
// the start and size bytes in all, and of one file more.
func sparseTar(t *testing.T, content []byte, size int64) []byte {
	t.Helper()
	sparseMap := fmt.Sprintf("1\n0\n%d\n", len(content))
	body := make([]byte, 512)
	copy(body, sparseMap)
	body = append(body, content...)
	// Go's writer refuses records of GNU.sparse, so they are written as what
	// they are: a PAX header is a file of its own.
	rec := func(k, v string) string {
		for n := len(k) + len(v) + 3; ; n++ {
			if s := fmt.Sprintf("%d %s=%s\n", n, k, v); len(s) == n {
				return s
			}
		}
	}
	pax := rec("GNU.sparse.major", "1") + rec("GNU.sparse.minor", "0") +
		rec("GNU.sparse.name", "usr/lib/libcuda.so.1") + rec("GNU.sparse.realsize", fmt.Sprint(size))
	var buf bytes.Buffer
	part := func(name string, typ byte, data string) {
		b := tarOf(t, item{name: name, body: data})
		b = b[:len(b)-1024]
		b[156] = typ
		copy(b[148:156], "        ")
		sum := 0
		for _, c := range b[:512] {
			sum += int(c)
		}
		copy(b[148:156], fmt.Sprintf("%06o\x00 ", sum))
		buf.Write(b)
	}
	part("PaxHeaders/x", tar.TypeXHeader, pax)
	part("GNUSparseFile/x", tar.TypeReg, string(body))
	buf.Write(tarOf(t, item{name: "usr/lib/libnvidia-ml.so.1"}))
	return buf.Bytes()
}

// TestSparse holds that a sparse file is read with its holes, and that one
// whose holes have no end neither costs the rest of the layer nor the time.
func TestSparse(t *testing.T) {
	t.Parallel()
	lib := testimage.DriverLibrary("libcuda.so.1", "535.161.08")
	small := walkBytes(t, sparseTar(t, lib, int64(len(lib))+1<<20))
	if len(small.DriverFiles) != 2 || small.DriverFiles[0].Driver != "535.161.08" || small.DriverFiles[0].Size != int64(len(lib))+1<<20 {
		t.Errorf("driver files: %+v", small.DriverFiles)
	}
	if len(small.Incomplete) != 0 {
		t.Errorf("incomplete: %+v", small.Incomplete)
	}

	huge := sparseTar(t, lib, 1<<60)
	for name, b := range map[string]Blob{
		"stream": {Reader: bytes.NewReader(huge), Digest: sum(huge), Size: int64(len(huge))},
		"seek":   {Section: section(huge), Size: -1},
	} {
		w := newWalker(context.Background(), Options{Limits: DefaultLimits()})
		w.sparse = 1 << 20
		if err := w.walk(bytes.NewReader(huge)); err != nil {
			t.Fatal(err)
		}
		if len(w.f.Incomplete) != 1 || w.f.Incomplete[0].Limit != "sparse-bytes" {
			t.Errorf("%s: incomplete: %+v", name, w.f.Incomplete)
		}
		if _, ok := w.driver["/usr/lib/libnvidia-ml.so.1"]; !ok {
			t.Errorf("%s: what comes behind the sparse file is missing", name)
		}

		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_, err := Walk(ctx, b, Options{Limits: DefaultLimits()})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want the deadline", name, err)
		}
	}
}

// TestCutAtABorder holds that a layer which ends between two entries is not
// taken for a whole one.
func TestCutAtABorder(t *testing.T) {
	t.Parallel()
	whole := tarOf(t, item{name: "a", body: "x"}, item{name: "usr/lib/libcuda.so.1"})
	cut := whole[:1024]
	walk := func(b Blob) (*Facts, error) {
		return Walk(context.Background(), b, Options{Limits: DefaultLimits()})
	}
	if _, err := walk(Blob{Section: section(cut), DiffID: sum(whole), Size: -1}); !errors.Is(err, ErrDigest) {
		t.Errorf("with a diff ID: %v", err)
	}
	if _, err := walk(Blob{Section: section(cut), Digest: sum(whole), Size: int64(len(whole))}); !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("with a digest: %v", err)
	}
	f, err := walk(Blob{Section: section(cut), Size: -1})
	if err != nil || len(f.Incomplete) != 1 || f.Incomplete[0].Limit != "end" {
		t.Errorf("with nothing: %v %+v", err, f)
	}
	// A tar without its end mark may be whole all the same.
	bare := whole[:len(whole)-1024]
	f, err = walk(Blob{Section: section(bare), DiffID: sum(bare), Size: -1})
	if err != nil || !f.Verified || len(f.Incomplete) != 0 || len(f.DriverFiles) != 1 {
		t.Errorf("a bare tar: %v %+v", err, f)
	}
	if f, err = walk(Blob{Section: section(whole), DiffID: sum(bare), Size: -1}); err != nil || f.Verified {
		t.Errorf("a whole tar is not read by seeking: %v %+v", err, f)
	}
}

// TestToolkitTooLarge holds that a version file which is not read is told.
func TestToolkitTooLarge(t *testing.T) {
	t.Parallel()
	pad := `{"x":"` + strings.Repeat("x", maxToolkit) + `","cuda":{"version":"12.4.1"}}`
	f := walkBytes(t, tarOf(t, item{name: "usr/local/cuda/version.json", body: pad}))
	if len(f.Incomplete) != 1 || f.Incomplete[0].Limit != "toolkit-version" || len(f.Toolkits) != 0 {
		t.Errorf("%+v", f)
	}
}
