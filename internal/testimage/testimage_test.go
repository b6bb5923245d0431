package testimage

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"
)

// TestELF holds the builder against the standard library's reader.
func TestELF(t *testing.T) {
	t.Parallel()
	for _, e := range []ELF{
		{SONAME: "libcuda.so.1", Needed: []string{"libc.so.6", "libm.so.6"}, RUNPATH: "$ORIGIN", Strings: []string{"535.161.08"}},
		{Bits: 32, Machine: elf.EM_386, SONAME: "liba.so", RPATH: "/x"},
		{BigEndian: true, Machine: elf.EM_S390, Needed: []string{"libc.so.6"}, StringsLast: true},
		{Program: true, Interp: "/lib64/ld-linux-x86-64.so.2", Padding: 5000},
	} {
		data := e.Bytes()
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		if want := e.Machine; want != 0 && f.Machine != want {
			t.Errorf("machine %v, want %v", f.Machine, want)
		}
		types := []elf.ProgType{}
		for _, p := range f.Progs {
			types = append(types, p.Type)
			if p.Off+p.Filesz > uint64(len(data)) {
				t.Errorf("%v lies outside of the file", p.Type)
			}
		}
		if slices.Contains(types, elf.PT_INTERP) != (e.Interp != "") {
			t.Errorf("program headers %v", types)
		}
	}
}

// TestSameBytes holds that images are the same in every build.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	img := Image{Ref: "a:1", Compression: Zstd, Layers: []Layer{{CreatedBy: "RUN x", Files: []File{Reg("f", DriverLibrary("libcuda.so.1", "535.161.08"))}}}}
	if !bytes.Equal(img.Build().OCIArchive(), img.Build().OCIArchive()) {
		t.Error("two builds differ")
	}
}
