package binary

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/internal/testimage"
)

var all = Options{Versions: func(string) bool { return true }}

// both reads a file as a stream and by position, and holds that they agree.
func both(t *testing.T, data []byte, o Options) (*File, error) {
	t.Helper()
	// A stream that yields little at a time.
	a, aerr := Read(&slow{data}, int64(len(data)), o)
	b, berr := ReadAt(bytes.NewReader(data), int64(len(data)), o)
	if (aerr == nil) != (berr == nil) || errors.Is(aerr, ErrNotELF) != errors.Is(berr, ErrNotELF) {
		t.Fatalf("stream: %v, by position: %v", aerr, berr)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-stream +position):\n%s", diff)
	}
	return a, aerr
}

type slow struct{ b []byte }

func (s *slow) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b[:min(len(s.b), 4093)])
	s.b = s.b[n:]
	return n, nil
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		elf  testimage.ELF
		want File
	}{
		"library": {
			testimage.ELF{SONAME: "liba.so.1", Needed: []string{"libc.so.6", "libm.so.6"}, RUNPATH: "$ORIGIN/../lib:/opt", RPATH: "/x"},
			File{Bits: 64, Machine: "x86_64", Shared: true, SONAME: "liba.so.1", Needed: []string{"libc.so.6", "libm.so.6"}, RUNPATH: "$ORIGIN/../lib:/opt", RPATH: "/x"},
		},
		"program": {
			testimage.ELF{Program: true, Machine: elf.EM_AARCH64, Interp: "/lib/ld-linux-aarch64.so.1", Needed: []string{"libc.so.6"}},
			File{Bits: 64, Machine: "aarch64", Interp: "/lib/ld-linux-aarch64.so.1", Needed: []string{"libc.so.6"}},
		},
		"static program": {testimage.ELF{Program: true}, File{Bits: 64, Machine: "x86_64"}},
		"32 bits":        {testimage.ELF{Bits: 32, Machine: elf.EM_386, SONAME: "liba.so"}, File{Bits: 32, Machine: "i386", Shared: true, SONAME: "liba.so"}},
		"big endian":     {testimage.ELF{BigEndian: true, Machine: elf.EM_S390, SONAME: "liba.so"}, File{Bits: 64, Machine: "s390x", Shared: true, SONAME: "liba.so"}},
		"32 bits, big":   {testimage.ELF{Bits: 32, BigEndian: true, Machine: elf.EM_PPC, SONAME: "liba.so"}, File{Bits: 32, Machine: "ppc", Shared: true, SONAME: "liba.so"}},
		"other machine":  {testimage.ELF{Machine: 9999, SONAME: "a"}, File{Bits: 64, Machine: "EM_9999", Shared: true, SONAME: "a"}},
		"patchelf": {
			testimage.ELF{SONAME: "liba.so", Needed: []string{"libb.so"}, StringsLast: true},
			File{Bits: 64, Machine: "x86_64", Shared: true, SONAME: "liba.so", Needed: []string{"libb.so"}},
		},
		"patchelf, 9 MiB": {
			testimage.ELF{SONAME: "liba.so", Needed: []string{"libb.so"}, StringsLast: true, Padding: 9 << 20, Strings: []string{"535.161.08"}},
			File{Bits: 64, Machine: "x86_64", Shared: true, SONAME: "liba.so", Needed: []string{"libb.so"}, RMVersions: []RMVersion{{Text: "535.161.08"}}},
		},
		"driver": {
			testimage.ELF{SONAME: "libcuda.so.1", Strings: []string{"470.57.02", "nvidia-application-profiles-535.161.08-rc", "550.54.15"}},
			File{Bits: 64, Machine: "x86_64", Shared: true, SONAME: "libcuda.so.1", RMVersions: []RMVersion{{Text: "470.57.02"}, {Text: "535.161.08", Profile: true}, {Text: "550.54.15"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := both(t, tt.elf.Bytes(), all)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, f); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestStringsBeforeHead holds that strings in the head are found although
// .dynamic comes long after it, and that what lies between is not kept.
func TestFarDynamic(t *testing.T) {
	t.Parallel()
	data := testimage.ELF{SONAME: "liba.so", Needed: []string{"libb.so"}, Padding: 3 << 20}.Bytes()
	f, err := both(t, data, Options{})
	if err != nil || f.SONAME != "liba.so" || f.Incomplete != "" {
		t.Fatalf("%+v, %v", f, err)
	}
	// A head that ends before the strings: they stand before .dynamic, and the
	// stream has passed them when it learns where they are.
	f, err = Read(bytes.NewReader(data), int64(len(data)), Options{Head: 4096})
	if err != nil {
		t.Fatal(err)
	}
	if f.SONAME != "" || f.Incomplete == "" {
		t.Errorf("what was passed is said to be incomplete: %+v", f)
	}
}

func TestDriver(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want     string
		versions []RMVersion
	}{
		{"", nil},
		{"535.161.08", []RMVersion{{Text: "550.54.15"}, {Text: "535.161.08", Profile: true}}},
		{"550.54.15", []RMVersion{{Text: "470.57.02"}, {Text: "550.54.15"}, {Text: "535.161.08"}}},
		{"535.161.08", []RMVersion{{Text: "535.54.03"}, {Text: "535.161.08"}}},
		{"535.161.07", []RMVersion{{Text: "535.161"}, {Text: "535.161.07"}}},
	} {
		if got := (&File{RMVersions: tt.versions}).Driver(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.versions, got, tt.want)
		}
	}
}

func TestRMVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"535.161.08": true, "470.57.02": true, "304.137": true, "418.39": true, "580.65.06": true,
		"10.2.300": false, "535.161.08.1": false, "1535.161": false, "535.1": false, "535": false, "299.10": false,
		"192.168.1.1": false, "2023.01.02": false, "535.161.8": false, "535.161.081": false, "v535.161.08": false, "535.161.08 ": false, "": false,
	} {
		f, err := both(t, testimage.ELF{SONAME: "a", Strings: []string{"x", text, "y"}}.Bytes(), all)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.RMVersions) > 0; got != want || ValidRM(text) != want {
			t.Errorf("%q: found %t, valid %t, want %t (%v)", text, got, ValidRM(text), want, f.RMVersions)
		}
	}
}

