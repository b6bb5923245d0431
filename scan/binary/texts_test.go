package binary

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/internal/testimage"
)

// TestTexts holds which texts are found in a file, as a stream and by position.
func TestTexts(t *testing.T) {
	t.Parallel()
	o := Options{Code: true, Library: func(name string) bool { return strings.HasPrefix(name, "libk") && !strings.Contains(name, " ") }, Marks: [][]byte{[]byte("/mark.")}}
	pad := func(n int) []byte { return bytes.Repeat([]byte{'x'}, n) }
	code := func(payload []byte) []byte {
		return testimage.Fatbin(testimage.Code{Kind: 2, SM: 80, Payload: payload})
	}
	for name, tt := range map[string]struct {
		sections []testimage.Section
		want     []string
	}{
		"nothing":           {[]testimage.Section{{Name: ".rodata", Data: []byte("\x00libother.so\x00")}}, nil},
		"names and a mark":  {[]testimage.Section{{Name: ".rodata", Data: []byte("\x00libka.so\x00a /mark. b\x00libkb.so.12\x00libka.so\x00")}}, []string{"libka.so", "/mark.", "libkb.so.12"}},
		"no whole texts":    {[]testimage.Section{{Name: ".rodata", Data: []byte("\x00see libka.so\x00libkb.so or so\x00/usr/lib/libkc.so\x00")}}, nil},
		"in code":           {[]testimage.Section{{Name: ".text", Data: []byte("\x00libka.so\x00"), Exec: true}}, nil},
		"across chunks":     {[]testimage.Section{{Name: ".rodata", Data: append(pad(512<<10-8), "\x00libka.so.12\x00 and \x00libkb.so\x00"...)}}, []string{"libka.so.12", "libkb.so"}},
		"in a container":    {[]testimage.Section{{Name: ".rodata", Data: append(code([]byte("\x00libka.so\x00")), "\x00libkb.so\x00"...)}}, []string{"libkb.so"}},
		"in device code":    {[]testimage.Section{{Name: ".nv_fatbin", Data: code([]byte("\x00libka.so\x00"))}, {Name: ".rodata", Data: []byte("\x00libkb.so\x00")}}, []string{"libkb.so"}},
		"behind much of it": {[]testimage.Section{{Name: ".nv_fatbin", Data: code(append(bytes.Repeat([]byte("\x00libka.so\x00..."), 100), pad(3<<20)...))}, {Name: ".rodata", Data: []byte("\x00libkb.so\x00")}}, []string{"libkb.so"}},
		"too many":          {[]testimage.Section{{Name: ".rodata", Data: bytes.Repeat([]byte("\x00libka.so\x00"), 2*maxTexts)}}, []string{"libka.so"}}, // told of
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := testimage.ELF{SONAME: "libk.so.1", Sections: tt.sections}.Bytes()
			at, err := ReadAt(bytes.NewReader(b), int64(len(b)), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, at.Texts); diff != "" {
				t.Errorf("by position (-want +got):\n%s", diff)
			}
			for _, head := range []int{0, 100, 5000} {
				o := o
				o.Head = head
				stream, err := Read(struct{ io.Reader }{bytes.NewReader(b)}, int64(len(b)), o)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, stream.Texts); diff != "" {
					t.Errorf("as a stream, head %d (-want +got):\n%s", head, diff)
				}
			}
		})
	}
}
