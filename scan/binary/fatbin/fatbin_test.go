package fatbin

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/internal/testimage"
)

// file puts parts one after another into a file of sections; names without a
// leading dot or underscore are gaps between sections.
type part struct {
	name string
	data []byte
	exec bool
}

func file(parts ...part) ([]byte, []Section) {
	var b []byte
	var sections []Section
	for _, p := range parts {
		b = append(b, make([]byte, (8-len(b)%8)%8)...)
		if p.name != "" {
			sections = append(sections, Section{Name: p.name, Off: int64(len(b)), End: int64(len(b) + len(p.data)), Data: !p.exec})
		}
		b = append(b, p.data...)
	}
	return b, sections
}

// scan reads a file as a stream, in pieces of a size.
func scan(b []byte, piece int, sections []Section, known bool) *Code {
	s := NewScanner(int64(len(b)))
	for rest := b; len(rest) > 0; {
		n := copy(s.Next(), rest[:min(piece, len(rest))])
		s.Commit(n)
		rest = rest[n:]
	}
	return s.Finish(sections, known)
}

// both reads a file in each way, and holds that they agree.
func both(t *testing.T, b []byte, sections []Section, known bool) *Code {
	t.Helper()
	at, err := Read(bytes.NewReader(b), int64(len(b)), sections, known)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []int{1 << 20, 4096, 100, 8, 7, 1} {
		if piece < 100 && len(b) > 100_000 {
			continue
		}
		if diff := cmp.Diff(at, scan(b, piece, sections, known)); diff != "" {
			t.Errorf("in pieces of %d (-by position +stream):\n%s", piece, diff)
		}
	}
	return at
}

// text writes code down as a test compares it.
func text(c *Code) string {
	var lines []string
	for _, s := range c.Sets {
		var list []string
		for _, e := range s.Entries {
			list = append(list, entryText(e))
		}
		what := []string{"loadable", "relocatable", "data", "unplaced"}[s.Place]
		if s.Bare {
			what += " bare"
		}
		lines = append(lines, fmt.Sprintf("%s %d: %s", what, s.Containers, strings.Join(list, " ")))
	}
	for _, k := range c.Kernels {
		lines = append(lines, fmt.Sprintf("kernels %v %d", k.Sets, k.Count))
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"unnamed", c.Unnamed}, {"broken", c.Broken}} {
		if n.n > 0 {
			lines = append(lines, fmt.Sprint(n.name, " ", n.n))
		}
	}
	if c.Incomplete != "" {
		lines = append(lines, c.Incomplete)
	}
	return strings.Join(lines, "\n")
}

func entryText(e Entry) string {
	s := fmt.Sprint(e.SM)
	if e.Target != 0 {
		s += string(e.Target)
	}
	switch e.Kind {
	case Cubin:
		s = "sm_" + s
	case PTX:
		s = fmt.Sprintf("ptx_%s@%d.%d", s, e.Major, e.Minor)
	case LTO:
		s = "lto_" + s
	default:
		s = fmt.Sprintf("kind%d_%s", e.Kind, s)
	}
	return s + []string{"", ":old", ":lz4", ":zstd", ":?"}[e.Compression]
}

func cubin(sm int, kernels ...string) testimage.Code {
	return testimage.Code{Kind: 2, SM: sm, Major: 1, Minor: 7, Kernels: kernels}
}

func ptx(sm int, kernels ...string) testimage.Code {
	return testimage.Code{Kind: 1, SM: sm, Major: 8, Minor: 4, Kernels: kernels}
}

