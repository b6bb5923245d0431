package facts

// Runtime modes: how driver files get into a container.
const (
	ModeLegacy     = "legacy"      // the nvidia-container-cli hook
	ModeJITCDI     = "jit-cdi"     // --runtime=nvidia since toolkit 1.18
	ModeCDIRuntime = "cdi-runtime" // the GPU operator's runtime class
	ModeCDI        = "cdi"         // native CDI, through the device plugin
	ModeCSV        = "csv"         // Tegra
	ModeWSL        = "wsl"         // Windows Subsystem for Linux
	ModeGKE        = "gke"         // Google's device plugin: no toolkit
)

// Modes lists all runtime modes.
func Modes() []string {
	return []string{ModeLegacy, ModeJITCDI, ModeCDIRuntime, ModeCDI, ModeCSV, ModeWSL, ModeGKE}
}

// Target is a kind of machine that an image is judged against.
type Target struct {
	Name string `json:"name"`
	// Driver is the version of the kernel-mode driver, such as 535.161.08.
	Driver string `json:"driver,omitempty"`
	// CUDA is the driver's CUDA version where the target gives it (as
	// nvidia-smi prints it); it wins over the table.
	CUDA string `json:"cuda,omitempty"`
	// GPUs are product names, labels or compute capabilities.
	GPUs []string `json:"gpus,omitempty"`
	// Platform is os/arch.
	Platform string `json:"platform,omitempty"`
	// Runtime is the runtime mode; empty: not given.
	Runtime string `json:"runtime,omitempty"`
	// Toolkit is the container toolkit's version.
	Toolkit string `json:"toolkit,omitempty"`
	// Count is how many machines are alike.
	Count int `json:"count,omitempty"`
}
