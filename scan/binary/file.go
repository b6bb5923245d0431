package binary

import (
	"errors"

	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

// ErrNotELF says that the input does not begin with an ELF header that can be
// read.
var ErrNotELF = errors.New("not an ELF file")

// File is what one ELF file says of itself.
type File struct {
	// Bits is 32 or 64.
	Bits int
	// Machine is the name of e_machine as uname -m has it (x86_64, aarch64),
	// or "EM_<number>".
	Machine string
	// Shared says that the file is a shared object (ET_DYN).
	Shared bool
	// SONAME is DT_SONAME.
	SONAME string
	// Needed are the DT_NEEDED entries, in order.
	Needed []string
	// RPATH and RUNPATH are the raw search paths.
	RPATH, RUNPATH string
	// Interp is the program interpreter (PT_INTERP).
	Interp string
	// NeedsVersions are the symbol versions that it needs of other libraries,
	// Provides those that it defines.
	NeedsVersions []LibraryVersions
	Provides      []string
	// NoVersions says that these lie where a stream had passed before they were
	// known: in programs of Go, whose .dynamic is far behind them.
	NoVersions bool
	// BuildID is GNU's build ID in hex, of those that lie in a segment of notes.
	BuildID string
	// FwdCompat is what the note .note.cuda.fwd_compatibility says, JSON of
	// NVIDIA's; only where Code was asked for.
	FwdCompat string
	// RMVersions are the RM version strings inside the file, such as
	// 535.161.08, in order of appearance and without repeats; filled only
	// when asked for.
	RMVersions []RMVersion
	// Texts are the names of libraries and the marks that were asked for, as far as
	// they lie in data, in the order of the file and without repeats.
	Texts []string
	// Object says that the file is one to be linked (ET_REL): nothing loads it.
	Object bool
	// Code is the device code, nil where it was not asked for, or where none
	// can be.
	Code *fatbin.Code
	// Incomplete says what could not be read, empty when all was.
	Incomplete string
}

func newFile(h header) *File {
	f := &File{Bits: 32, Machine: machineName(h.machine), Shared: h.typ == 3, Object: h.typ == 1}
	if h.is64 {
		f.Bits = 64
	}
	return f
}

// RMVersion is a version string of NVIDIA's resource manager found inside a
// file.
type RMVersion struct {
	Text string
	// Profile says that it stood in the name of an application profile file
	// (nvidia-application-profiles-<RM>-rc), which always is the library's own
	// version; the other strings may name other releases.
	Profile bool
}

// Driver returns the driver version that the file's strings speak for: that
// of an application profile, else the highest. Libraries also hold the numbers
// of older releases, never of newer ones (seen in libcuda of R470, R535 and
// R550). It is empty for a stub, which has none.
func (f *File) Driver() string {
	best := ""
	for _, v := range f.RMVersions {
		if v.Profile {
			return v.Text
		}
		if best == "" || newer(v.Text, best) {
			best = v.Text
		}
	}
	return best
}