func TestCode(t *testing.T) {
	t.Parallel()
	join := func(b ...[]byte) []byte { return bytes.Join(b, nil) }
	target := func(c testimage.Code, target byte) testimage.Code { c.Target = target; return c }
	zstd := func(c testimage.Code) testimage.Code { c.Zstd = true; return c }
	lz4 := func(c testimage.Code) testimage.Code { c.LZ4 = true; return c }
	zeros := func(n int) []byte { return make([]byte, n) }
	general := testimage.Fatbin(cubin(80, "a", "b"), cubin(90, "a", "b"), ptx(90, "a", "b"))
	special := testimage.Fatbin(target(cubin(90, "c"), 'a'))
	liar := testimage.Fatbin(cubin(80, "x"))
	binary.LittleEndian.PutUint64(liar[8:], 1<<20) // claims all that follows
	broken := testimage.Fatbin(cubin(80, "x"), cubin(90, "x"))
	broken[16+2] = 9 // the version of its first entry
	many := make([]string, 600)
	for i := range many {
		many[i] = fmt.Sprintf("_Z%060dPfS_", i)
	}
	for name, tt := range map[string]struct {
		parts []part
		want  string
	}{
		"nothing": {[]part{{".rodata", zeros(100), false}}, ""},
		"one container": {
			[]part{{".text", zeros(50), true}, {".nv_fatbin", general, false}},
			"loadable 1: ptx_90@8.4 sm_80 sm_90\nkernels [0] 2",
		},
		"zeros between and behind": {
			[]part{{".nv_fatbin", join(general, zeros(24), general, special, zeros(4000)), false}},
			"loadable 2: ptx_90@8.4 sm_80 sm_90\nloadable 1: sm_90a\nkernels [0] 2\nkernels [1] 1",
		},
		"kernels of several sets": {
			[]part{{".nv_fatbin", join(testimage.Fatbin(cubin(80, "a", "b")), testimage.Fatbin(cubin(90, "b", "c"))), false}},
			"loadable 1: sm_80\nloadable 1: sm_90\nkernels [0] 1\nkernels [0 1] 1\nkernels [1] 1",
		},
		"compressed": {
			[]part{{".nv_fatbin", testimage.Fatbin(zstd(cubin(80, many...)), lz4(ptx(80, many...))), false}},
			"loadable 1: ptx_80@8.4:lz4 sm_80:zstd\nkernels [0] 600",
		},
		"compressed PTX alone": {
			[]part{{".nv_fatbin", join(testimage.Fatbin(zstd(ptx(80, many[:9]...))), testimage.Fatbin(lz4(ptx(90, "k")))), false}},
			"loadable 1: ptx_80@8.4:zstd\nloadable 1: ptx_90@8.4:lz4\nkernels [0] 9\nkernels [1] 1",
		},
		"targets and kinds": {
			[]part{{".nv_fatbin", testimage.Fatbin(target(cubin(100, "k"), 'f'), testimage.Code{Kind: 8, SM: 90}, testimage.Code{Kind: 0x40, SM: 90, Header: 112}), false}},
			"loadable 1: sm_100f lto_90 kind64_90\nkernels [0] 1",
		},
		"LTO alone has no kernels": {[]part{{".nv_fatbin", testimage.Fatbin(testimage.Code{Kind: 8, SM: 90}), false}}, "loadable 1: lto_90"},
		"names that cannot be had": {
			[]part{{".nv_fatbin", testimage.Fatbin(testimage.Code{Kind: 2, SM: 80, Payload: bytes.Repeat([]byte("x"), 5000)}), false}},
			"loadable 1: sm_80\nunnamed 1",
		},
		"relocatable":   {[]part{{"__nv_relfatbin", general, false}, {".nv_fatbin", special, false}}, "loadable 1: sm_90a\nrelocatable 1: ptx_90@8.4 sm_80 sm_90\nkernels [0] 1"},
		"in data":       {[]part{{".rodata", join(zeros(80), general, zeros(30)), false}}, "data 1: ptx_90@8.4 sm_80 sm_90"},
		"cubin in data": {[]part{{".data", join(zeros(80), testimage.Cubin(75, "k"), zeros(64)), false}}, "data bare 1: sm_75"},
		"in code":       {[]part{{".text", general, true}}, ""},
		"between":       {[]part{{".a", zeros(8), false}, {"", general, false}, {".b", zeros(8), false}}, ""},
		"an empty one":  {[]part{{".nv_fatbin", join(testimage.Fatbin(), general), false}}, "loadable 1: \nloadable 1: ptx_90@8.4 sm_80 sm_90\nkernels [1] 2"},
		"a planted header": {
			[]part{{".rodata", join(liar, zeros(100)), false}, {".nv_fatbin", general, false}},
			"loadable 1: ptx_90@8.4 sm_80 sm_90\ndata bare 1: sm_80\nkernels [0] 2", // what it holds is there
		},
		"planted in a payload": {
			[]part{{".nv_fatbin", testimage.Fatbin(testimage.Code{Kind: 2, SM: 80, Payload: join(testimage.Cubin(80, "k"), zeros(5), general, special)}), false}},
			"loadable 1: sm_80\nkernels [0] 1",
		},
		"a broken one": {
			[]part{{".nv_fatbin", join(general, broken, special), false}},
			"loadable 1: ptx_90@8.4 sm_80 sm_90\nloadable 1: sm_90a\nkernels [0] 2\nkernels [1] 1\nbroken 1",
		},
		"larger than its section": {
			[]part{{".nv_fatbin", general[:len(general)-8], false}, {".rodata", zeros(64), false}},
			"broken 2",
		},
		"something else first":   {[]part{{".nv_fatbin", join([]byte("not code"), general), false}}, "loadable 1: ptx_90@8.4 sm_80 sm_90\nkernels [0] 2\nbroken 1"},
		"something else":         {[]part{{".nv_fatbin", []byte("not code of any GPU at all"), false}}, "broken 1"},
		"at the end of the file": {[]part{{".nv_fatbin", join(general, zeros(8)), false}}, "loadable 1: ptx_90@8.4 sm_80 sm_90\nkernels [0] 2"},
		"across chunks": {
			[]part{{".rodata", bytes.Repeat([]byte{1}, chunk-20), false}, {".nv_fatbin", join(general, testimage.Fatbin(testimage.Code{Kind: 2, SM: 70, Payload: zeros(2 * chunk)}), special), false}},
			"loadable 1: ptx_90@8.4 sm_80 sm_90\nloadable 1: sm_70\nloadable 1: sm_90a\nkernels [0] 2\nkernels [2] 1\nunnamed 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, sections := file(tt.parts...)
			if diff := cmp.Diff(tt.want, text(both(t, b, sections, true))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestWithoutSections holds that code is found where nothing says how it is
// used.
func TestWithoutSections(t *testing.T) {
	t.Parallel()
	general := testimage.Fatbin(cubin(80, "a"), ptx(90, "a"))
	b, _ := file(part{"", make([]byte, 100), false}, part{"", general, false}, part{"", testimage.Cubin(75), false}, part{"", make([]byte, 64), false})
	if got, want := text(both(t, b, nil, false)), "unplaced 1: ptx_90@8.4 sm_80\nunplaced bare 1: sm_75"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestCubinABI holds how the two ABIs of cubins name their target.
func TestCubinABI(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		osabi, abi byte
		flags      uint32
		want       string
	}{
		{0x33, 7, 0x00500550, "sm_80"},
		{0x33, 7, 0x005A0D5A, "sm_90a"},
		{0x41, 8, 0x06005904, "sm_89"},
		{0x41, 8, 0x06006402, "sm_100"},
		{0x41, 8, 0x06007802, "sm_120"},
	} {
		b := testimage.Cubin(0)
		b[7], b[8] = tt.osabi, tt.abi
		binary.LittleEndian.PutUint32(b[48:], tt.flags)
		e, ok := parseCubin(b)
		if got := entryText(e); !ok || got != tt.want {
			t.Errorf("%x: %s, %t, want %s", tt.flags, got, ok, tt.want)
		}
	}
}

// TestOverlappingSections holds that sections which overlap neither count code
// twice nor hide it.
func TestOverlappingSections(t *testing.T) {
	t.Parallel()
	b, _ := file(part{"", testimage.Fatbin(cubin(80, "a")), false}, part{"", testimage.Fatbin(cubin(90, "a")), false}, part{"", make([]byte, 100), false})
	n := int64(len(b))
	c := both(t, b, []Section{{Name: ".nv_fatbin", Off: 0, End: n, Data: true}, {Name: ".nv_fatbin", Off: 0, End: n, Data: true}, {Name: ".rodata", Off: n - 50, End: n, Data: true}}, true)
	if got, want := text(c), "loadable 1: sm_80\nloadable 1: sm_90\nkernels [0 1] 1"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestBounds holds that a file made of headers takes bounded memory and ends.
func TestBounds(t *testing.T) {
	t.Parallel()
	header := testimage.Fatbin()
	binary.LittleEndian.PutUint64(header[8:], 1<<30)
	n := 3 * maxActive * len(header)
	b := make([]byte, 0, n+1<<20)
	for len(b) < n {
		b = append(b, header...)
	}
	s := NewScanner(1 << 40)
	if _, err := s.Write(b); err != nil {
		t.Fatal(err)
	}
	if len(s.tasks) > maxActive || len(s.containers) > maxContainers {
		t.Errorf("%d tasks, %d containers", len(s.tasks), len(s.containers))
	}
	if c := s.Finish([]Section{{Name: ".nv_fatbin", End: 1 << 40}}, true); c.Incomplete == "" || c.Broken == 0 {
		t.Errorf("%+v", c)
	}
}

// TestHeads holds that what decompresses the heads of payloads stays within its
// bounds on anything, and undoes what the library does.
func TestHeads(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		src := make([]byte, r.IntN(300))
		for i := range src {
			src[i] = byte(r.IntN(256) & r.IntN(256))
		}
		dst := make([]byte, 0, r.IntN(1000))
		if got := lz4Head(dst, src); len(got) > cap(dst) {
			t.Fatalf("%d bytes of %d", len(got), cap(dst))
		}
		if got := zstdHead(dst, src); len(got) > cap(dst) {
			t.Fatalf("%d bytes of %d", len(got), cap(dst))
		}
	}
	// "abcabcabcabcabcabcabc" + "x": a match that overlaps itself.
	block := []byte{0x3e, 'a', 'b', 'c', 3, 0, 0x10, 'x'}
	if got := string(lz4Head(make([]byte, 0, 100), block)); got != strings.Repeat("abc", 7)+"x" {
		t.Errorf("%q", got)
	}
	if got := string(lz4Head(make([]byte, 0, 5), block)); got != "abcab" {
		t.Errorf("%q", got)
	}
}

// FuzzCode holds that no file makes the readers panic, and that they agree
// wherever a section is a chain of containers.
func FuzzCode(f *testing.F) {
	general := testimage.Fatbin(cubin(80, "a", "b"), ptx(90, "a"), testimage.Code{Kind: 2, SM: 86, Zstd: true, Kernels: []string{"z"}}, testimage.Code{Kind: 1, SM: 90, LZ4: true})
	f.Add(general, uint16(0), uint16(len(general)), true)
	f.Add(append(make([]byte, 48), append(general, testimage.Cubin(75, "x")...)...), uint16(48), uint16(1000), false)
	f.Fuzz(func(t *testing.T, b []byte, off, end uint16, known bool) {
		if len(b) > 1<<16 {
			return
		}
		sections := []Section{{Name: ".nv_fatbin", Off: min(int64(off), int64(len(b))), End: min(int64(end), int64(len(b)))}, {Name: ".rodata", Off: 0, End: int64(len(b)), Data: true}}
		at, err := Read(bytes.NewReader(b), int64(len(b)), sections, known)
		if err != nil {
			t.Fatal(err)
		}
		stream := scan(b, 1000, sections, known)
		if at.Broken == 0 && stream.Broken == 0 && text(at) != text(stream) {
			t.Fatalf("by position\n%s\nas a stream\n%s", text(at), text(stream))
		}
	})
}
