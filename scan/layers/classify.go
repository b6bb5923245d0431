package layers

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/binary"
	"github.com/gpulint/gpulint/scan/catalog"
	"github.com/gpulint/gpulint/scan/packages"
)

// file looks at a regular file.
func (w *walker) file(abs string, h *tar.Header, c content) error {
	dir, base := path.Split(abs)
	switch {
	case abs == packages.DpkgStatus || strings.HasPrefix(abs, packages.DpkgStatusDir) && !strings.HasSuffix(base, ".md5sums"):
		return w.dpkgStatus(abs, c)
	case abs == "/etc/ld.so.conf" || dir == "/etc/ld.so.conf.d/" && strings.HasSuffix(base, ".conf"):
		return w.conf(abs, c)
	case abs == "/etc/ld.so.cache":
		return w.linkerCache(abs, c)
	case base == "version.json" || base == "version.txt":
		return w.toolkit(abs, h.Size, c)
	}
	if done, err := w.statement(abs, c); done {
		return err
	}
	if done, err := w.records(abs, base, c); done {
		return err
	}
	named, isNamed := catalog.Match(base)
	if h.Size == 0 {
		if isNamed {
			w.addDriver(driverFile(abs, 0, named, facts.ClassEmpty, "name"))
		}
		return nil
	}
	return w.elf(abs, h, c, named, isNamed)
}

// elf looks into a file if it is ELF: names are claims, and a renamed driver
// library is still one.
func (w *walker) elf(abs string, h *tar.Header, c content, named catalog.File, isNamed bool) error {
	if h.Size < 52 {
		return nil
	}
	o := binary.Options{
		Versions: func(soname string) bool {
			if isNamed {
				return named.RM == "" || !named.Known
			}
			_, ok := catalog.SONAME(soname)
			return ok
		},
		Hints: catalog.Hints(),
	}
	if isNamed {
		o.Hints = nil
	}
	o.Code, o.Library, o.Marks = true, catalog.Opened, [][]byte{[]byte(staticCudart)}
	f, err := w.readBinary(abs, c, h.Size, o)
	if errors.Is(err, binary.ErrNotELF) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.Incomplete != "" && (isNamed || strings.Contains(abs, "cudart")) {
		w.f.incomplete("elf", abs, "what the file says of itself: "+f.Incomplete)
	}
	if b, ok := binaryOf(abs, h.Size, f); ok {
		w.addBinary(b)
	}
	if d, ok := driverOf(abs, h.Size, named, isNamed, f); ok {
		w.addDriver(d)
		return nil
	}
	if r, ok := runtimeOf(abs, h.Size, f); ok {
		w.addRuntime(r)
	}
	return nil
}

// readBinary reads an ELF file by position where that can be had.
func (w *walker) readBinary(abs string, c content, size int64, o binary.Options) (*binary.File, error) {
	if c.at == nil {
		return w.readELF(abs, c, size, o)
	}
	at, err := c.at()
	if err != nil {
		return nil, err
	}
	f, err := binary.ReadAt(at, size, o)
	if errors.Is(err, binary.ErrNotELF) && (codeName(abs) || w.startsFatbin(at)) {
		if cerr := w.codeFile(abs, io.NewSectionReader(at, 0, size), size); cerr != nil {
			err = cerr
		}
	}
	return f, err
}

// readELF spares the ELF reader files that are none.
func (w *walker) readELF(abs string, r io.Reader, size int64, o binary.Options) (*binary.File, error) {
	if w.buf == nil {
		w.buf = make([]byte, 16)
	}
	start := w.buf[:4]
	if _, err := io.ReadFull(r, start); err != nil {
		return nil, err
	}
	whole := io.MultiReader(strings.NewReader(string(start)), r)
	switch {
	case string(start) == "\x7fELF":
		return binary.Read(whole, size, o)
	case string(start) == fatbinStart, codeName(abs):
		if err := w.codeFile(abs, whole, size); err != nil {
			return nil, err
		}
	}
	return nil, binary.ErrNotELF
}

// driverOf tells whether an ELF file is a driver file, by the proof that its
// row of the catalog wants.
func driverOf(abs string, size int64, named catalog.File, isNamed bool, f *binary.File) (facts.DriverFile, bool) {
	rm := f.Driver()
	if isNamed {
		class, matched := facts.ClassLibrary, "name"
		if named.Class == catalog.Tool {
			class = facts.ClassTool
		}
		ok := false
		switch {
		case named.RM != "" && named.Known:
			ok, matched, rm = true, "rm-suffix", named.RM
		case named.RM != "":
			// An unknown name: the version must stand inside as well.
			for _, v := range f.RMVersions {
				ok = ok || v.Text == named.RM
			}
			matched, rm = "rm-suffix", named.RM
		case named.Proof == catalog.ProofELF:
			ok = true
		case named.Proof == catalog.ProofWSL:
			ok = strings.Contains(abs, "/wsl/")
		default:
			ok = rm != "" // a link-time stub has none
		}
		d := driverFile(abs, size, named, class, matched)
		d.SONAME, d.Driver, d.Machine = f.SONAME, rm, f.Machine
		return d, ok
	}
	lib, ok := catalog.SONAME(f.SONAME)
	if !ok || rm == "" {
		return facts.DriverFile{}, false
	}
	d := driverFile(abs, size, lib, facts.ClassLibrary, "soname")
	d.SONAME, d.Driver, d.Machine = f.SONAME, rm, f.Machine
	return d, true
}

