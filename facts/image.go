package facts

// SchemaFacts names the version of the facts document.
const SchemaFacts = "gpulint.dev/facts/v1"

// Image is all that one scan found in one image of one platform.
type Image struct {
	Schema string `json:"schema"`
	// Ref is the reference or the input as the user gave it.
	Ref string `json:"ref"`
	// Name is the repository, or the name in an archive (RepoTags or the ref
	// annotation), tag stripped; empty if there is none. It never holds the
	// path of the input and is part of fingerprints.
	Name string `json:"name"`
	// Source is how the image was read: registry, oci-archive, docker-archive,
	// oci-layout, docker, podman, containerd or rootfs.
	Source string `json:"source"`
	// Digest is the manifest's digest; empty for an old docker archive.
	Digest string `json:"digest,omitempty"`
	// ConfigDigest is the digest of the image configuration.
	ConfigDigest string `json:"config_digest,omitempty"`
	// Platform is os/arch[/variant].
	Platform string `json:"platform"`
	// IndexPlatforms are all platforms of the index that the image came from.
	IndexPlatforms []string `json:"index_platforms,omitempty"`
	// AbsentPlatforms are those of them whose images the archive does not hold.
	AbsentPlatforms []string `json:"absent_platforms,omitempty"`
	// Verified says that every blob was read whole and its digest holds.
	Verified bool   `json:"verified"`
	Config   Config `json:"config"`
	// Layers are the manifest's layers, lowest first.
	Layers []Layer `json:"layers"`
	// Base tells which layers are the base image's; nil if nothing is known.
	Base        *Base        `json:"base,omitempty"`
	DriverFiles []DriverFile `json:"driver_files"`
	Runtimes    []Runtime    `json:"runtimes"`
	Toolkits    []Toolkit    `json:"toolkits"`
	Binaries    []Binary     `json:"binaries"`
	// Libraries are those of CUDA's userland among the binaries.
	Libraries []Library `json:"libraries"`
	// Frameworks are those that use CUDA.
	Frameworks []Framework `json:"frameworks"`
	Packages   []Package   `json:"packages"`
	// LinkerDirs are the directories in which the dynamic linker looks for
	// every program, in its order.
	LinkerDirs []LinkerDir `json:"linker_dirs,omitempty"`
	// LinkerCache is what /etc/ld.so.cache says of CUDA's and the driver's
	// libraries, in its order. It may be stale: ldconfig writes it anew.
	LinkerCache []CachedLibrary `json:"linker_cache,omitempty"`
	// Markers are what tells the kind of an image by its content, such as the
	// start script of a driver container.
	Markers []Marker `json:"markers,omitempty"`
	// Incomplete lists the limits that the scan hit. Empty: nothing was left out.
	Incomplete []Incomplete `json:"incomplete,omitempty"`
}

// Config is what rules need of the image configuration.
type Config struct {
	Env        []EnvVar          `json:"env,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Entrypoint []string          `json:"entrypoint,omitempty"`
	Cmd        []string          `json:"cmd,omitempty"`
	User       string            `json:"user,omitempty"`
	WorkingDir string            `json:"working_dir,omitempty"`
}

// EnvVar is one variable of the image's environment.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Getenv returns the value of the variable, and whether it is set. As with
// execve, the last entry of a name wins.
func (c Config) Getenv(name string) (string, bool) {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if c.Env[i].Name == name {
			return c.Env[i].Value, true
		}
	}
	return "", false
}

// Layer is one layer of the manifest.
type Layer struct {
	// Index counts the manifest's layers from 0.
	Index int `json:"index"`
	// Digest is that of the blob as stored; empty for a docker archive whose
	// layer was not hashed.
	Digest string `json:"digest,omitempty"`
	// DiffID is the digest of the uncompressed tar as the configuration claims
	// it, or as computed where the layer was read whole.
	DiffID string `json:"diff_id,omitempty"`
	// Size is the blob's size as stored, in bytes.
	Size      int64  `json:"size"`
	MediaType string `json:"media_type,omitempty"`
	// CreatedBy is the history entry (the Dockerfile instruction) that made
	// the layer; empty if the history does not tell.
	CreatedBy string `json:"created_by,omitempty"`
	// Guessed says that CreatedBy is a guess: the history has fewer entries
	// than there are layers, and was taken for that of the topmost.
	Guessed bool `json:"created_by_guessed,omitempty"`
	// Origin is base or image (see [Base]); empty where it is not known.
	Origin string `json:"origin,omitempty"`
	// Entries is the number of tar entries.
	Entries int `json:"entries"`
	// Verified says that the blob was read whole and its digest holds.
	Verified bool `json:"verified"`
	// Foreign says that the layer is not distributed with the image and was
	// not read.
	Foreign bool `json:"foreign,omitempty"`
}

// What tells the base image's layers from the image's own.
const (
	BaseReference = "reference" // the layers shared with a base that the user named
	BaseLabel     = "label"     // the same, of a base that a label or annotation names
	BaseHeuristic = "heuristic" // the last CMD of the history before further layers: a guess
)

// Whose a layer is.
const (
	OriginBase  = "base"
	OriginImage = "image"
)

// Base is the image that another was built on.
type Base struct {
	// Name and Digest are those that the user, a label or an annotation gives;
	// empty if none does.
	Name   string `json:"name,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Layers is how many of the lowest layers are the base's, 0 where that is
	// not known.
	Layers int `json:"layers"`
	// How is what tells them apart; empty where nothing does.
	How string `json:"how,omitempty"`
}

