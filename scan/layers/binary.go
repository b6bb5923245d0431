package layers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/binary"
	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

// staticCudart is the name of the shared memory that CUDA's runtime uses, which
// stands in each file that one is linked into: seen in libraries of CUDA 11.8,
// 12.4 and 13 and in cupy's of 12.x. Files that load libcudart do not have it.
const staticCudart = "/cudart.shm."

// binaryOf is what is kept of an ELF file; false for those that neither the
// dynamic linker nor a GPU has to do with.
func binaryOf(abs string, size int64, f *binary.File) (facts.Binary, bool) {
	b := facts.Binary{
		File: facts.File{Path: abs, Size: size}, Kind: facts.BinaryProgram, Machine: f.Machine, SONAME: f.SONAME,
		Needed: f.Needed, RPATH: f.RPATH, RUNPATH: f.RUNPATH, Interp: f.Interp, Provides: f.Provides, BuildID: f.BuildID,
		FwdCompat: f.FwdCompat, Incomplete: f.Incomplete,
	}
	switch {
	case f.Machine == "cuda":
		b.Kind = facts.BinaryCubin
	case f.Object:
		b.Kind = facts.BinaryObject
	case f.Shared:
		b.Kind = facts.BinaryLibrary
	}
	for _, v := range f.NeedsVersions {
		b.NeedsVersions = append(b.NeedsVersions, facts.LibraryVersions{Library: v.Library, Versions: append([]string{}, v.Versions...)})
	}
	for _, t := range f.Texts {
		switch {
		case t == staticCudart:
			b.StaticCudart = !strings.HasPrefix(f.SONAME, "libcudart") // which holds it, too
		case !slices.Contains(f.Needed, t) && t != f.SONAME:
			b.Opens = append(b.Opens, t)
		}
	}
	if !f.Code.Empty() {
		b.DeviceCode = deviceCode(f.Code)
	}
	return b, b.DeviceCode != nil || f.SONAME != "" || len(f.Needed) > 0 || f.Interp != ""
}

func (w *walker) addBinary(b facts.Binary) {
	if len(w.f.Binaries) >= w.o.Limits.Facts {
		w.f.incomplete("binaries", b.Path, "further programs and libraries of the layer")
		return
	}
	if w.binary == nil {
		w.binary = map[string]int{}
	}
	w.binary[b.Path] = len(w.f.Binaries)
	w.f.Binaries = append(w.f.Binaries, b)
}

// deviceCode writes device code as facts.
func deviceCode(c *fatbin.Code) *facts.DeviceCode {
	out := &facts.DeviceCode{Sets: []facts.CodeSet{}, Toolkits: c.Toolkits, Unnamed: c.Unnamed, Broken: c.Broken, Incomplete: c.Incomplete}
	for _, s := range c.Sets {
		set := facts.CodeSet{Place: places[s.Place], Bare: s.Bare, Containers: s.Containers, Entries: []facts.CodeEntry{}}
		for _, e := range s.Entries {
			set.Entries = append(set.Entries, codeEntry(e))
		}
		out.Sets = append(out.Sets, set)
	}
	for _, k := range c.Kernels {
		out.Kernels = append(out.Kernels, facts.KernelGroup{Sets: k.Sets, Count: k.Count, Sample: k.Sample})
	}
	return out
}

var places = map[fatbin.Place]string{
	fatbin.Loadable: facts.PlaceLoadable, fatbin.Relocatable: facts.PlaceRelocatable,
	fatbin.Data: facts.PlaceData, fatbin.Unplaced: facts.PlaceUnplaced,
}

var compressions = map[fatbin.Compression]string{
	fatbin.Plain: "", fatbin.LZ4: "lz4", fatbin.Zstd: "zstd", fatbin.Old: "old", fatbin.Unknown: "unknown",
}

func codeEntry(e fatbin.Entry) facts.CodeEntry {
	out := facts.CodeEntry{Kind: facts.CodeSASS, Compression: compressions[e.Compression], Debug: e.Debug}
	arch := "compute_"
	switch e.Kind {
	case fatbin.Cubin, fatbin.OldELF:
		arch = "sm_"
	case fatbin.PTX:
		out.Kind, out.PTX = facts.CodePTX, fmt.Sprintf("%d.%d", e.Major, e.Minor)
	case fatbin.LTO:
		out.Kind = facts.CodeLTO
	default:
		out.Kind, arch = fmt.Sprintf("kind-%d", e.Kind), "sm_"
	}
	out.Arch = arch + strconv.Itoa(e.SM)
	if e.Target != 0 {
		out.Arch += string(rune(e.Target))
	}
	if e.Bits != 64 {
		out.Bits = e.Bits
	}
	return out
}

// fatbinStart begins a container of device code.
const fatbinStart = "\x50\xed\x55\xba"

// codeName says whether a file has the name of one with device code alone.
func codeName(abs string) bool {
	return strings.HasSuffix(abs, ".ptx") || strings.HasSuffix(abs, ".fatbin")
}

func (w *walker) startsFatbin(at io.ReaderAt) bool {
	var b [4]byte
	n, _ := at.ReadAt(b[:], 0) // a file that cannot be read begins with nothing
	return string(b[:n]) == fatbinStart
}

// ptxHead is how much of a file of PTX is read: its target stands at the
// beginning, behind comments.
const ptxHead = fatbin.HeadBytes

// codeFile reads a file that holds containers or PTX and is no ELF file. Its
// error is that of the reader.
func (w *walker) codeFile(abs string, r io.Reader, size int64) error {
	head := make([]byte, min(ptxHead, size))
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	head = head[:n]
	b := facts.Binary{File: facts.File{Path: abs, Size: size}, Kind: facts.BinaryPTX}
	code := fatbin.Text(head)
	if fatbin.IsFatbin(head) {
		b.Kind = facts.BinaryFatbin
		s := fatbin.NewScanner(size)
		if _, err := io.Copy(s, io.MultiReader(bytes.NewReader(head), r)); err != nil {
			return err
		}
		code = s.Finish(nil, false)
	}
	if !code.Empty() {
		b.DeviceCode = deviceCode(code)
		w.addBinary(b)
	}
	return nil
}
