package facts

// Levels of a verdict about a CUDA runtime on a driver.
const (
	LevelNative       = "native"       // the driver's CUDA version is at least the runtime's
	LevelMinor        = "minor"        // same major, at or above the family's floor
	LevelForward      = "forward"      // through the image's cuda-compat
	LevelIncompatible = "incompatible" // none of these
	LevelUnknown      = "unknown"      // not enough facts
)

// Verdict is the judgement of one subject on one target in one runtime mode.
type Verdict struct {
	// Subject is the ID of the subject.
	Subject string `json:"subject"`
	// Target is the name of the target.
	Target      string `json:"target"`
	RuntimeMode string `json:"runtime_mode"`
	// UserModeDriver is which libcuda the programs get.
	UserModeDriver UserModeDriver `json:"user_mode_driver"`
	// Level is the worst of the runtimes' levels, incompatible where the
	// user-mode driver cannot work.
	Level string `json:"level"`
	// DeviceCode is sass, jit, partial, none or unknown.
	DeviceCode string `json:"device_code"`
	// Code is the CUDA error number that a program will get, 0 for none.
	Code int `json:"code,omitempty"`
	// Text is the error's name and text.
	Text string `json:"text,omitempty"`
	// Runtimes are the verdicts of the single runtimes.
	Runtimes []RuntimeVerdict `json:"runtimes,omitempty"`
	// Reasons is the chain of reasons, each with the table rows it used.
	Reasons []Reason `json:"reasons"`
}

// Whose libcuda wins.
const (
	DriverHost    = "host"    // the host's, which the runtime injects
	DriverCompat  = "compat"  // that of the image's cuda-compat
	DriverBundled = "bundled" // the image's own
	DriverStub    = "stub"    // a link-time stub
	DriverNone    = "none"    // no libcuda is found
	DriverUnknown = "unknown" // not enough facts; the verdict's reasons say which
)

// UserModeDriver tells which libcuda wins, and its driver version; of an
// unknown one that of the image's copy, which may win.
type UserModeDriver struct {
	// Kind is one of the Driver constants.
	Kind   string `json:"kind"`
	Driver string `json:"driver,omitempty"`
}

// RuntimeVerdict is the judgement of one CUDA runtime.
type RuntimeVerdict struct {
	// CUDA is the runtime's version as far as it is known.
	CUDA  string `json:"cuda"`
	Level string `json:"level"`
	Code  int    `json:"code,omitempty"`
	Text  string `json:"text,omitempty"`
	// Paths are the files that carry this runtime.
	Paths   []string `json:"paths,omitempty"`
	Reasons []Reason `json:"reasons"`
}

// Reason is one step of a verdict.
type Reason struct {
	Text string `json:"text"`
	// Source is the table row that the step rests on; empty for plain facts.
	Source string `json:"source,omitempty"`
	// Confidence is that of the row: high, medium or low.
	Confidence string `json:"confidence,omitempty"`
}

// Needs is what a subject needs of any target.
type Needs struct {
	CUDA   []CUDANeed `json:"cuda"`
	Driver DriverNeed `json:"driver"`
}

// CUDANeed is one CUDA version that programs of the image load.
type CUDANeed struct {
	Version string `json:"version"`
	Linkage string `json:"linkage"`
	// Consumers are the files that carry it, as long as programs that load it
	// are not read.
	Consumers []string `json:"consumers"`
	// Native and Minor are the lowest drivers for each level; empty if not known.
	Native string `json:"native,omitempty"`
	Minor  string `json:"minor,omitempty"`
}

// DriverNeed names the lowest driver versions for the whole image.
type DriverNeed struct {
	// Native is the lowest driver on which every runtime is native.
	Native string `json:"native,omitempty"`
	// Minor is the lowest on which every runtime runs by minor-version
	// compatibility; equal to Native where that does not exist.
	Minor string `json:"minor,omitempty"`
}