// File is a path in the image with the layer that brought it.
type File struct {
	// Path is absolute, cleaned, and canonical through links of directories.
	Path string `json:"path"`
	// Layer is the index of the layer that brought the file, -1 in a root file
	// system.
	Layer int `json:"layer"`
	// Size is in bytes, 0 for links.
	Size int64 `json:"size"`
	// Link is the target of a symbolic link as it stands in the layer.
	Link string `json:"link,omitempty"`
	// Resolved is the path of the regular file that the link leads to in the
	// final file system; empty for a dangling link.
	Resolved string `json:"resolved,omitempty"`
	// Package is the name of the installed package that owns the file.
	Package string `json:"package,omitempty"`
	// Manager is the manager of that package: dpkg, rpm, apk, conda, pip or npm.
	Manager string `json:"manager,omitempty"`
	// Shadowed tells how a later layer hides the file; nil if it is visible.
	Shadowed *Shadow `json:"shadowed,omitempty"`
}

// Shadow tells which layer hides a file, and how.
type Shadow struct {
	Layer int `json:"layer"`
	// How is whiteout, opaque or replaced.
	How string `json:"how"`
	// By is the path of the entry that hides the file.
	By string `json:"by"`
}

// Classes of driver files.
const (
	ClassLibrary = "library" // real bytes of a driver library
	ClassLink    = "link"    // a symbolic link with a driver library's name
	ClassEmpty   = "empty"   // a driver file of size zero
	ClassTool    = "tool"    // a program of the driver
)

// Places that exempt a driver file.
const (
	PlaceCompat = "compat" // cuda-compat: */compat/*
	PlaceStubs  = "stubs"  // link-time stubs: */stubs/*
)

// DriverFile is a file or link that belongs to the GPU driver, which the host
// injects.
type DriverFile struct {
	File
	Class string `json:"class"`
	// Name is the unversioned name: libcuda.so, nvidia-smi.
	Name string `json:"name"`
	// SONAME is what an ELF file says of itself.
	SONAME string `json:"soname,omitempty"`
	// Driver is the driver (resource manager) version that the file belongs
	// to, such as 535.161.08; empty if not known.
	Driver string `json:"driver,omitempty"`
	// Matched says what gave the file away: name, rm-suffix (its name ends in
	// .so.<RM version>) or soname (SONAME and RM version string inside).
	Matched string `json:"matched"`
	// Place is compat or stubs where the file is where such a file may be.
	Place string `json:"place,omitempty"`
	// Machine is the ELF machine: x86_64, aarch64, …
	Machine string `json:"machine,omitempty"`
	// Source is the table row behind the match.
	Source string `json:"source,omitempty"`
}

// Runtime is a CUDA runtime library (libcudart).
type Runtime struct {
	File
	// CUDA is the toolkit's version in as many parts as are known: 12.4 of
	// libcudart.so.12.4.127, 12 of a bare libcudart.so.12.
	CUDA string `json:"cuda"`
	// Library is the library's own version, such as 12.4.127.
	Library string `json:"library,omitempty"`
	SONAME  string `json:"soname,omitempty"`
	// Linkage is shared (static runtimes are not read yet).
	Linkage string `json:"linkage"`
	Machine string `json:"machine,omitempty"`
}

// Toolkit is a CUDA version that a file of the toolkit states.
type Toolkit struct {
	File
	// CUDA is the version as stated, such as 12.4.1.
	CUDA string `json:"cuda"`
}

// Package is a record of a package manager about a package that matters:
// of the driver, of CUDA, or one that pulls in such a package.
type Package struct {
	// Manager is dpkg, rpm, apk, conda or pip.
	Manager string `json:"manager"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Arch    string `json:"arch,omitempty"`
	Source  string `json:"source,omitempty"`
	// State is installed, config-files (removed, not purged), or the
	// manager's other words.
	State string `json:"state"`
	// Layer is the index of the layer in which the package first appears.
	Layer int `json:"layer"`
	// Driver says that the package belongs to the driver by its name.
	Driver bool `json:"driver,omitempty"`
	// PulledBy are the installed packages that depend on it.
	PulledBy []string `json:"pulled_by,omitempty"`
	// Dummy says that the record calls itself a dummy or transitional package.
	Dummy bool `json:"dummy,omitempty"`
	// Record is the path of the record.
	Record string `json:"record"`
}

// LinkerDir is a directory on the dynamic linker's path.
type LinkerDir struct {
	// Dir is the directory as it is named.
	Dir string `json:"dir"`
	// Resolved is the directory behind links in the final file system.
	Resolved string `json:"resolved"`
	// From is LD_LIBRARY_PATH, default, or the file that names the directory.
	From string `json:"from"`
}

// CachedLibrary is an entry of the linker's cache.
type CachedLibrary struct {
	// Name is the SONAME.
	Name string `json:"name"`
	// Path is where it was when ldconfig ran.
	Path string `json:"path"`
	// Stale says that no such file is there now.
	Stale bool `json:"stale,omitempty"`
}

// Marker is what tells the kind of an image by its content.
type Marker struct {
	// Kind is driver-container, container-toolkit, device-plugin, dcgm,
	// fabric-manager or node-image.
	Kind string `json:"kind"`
	// Paths are those that together speak for the kind.
	Paths []string `json:"paths"`
}

// Incomplete is a limit that a scan hit.
type Incomplete struct {
	// Limit names the limit: entries, path-length, layer-bytes, elf-head, …
	Limit string `json:"limit"`
	// Layer is the layer's index, -1 where none is meant.
	Layer int    `json:"layer"`
	Path  string `json:"path,omitempty"`
	// Hides says what may have been missed.
	Hides string `json:"hides"`
	// Count is how often the limit was hit in the layer.
	Count int `json:"count"`
}
