//go:build integration

package binary

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	if stream.NoVersions {
		stream.NoVersions, stream.NeedsVersions, stream.Provides = false, at.NeedsVersions, at.Provides
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
	compareVersions(t, path, want, at)
	compareReadelf(t, path, want, at)
	return true
}

// compareVersions compares the symbol versions.
func compareVersions(t *testing.T, path string, want *elf.File, got *File) {
	t.Helper()
	var needs []LibraryVersions
	list, err := want.DynamicVersionNeeds()
	if err != nil && !noTable(err) {
		t.Errorf("%s: %v", path, err)
	}
	for _, n := range list {
		v := LibraryVersions{Library: n.Name}
		for _, d := range n.Needs {
			v.Versions = append(v.Versions, d.Dep)
		}
		needs = append(needs, v)
	}
	if diff := cmp.Diff(needs, got.NeedsVersions); diff != "" {
		t.Errorf("%s needs (-debug/elf +gpulint):\n%s", path, diff)
	}
	var provides []string
	defs, err := want.DynamicVersions()
	if err != nil && !noTable(err) {
		t.Errorf("%s: %v", path, err)
	}
	for _, d := range defs {
		if d.Flags&elf.VER_FLG_BASE == 0 {
			provides = append(provides, d.Name)
		}
	}
	if diff := cmp.Diff(provides, got.Provides); diff != "" {
		t.Errorf("%s provides (-debug/elf +gpulint):\n%s", path, diff)
	}
}

// noTable says that a file has no symbol versions.
func noTable(err error) bool {
	return errors.Is(err, elf.ErrNoSymbols) || strings.Contains(err.Error(), "missing version table")
}

// noted says whether the build ID lies in a segment of notes: Go's linker leaves
// it out of them.
func noted(f *elf.File) bool {
	id := f.Section(".note.gnu.build-id")
	return id != nil && slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_NOTE && p.Off <= id.Offset && id.Offset < p.Off+p.Filesz
	})
}

var readelfLine = regexp.MustCompile(`(?m)^.*\((SONAME|NEEDED|RUNPATH|RPATH)\).*\[(.*)\]$|Build ID: ([0-9a-f]+)$`)

// compareReadelf compares with what readelf says.
func compareReadelf(t *testing.T, path string, f *elf.File, got *File) {
	t.Helper()
	out, err := exec.Command("readelf", "-W", "-d", "-n", path).Output()
	if err != nil {
		t.Fatalf("readelf %s: %v: make test installs it", path, err)
	}
	var want, have []string
	for _, m := range readelfLine.FindAllStringSubmatch(string(out), -1) {
		if m[3] == "" || noted(f) {
			want = append(want, m[1]+" "+m[2]+m[3])
		}
	}
	for name, values := range map[string][]string{"SONAME": {got.SONAME}, "RPATH": {got.RPATH}, "RUNPATH": {got.RUNPATH}, "NEEDED": got.Needed, "": {got.BuildID}} {
		for _, v := range values {
			if v != "" {
				have = append(have, name+" "+v)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("%s (-readelf +gpulint):\n%s", path, diff)
	}
}
