package catalog

import (
	"strings"
	"sync"
)

// driverPackages are the names and patterns of the table.
var driverPackages = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, r := range table("driver_packages.tsv") {
		m[r["pattern"]] = true
	}
	return m
})

// withoutBranch replaces the driver branch at the end of a package's name by
// <N>, as the table has it: libnvidia-compute-535-server.
func withoutBranch(name string) (string, bool) {
	for _, flavour := range []string{"-server-open", "-server", "-open"} {
		if rest, ok := strings.CutSuffix(name, flavour); ok {
			name = rest
			break
		}
	}
	n := len(name) - 4
	if n < 1 || name[n] != '-' || name[n+1] < '3' || name[n+1] > '9' || !digit(name[n+2]) || !digit(name[n+3]) {
		return "", false
	}
	return name[:n+1] + "<N>", true
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// DriverPackage says whether a package of this name belongs to the driver.
// cuda-compat-*, libnvidia-container* and nvidia-container-toolkit do not; the
// metapackages cuda and cuda-12-4 only pull it in.
func DriverPackage(name string) bool {
	if !strings.Contains(name, "nvidia") && !strings.Contains(name, "cuda") && !strings.HasPrefix(name, "libnv") {
		return false
	}
	if driverPackages()[name] {
		return true
	}
	p, ok := withoutBranch(name)
	return ok && driverPackages()[p]
}

// CUDAPackage says whether a package of this name belongs to CUDA's userland,
// as far as the name tells.
func CUDAPackage(name string) bool {
	for _, p := range []string{
		"cuda-", "libcudart", "libcublas", "libcudnn", "libnccl", "libnvinfer", "nvidia-cuda-", "libcufft", "libcurand", "libcusolver",
		"libcusparse", "libnpp", "libnvjpeg", "libnvrtc", "libnvjitlink", "libcufile", "libcutensor", "libcudss", "libnvshmem", "libnvonnxparser",
		"tensorrt",
	} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return name == "cuda"
}
