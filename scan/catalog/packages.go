package catalog

import (
	"regexp"
	"strings"
	"sync"
)

var packagePattern = sync.OnceValue(func() *regexp.Regexp {
	var alts []string
	for _, r := range table("driver_packages.tsv") {
		p := regexp.QuoteMeta(r["pattern"])
		p = strings.ReplaceAll(p, "<N>", `[3-9]\d\d(?:-server|-open|-server-open)?`)
		alts = append(alts, p)
	}
	return regexp.MustCompile(`^(?:` + strings.Join(alts, "|") + `)$`)
})

// DriverPackage says whether a package of this name belongs to the driver.
// cuda-compat-*, libnvidia-container* and nvidia-container-toolkit do not; the
// metapackages cuda and cuda-12-4 only pull it in.
func DriverPackage(name string) bool {
	if !strings.Contains(name, "nvidia") && !strings.Contains(name, "cuda") && !strings.HasPrefix(name, "libnv") {
		return false
	}
	return packagePattern().MatchString(name)
}

// CUDAPackage says whether a package of this name belongs to CUDA's userland,
// as far as the name tells.
func CUDAPackage(name string) bool {
	for _, p := range []string{"cuda-", "libcudart", "libcublas", "libcudnn", "libnccl", "libnvinfer", "nvidia-cuda-"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return name == "cuda"
}