func driverFile(abs string, size int64, f catalog.File, class, matched string) facts.DriverFile {
	return facts.DriverFile{
		File: facts.File{Path: abs, Size: size}, Class: class, Name: f.Name, Driver: f.RM,
		Matched: matched, Place: place(abs), Source: f.Source,
	}
}

// place names the directories where driver files may be: cuda-compat and
// link-time stubs.
func place(abs string) string {
	dirs := strings.Split(path.Dir(abs), "/")
	for i := len(dirs) - 1; i >= 0; i-- {
		switch dirs[i] {
		case "compat", "compat_orin", "cuda-compat":
			return facts.PlaceCompat
		case "stubs":
			return facts.PlaceStubs
		}
	}
	return ""
}

// cudartName matches names and SONAMEs of CUDA's runtime, also as auditwheel
// renames them: libcudart.so.12.4.127, libcudart-9335f6a2.so.12.
var cudartName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^libcudart(?:-[0-9a-f]{8})?\.so\.(\d+(?:\.\d+){0,3})$`)
})

// runtimeOf tells whether an ELF file is a CUDA runtime, and of which version.
func runtimeOf(abs string, size int64, f *binary.File) (facts.Runtime, bool) {
	if !strings.HasPrefix(f.SONAME, "libcudart") || place(abs) == facts.PlaceStubs {
		return facts.Runtime{}, false
	}
	son := cudartName().FindStringSubmatch(f.SONAME)
	if son == nil {
		return facts.Runtime{}, false
	}
	r := facts.Runtime{
		File: facts.File{Path: abs, Size: size}, SONAME: f.SONAME, Linkage: "shared", Machine: f.Machine,
		CUDA: sonameCUDA(son[1]),
	}
	if m := cudartName().FindStringSubmatch(path.Base(abs)); m != nil {
		if parts := strings.Split(m[1], "."); len(parts) >= 3 {
			r.Library, r.CUDA = m[1], parts[0]+"."+parts[1]
		}
	}
	return r, true
}

// sonameCUDA is the CUDA version of a runtime's SONAME: major and minor up to
// 10.2; libcudart.so.11.0 stands for every 11.x, and .12 for every 12.x.
func sonameCUDA(v string) string {
	major, _, _ := strings.Cut(v, ".")
	if len(major) == 1 || major == "10" {
		return v
	}
	return major
}

// maxToolkit is how many bytes of a version.json or version.txt are read: real
// ones have below 4 KB.
const maxToolkit = 1 << 20

// toolkit reads the version that a CUDA toolkit states of itself.
func (w *walker) toolkit(abs string, size int64, r io.Reader) error {
	if !strings.Contains(strings.ToLower(path.Base(path.Dir(abs))), "cuda") {
		return nil
	}
	b, whole, err := limited(r, maxToolkit)
	if err != nil {
		return err
	}
	if !whole {
		w.f.incomplete("toolkit-version", abs, "the version that a CUDA toolkit states of itself")
		return nil
	}
	v := ""
	if strings.HasSuffix(abs, ".json") {
		var doc struct {
			CUDA struct {
				Version string `json:"version"`
			} `json:"cuda"`
		}
		if json.Unmarshal(b, &doc) == nil {
			v = doc.CUDA.Version
		}
	} else if rest, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "CUDA Version "); ok {
		v, _, _ = strings.Cut(rest, "\n")
	}
	if v = strings.TrimSpace(v); v == "" || len(v) > 32 {
		return nil // none of a toolkit's
	}
	if len(w.f.Toolkits) >= w.o.Limits.Facts {
		w.f.incomplete("toolkits", abs, "further CUDA toolkits of the layer")
		return nil
	}
	w.f.Toolkits = append(w.f.Toolkits, facts.Toolkit{File: facts.File{Path: abs, Size: size}, CUDA: v})
	w.from(abs, &w.toolkits)
	return nil
}

// symlink takes a link with a driver library's name.
func (w *walker) symlink(abs, target string) {
	f, ok := catalog.Match(path.Base(abs))
	if !ok || f.Class != catalog.Library || !f.Known && !strings.Contains(f.Name, "nvidia") {
		return
	}
	d := driverFile(abs, 0, f, facts.ClassLink, "name")
	d.Link = target
	w.addDriver(d)
}
