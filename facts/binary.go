package facts

// Kinds of binaries.
const (
	BinaryProgram = "program"
	BinaryLibrary = "library" // a shared object; programs that load anywhere are too
	BinaryObject  = "object"  // to be linked: nothing loads it
	BinaryCubin   = "cubin"
	BinaryFatbin  = "fatbin"
	BinaryPTX     = "ptx"
)

// Binary is an ELF file that the dynamic linker has to do with, or a file with
// device code.
type Binary struct {
	File
	Kind string `json:"kind"`
	// Machine is the ELF machine: x86_64, aarch64, …
	Machine string   `json:"machine,omitempty"`
	SONAME  string   `json:"soname,omitempty"`
	Needed  []string `json:"needed,omitempty"`
	// RPATH and RUNPATH are as they stand in the file.
	RPATH   string `json:"rpath,omitempty"`
	RUNPATH string `json:"runpath,omitempty"`
	// Interp is the program interpreter, which tells glibc from musl.
	Interp string `json:"interp,omitempty"`
	// NeedsVersions are the symbol versions that it needs of libraries.
	NeedsVersions []LibraryVersions `json:"needs_versions,omitempty"`
	// Provides are the symbol versions that it defines.
	Provides []string `json:"provides,omitempty"`
	// BuildID is GNU's, in hex.
	BuildID string `json:"build_id,omitempty"`
	// FwdCompat is what libcuda of cuda-compat says of the drivers and GPUs it
	// is for: JSON of NVIDIA's.
	FwdCompat string `json:"fwd_compat,omitempty"`
	// Links are what it gets for the libraries of CUDA and of the driver that it
	// needs, and those of all libraries that it does not find. They hold after
	// ldconfig has run, as container toolkits run it at start.
	Links []Link `json:"links,omitempty"`
	// Opens are the names of CUDA's and the driver's libraries in the data of the
	// file: it may open them by itself.
	Opens []string `json:"opens,omitempty"`
	// StaticCudart says that a CUDA runtime is linked into the file. Its version
	// is not known.
	StaticCudart bool `json:"static_cudart,omitempty"`
	// DeviceCode is nil where there is none.
	DeviceCode *DeviceCode `json:"device_code,omitempty"`
	// Incomplete says what the file says of itself that could not be read.
	Incomplete string `json:"incomplete,omitempty"`
}

// How the dynamic linker finds a library.
const (
	ViaPath    = "path" // the name is a path
	ViaRPATH   = "rpath"
	ViaEnv     = "LD_LIBRARY_PATH" // of the image's configuration
	ViaRUNPATH = "runpath"
	ViaConf    = "ld.so.conf"
	ViaDefault = "default"
)