// TestRMAcrossPieces puts a version at every place around the border of two
// reads.
func TestRMAcrossPieces(t *testing.T) {
	t.Parallel()
	for shift := range 80 {
		s := &rmScanner{}
		data := append(bytes.Repeat([]byte{'x'}, 200), "\x00nvidia-application-profiles-535.161.08-rc\x00470.256.02\x00zzz"...)
		cut := 190 + shift
		for _, size := range []int{cut, 7, 1} {
			s = &rmScanner{}
			for rest := data; len(rest) > 0; {
				n := min(size, len(rest))
				s.write(rest[:n])
				rest = rest[n:]
			}
			want := []RMVersion{{Text: "535.161.08", Profile: true}, {Text: "470.256.02"}}
			if diff := cmp.Diff(want, s.found); diff != "" {
				t.Fatalf("pieces of %d:\n%s", size, diff)
			}
		}
	}
}

func TestVersionsOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	data := testimage.DriverLibrary("libcuda.so.1", "535.161.08")
	f, err := both(t, data, Options{Versions: func(soname string) bool { return soname == "libother.so" }})
	if err != nil || f.RMVersions != nil {
		t.Errorf("%+v, %v", f, err)
	}
	o := Options{Versions: func(soname string) bool { return soname == "libcuda.so.1" }, Hints: [][]byte{[]byte("libcuda.so.1")}}
	if f, err = both(t, data, o); err != nil || f.Driver() != "535.161.08" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestNotELF(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{nil, []byte("\x7fELF"), []byte(strings.Repeat("x", 100)), append([]byte("\x7fELF\x09\x01\x01"), make([]byte, 100)...)} {
		if _, err := both(t, data, all); !errors.Is(err, ErrNotELF) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

var errDisk = errors.New("disk on fire")

// TestReadError holds that an error of the source is returned wherever it
// comes, never taken for the end of the file.
func TestReadError(t *testing.T) {
	t.Parallel()
	data := testimage.ELF{SONAME: "liba.so", Interp: "/ld.so", Strings: []string{"535.161.08"}}.Bytes()
	for n := range len(data) {
		r := io.MultiReader(bytes.NewReader(data[:n]), errReader{})
		if _, err := Read(r, int64(len(data)), all); !errors.Is(err, errDisk) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errDisk }

// TestTruncated cuts a file at every place: what is not there is said, and no
// name is invented.
func TestTruncated(t *testing.T) {
	t.Parallel()
	data := testimage.ELF{SONAME: "liba.so", Needed: []string{"libb.so"}, Interp: "/lib/ld.so"}.Bytes()
	for n := range len(data) {
		f, err := Read(bytes.NewReader(data[:n]), int64(len(data)), all)
		switch {
		case errors.Is(err, ErrNotELF):
			if n >= 64 {
				t.Errorf("%d bytes: the header is there", n)
			}
		case err != nil:
			t.Errorf("%d bytes: %v", n, err)
		case f.SONAME != "" && f.SONAME != "liba.so":
			t.Errorf("%d bytes: SONAME %q", n, f.SONAME)
		case f.SONAME == "" && f.Incomplete == "":
			t.Errorf("%d bytes: the SONAME is missing and nothing says so", n)
		}
	}
}

// TestHostileFields sets every field of the headers to values that overflow,
// point outside or nowhere.
func TestHostileFields(t *testing.T) {
	t.Parallel()
	data := testimage.ELF{SONAME: "liba.so", Needed: []string{"libb.so"}, Interp: "/lib/ld.so"}.Bytes()
	values := [][]byte{
		make([]byte, 8), bytes.Repeat([]byte{0xff}, 8),
		{0, 0, 0, 0, 0, 0, 0, 0x80},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		{1, 0, 0, 0, 0, 0, 0, 0},
		{0, 0, 0, 0x40, 0, 0, 0, 0},
	}
	for at := 4; at < len(data); at++ {
		for _, v := range values {
			for _, width := range []int{1, 2, 4, 8} {
				bad := bytes.Clone(data)
				copy(bad[at:], v[:width])
				if _, err := both(t, bad, all); err != nil && !errors.Is(err, ErrNotELF) {
					t.Fatalf("at %d: %v", at, err)
				}
			}
		}
	}
}

// TestBigClaims holds that memory follows what is there, not what headers say.
func TestBigClaims(t *testing.T) {
	t.Parallel()
	data := testimage.ELF{SONAME: "liba.so", Needed: []string{"libb.so"}}.Bytes()
	const claimed = 1 << 40 // as a tar header may say
	f, err := Read(bytes.NewReader(data), claimed, Options{})
	if err != nil || f.SONAME != "liba.so" {
		t.Errorf("%+v, %v", f, err)
	}
}

// FuzzRead holds that both ways of reading agree on anything.
func FuzzRead(f *testing.F) {
	f.Add(testimage.DriverLibrary("libcuda.so.1", "535.161.08"))
	f.Add(testimage.ELF{Bits: 32, BigEndian: true, SONAME: "a", Interp: "/ld", RPATH: "/x", StringsLast: true}.Bytes())
	f.Add(testimage.Program([]string{"libc.so.6"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, aerr := Read(&slow{data}, int64(len(data)), all)
		b, berr := ReadAt(bytes.NewReader(data), int64(len(data)), all)
		if fmt.Sprint(aerr) != fmt.Sprint(berr) {
			t.Fatalf("stream: %v, by position: %v", aerr, berr)
		}
		if aerr == nil && a.Incomplete == "" && b.Incomplete == "" {
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("(-stream +position):\n%s", diff)
			}
		}
	})
}
