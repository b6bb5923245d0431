//go:build integration

package binary

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAgainstStandardLibrary reads the machine's own programs and libraries in
// both ways and compares them with what debug/elf says, which needs section
// headers and the whole file.
func TestAgainstStandardLibrary(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, dir := range []string{"/usr/bin", "/usr/lib", "/usr/sbin"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || compared > 5000 {
				return nil //nolint:nilerr // what cannot be read is not compared
			}
			if compare(t, path) {
				compared++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if compared < 100 {
		t.Errorf("only %d files were compared", compared)
	}
	t.Logf("%d files compared", compared)
}

func compare(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	want, err := elf.NewFile(f)
	if err != nil || want.Type != elf.ET_DYN && want.Type != elf.ET_EXEC {
		return false
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	at, err := ReadAt(f, st.Size(), Options{})
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return false
	}
	stream, err := Read(f, st.Size(), Options{})
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return false
	}
	if diff := cmp.Diff(at, stream); diff != "" {
		t.Errorf("%s (-position +stream):\n%s", path, diff)
	}
	str := func(tag elf.DynTag) string {
		s, err := want.DynString(tag)
		if err != nil || len(s) == 0 {
			return ""
		}
		return s[0]
	}
	needed, err := want.ImportedLibraries()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		needed = nil
	}
	type names struct {
		SONAME, RPATH, RUNPATH string
		Needed                 []string
	}
	expected := names{str(elf.DT_SONAME), str(elf.DT_RPATH), str(elf.DT_RUNPATH), needed}
	if diff := cmp.Diff(expected, names{at.SONAME, at.RPATH, at.RUNPATH, at.Needed}); diff != "" {
		t.Errorf("%s (-debug/elf +gpulint):\n%s", path, diff)
	}
	if at.Incomplete != "" {
		t.Errorf("%s: %s", path, at.Incomplete)
	}
	return true
}