// Link is what the dynamic linker takes for a name that a binary needs.
type Link struct {
	Name string `json:"name"`
	// Path is the file, empty if the binary finds none by itself: one that is
	// loaded before, or a search path of the program that loads it, may help.
	Path string `json:"path,omitempty"`
	// Via says what led to it.
	Via string `json:"via,omitempty"`
	// Others are files of that name further behind on the search path.
	Others []string `json:"others,omitempty"`
	// Elsewhere are files with this SONAME that the search path does not reach.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// Where the version of a library is from.
const (
	FromFileName = "file-name" // libcublas.so.12.4.5.8
	FromPackage  = "package"   // the package that owns it
)

// FromFile says that a file of the framework states it.
const FromFile = "file"

// Framework is a framework that uses CUDA, such as torch.
type Framework struct {
	Name string `json:"name"`
	// Package and Manager are those of the package; empty where only a file tells.
	Package string `json:"package,omitempty"`
	Manager string `json:"manager,omitempty"`
	Version string `json:"version,omitempty"`
	// CUDA is the version of CUDA that it was built for, major or with the minor;
	// empty where nothing tells. CUDNN is that of cuDNN.
	CUDA  string `json:"cuda,omitempty"`
	CUDNN string `json:"cudnn,omitempty"`
	// CUDAFrom is file, or package for its name or version.
	CUDAFrom string `json:"cuda_from,omitempty"`
	Layer    int    `json:"layer"`
	// Path is that of the package's record, or of the file that tells.
	Path       string `json:"path"`
	Confidence string `json:"confidence"`
	Source     string `json:"source"`
}

// Library is a library of CUDA's userland.
type Library struct {
	File
	// Component is its name: cudart, cublas, cudnn, nccl, TensorRT, ….
	Component string `json:"component"`
	SONAME    string `json:"soname"`
	// Version is the library's own; empty if not known.
	Version string `json:"version,omitempty"`
	// VersionFrom is file-name or package.
	VersionFrom string `json:"version_from,omitempty"`
	// CUDA is the version of CUDA that it belongs to, major or major.minor; empty
	// where nothing tells.
	CUDA string `json:"cuda,omitempty"`
	// Confidence and Source are those of the table row behind the match.
	Confidence string `json:"confidence"`
	Source     string `json:"source"`
}

// LibraryVersions are symbol versions of one library.
type LibraryVersions struct {
	Library  string   `json:"library"`
	Versions []string `json:"versions"`
}

// Where device code lies.
const (
	PlaceLoadable    = "loadable"    // the CUDA runtime loads it
	PlaceRelocatable = "relocatable" // for the device linker; nothing loads it
	PlaceData        = "data"        // the program may load it itself
	PlaceUnplaced    = "unplaced"    // nothing tells how it is used
)

// DeviceCode is the code for GPUs in one file.
type DeviceCode struct {
	Sets []CodeSet `json:"sets"`
	// Kernels are those of loadable containers whose names could be had, by the
	// sets that hold them.
	Kernels []KernelGroup `json:"kernels,omitempty"`
	// Toolkits are the CUDA releases that made the SASS, as far as it says so
	// (before 13.0 that for the newest GPUs alone).
	Toolkits []string `json:"toolkits,omitempty"`
	// Unnamed is the number of loadable containers of which no, or not all,
	// kernel names could be had.
	Unnamed int `json:"unnamed,omitempty"`
	// Broken is the number of places in sections of device code that could not
	// be read.
	Broken int `json:"broken,omitempty"`
	// Incomplete says what was left out; empty if nothing was.
	Incomplete string `json:"incomplete,omitempty"`
}

// CodeSet is what containers with the same entries have in common.
type CodeSet struct {
	Place string `json:"place"`
	// Bare says that there is no container around the code.
	Bare bool `json:"bare,omitempty"`
	// Containers is how many there are.
	Containers int         `json:"containers"`
	Entries    []CodeEntry `json:"entries"`
}

// Kinds of device code.
const (
	CodeSASS = "sass" // machine code of a GPU (a cubin)
	CodePTX  = "ptx"  // the driver compiles it
	CodeLTO  = "lto"  // no driver runs it
)

// CodeEntry is device code for one target.
type CodeEntry struct {
	// Kind is sass, ptx, lto, or kind-N for kinds that are not known.
	Kind string `json:"kind"`
	// Arch is the target: sm_90, sm_90a, sm_100f, or compute_90 of PTX and LTO.
	Arch string `json:"arch"`
	// PTX is the version of the PTX instruction set, such as 8.5.
	PTX string `json:"ptx,omitempty"`
	// Compression is lz4, zstd, old or unknown; empty if there is none.
	Compression string `json:"compression,omitempty"`
	// Bits is 32 for code of 32-bit programs, else left out.
	Bits int `json:"bits,omitempty"`
	// Debug says that it was compiled for debugging (-G).
	Debug bool `json:"debug,omitempty"`
}

// KernelGroup are kernels that the same sets hold.
type KernelGroup struct {
	// Sets are indexes of DeviceCode.Sets.
	Sets []int `json:"sets"`
	// Count is the number of kernels, told apart by a hash of their names.
	Count int `json:"count"`
	// Sample is the (mangled) name of one of them.
	Sample string `json:"sample,omitempty"`
}
