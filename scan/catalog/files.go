package catalog

import (
	"strings"
	"sync"

	"github.com/gpulint/gpulint/scan/binary"
)

// Classes of the driver's files.
const (
	Library = "library"
	Tool    = "tool"
)

// Proofs that a file with a driver file's name is one.
const (
	// ProofRM: the name ends in .so.<RM version>, or an RM version string is
	// inside; a link-time stub has neither.
	ProofRM = "rm"
	// ProofELF: being an ELF file is enough (the name is NVIDIA's alone).
	ProofELF = "elf"
	// ProofWSL: an ELF file below a wsl directory.
	ProofWSL = "wsl"
)

// File is what the name of a file says.
type File struct {
	// Name is the unversioned name: libcuda.so, nvidia-smi.
	Name  string
	Class string
	Proof string
	// RM is the RM version that the name ends in, empty if none.
	RM string
	// Known says that the name stands in the table. Other names matched only
	// by their .so.<RM version> ending, as the container toolkit globs them.
	Known bool
	// Source is that of the table row.
	Source string
}

type fileRow struct{ class, proof, source string }

var fileTable = sync.OnceValue(func() map[string]fileRow {
	m := make(map[string]fileRow)
	for _, r := range table("driver_files.tsv") {
		m[r["name"]] = fileRow{r["class"], r["proof"], r["source"]}
	}
	return m
})

const globSource = "NVIDIA/nvidia-container-toolkit @d34b3046 pkg/nvcdi/driver-nvml.go: *.so.<RM version>"

// Match says what the base name of a file claims to be, false for what cannot
// be a driver file. Names are exact: Nsight's libcuda-injection.so and DLSS's
// libnvidia-ngx-dlss.so are no driver files.
func Match(base string) (File, bool) {
	lib := strings.HasPrefix(base, "lib")
	if !lib && !strings.HasPrefix(base, "nv") {
		return File{}, false
	}
	name, suffix, versioned := cutSuffix(base)
	if exempt(name) {
		return File{}, false
	}
	rm := ""
	if binary.ValidRM(suffix) {
		rm = suffix
	}
	if row, ok := fileTable()[name]; ok {
		if versioned && rm == "" && !smallVersion(suffix) {
			return File{}, false
		}
		return File{Name: name, Class: row.class, Proof: row.proof, RM: rm, Known: true, Source: row.source}, true
	}
	if lib && rm != "" {
		return File{Name: name, Class: Library, Proof: ProofRM, RM: rm, Source: globSource}, true
	}
	return File{}, false
}

// SONAME says which driver library a SONAME names, false if none. SONAMEs of
// cuda-compat, stubs and the driver are equal: only the content tells.
func SONAME(soname string) (File, bool) {
	f, ok := Match(soname)
	if !ok || f.Class != Library || !f.Known {
		return File{}, false
	}
	return f, true
}

// Hints are byte strings of which one stands in each file whose SONAME is a
// driver library's.
func Hints() [][]byte {
	return [][]byte{[]byte("libcuda"), []byte("nvidia"), []byte("libnvcuvid"), []byte("libnvoptix"), []byte("libdxcore"), []byte("libnvdxgdmal")}
}

// cutSuffix splits libx.so.1.2 into libx.so and 1.2.
func cutSuffix(base string) (name, suffix string, versioned bool) {
	i := strings.LastIndex(base, ".so.")
	if i < 0 {
		return base, "", false
	}
	return base[:i+3], base[i+4:], true
}

// smallVersion says whether a suffix is a SONAME's version: 1, 4, 1.1.
func smallVersion(s string) bool {
	return len(s) == 1 && s[0] >= '0' && s[0] <= '9' || s == "1.1"
}

// exempt names begin like a driver library's and are none: the container
// toolkit, the OpenCL loader, and EGL libraries that distributions ship.
func exempt(name string) bool {
	return strings.HasPrefix(name, "libnvidia-container") || strings.HasPrefix(name, "libnvidia-egl-") ||
		name == "libOpenCL.so"
}
