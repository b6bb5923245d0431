package facts

// SchemaInput names the version of the document that rules read.
const SchemaInput = "gpulint.dev/input/v1"

// Input is what the rules see: candidates by kind, already graded, grouped and
// freed of exempt files by package derive. A rule names the kinds it needs and
// runs only when one of them is not empty.
type Input struct {
	Schema  string       `json:"schema"`
	Subject InputSubject `json:"subject"`
	Targets []Target     `json:"targets"`
	// DriverFiles are groups of driver files of one class: those of one
	// package, or one unpackaged file.
	DriverFiles []DriverCandidate `json:"driver_files,omitempty"`
	// DriverPackages are installed driver packages whose files no group holds.
	DriverPackages []PackageCandidate `json:"driver_packages,omitempty"`
	Verdicts       []VerdictCandidate `json:"verdicts,omitempty"`
	VersionDrift   []DriftCandidate   `json:"version_drift,omitempty"`
	Incomplete     []LimitCandidate   `json:"incomplete,omitempty"`
}

// InputSubject tells rules what is judged.
type InputSubject struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Ref      string `json:"ref"`
	Name     string `json:"name"`
	Digest   string `json:"digest,omitempty"`
	Platform string `json:"platform"`
	// Base tells which layers are the base image's, null if that is not known.
	Base   *Base             `json:"base" jsonschema:"nullable"`
	Env    map[string]string `json:"env"`
	Labels map[string]string `json:"labels"`
}

// Candidate is what all candidates share. A rule's finding names the ID, and
// gets the candidate's evidence and key from it.
type Candidate struct {
	// ID is unique in the input.
	ID string `json:"id"`
	// Key is what the fingerprint is made of: a package name, or a path with
	// the RM version replaced by <RM>.
	Key      string     `json:"key"`
	Evidence []Evidence `json:"evidence"`
}

// Version is a version that Rego can compare: arrays compare element by
// element, while semver built-ins are undefined for 535.161.08.
type Version struct {
	Text  string  `json:"text"`
	Parts []int64 `json:"parts"`
}

// DriverCandidate is a group of driver files of one class.
type DriverCandidate struct {
	Candidate
	// Class is library, link, empty, tool or shadowed.
	Class string `json:"class"`
	// Package is the owning package, null for unpackaged files.
	Package *PackageRef `json:"package" jsonschema:"nullable"`
	// Names are the unversioned names of the files: libcuda.so, ….
	Names []string `json:"names"`
	// Paths are the files, as many as there are pieces of evidence.
	Paths []string `json:"paths"`
	// Driver is the driver version of the files; null if not known.
	Driver *Version `json:"driver" jsonschema:"nullable"`
	// OnLinkerPath says that the dynamic linker finds one of the files.
	OnLinkerPath bool `json:"on_linker_path"`
	// BesideHost says that those that it finds all lie where the container
	// toolkit mounts the host's: there the newest of a SONAME wins.
	BesideHost bool `json:"beside_host"`
	// Bytes is the sum of the files' sizes.
	Bytes int64 `json:"bytes"`
	// Links are the targets of links, in the order of Paths.
	Links []string `json:"links,omitempty"`
	// Opened says that an empty file has a name that programs open, such as
	// libcuda.so.1.
	Opened bool `json:"opened,omitempty"`
	// ShadowedBy is the layer that hides the files (class shadowed).
	ShadowedBy *LayerRef `json:"shadowed_by,omitempty"`
	// How tells how they are hidden: whiteout, opaque or replaced.
	How string `json:"how,omitempty"`
}

// PackageRef names a package.
type PackageRef struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Manager  string   `json:"manager"`
	PulledBy []string `json:"pulled_by,omitempty"`
}

// PackageCandidate is an installed driver package.
type PackageCandidate struct {
	Candidate
	Package PackageRef `json:"package"`
	// Layer is the layer in which the package first appears.
	Layer *LayerRef `json:"layer" jsonschema:"nullable"`
}

// VerdictCandidate is a runtime's verdict on the targets that share it.
type VerdictCandidate struct {
	Candidate
	// CUDA is the runtime's version.
	CUDA  Version `json:"cuda"`
	Level string  `json:"level"`
	Code  int     `json:"code,omitempty"`
	Text  string  `json:"text,omitempty"`
	// Targets are the names of the targets with this verdict.
	Targets []string `json:"targets"`
	// Drivers are their drivers.
	Drivers []string `json:"drivers"`
	// Native and Minor are the lowest drivers for each level.
	Native string `json:"native,omitempty"`
	Minor  string `json:"minor,omitempty"`
	// Confidence is the lowest of the table rows used: high, medium or low.
	Confidence string   `json:"confidence"`
	Reasons    []string `json:"reasons"`
}

// DriftCandidate is a disagreement between statements of the CUDA version.
type DriftCandidate struct {
	Candidate
	Statements []VersionStatement `json:"statements"`
}

// VersionStatement is one place that states a CUDA version.
type VersionStatement struct {
	// Where is a variable, label or path.
	Where string  `json:"where"`
	CUDA  Version `json:"cuda"`
}

// LimitCandidate is a limit that the scan or derive hit.
type LimitCandidate struct {
	Candidate
	Limit string `json:"limit"`
	Hides string `json:"hides"`
	Count int    `json:"count"`
}
