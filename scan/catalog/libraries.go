package catalog

import (
	"regexp"
	"strings"
	"sync"
)

// CUDALibrary is a library of CUDA's userland, as its SONAME says.
type CUDALibrary struct {
	// Component is its name: cudart, cublas, cudnn, ….
	Component string
	// CUDA is the major version of CUDA that it belongs to (of some components
	// with the minor), empty where the SONAME does not tell.
	CUDA string
	// Confidence is that of the table row, Source where it is from.
	Confidence, Source string
}

type libraryRow struct {
	CUDALibrary
	cuda map[string]string
	any  bool
}

// libraryTable holds the rows by SONAME without its version; patterns end in *.
var libraryTable = sync.OnceValue(func() map[string]libraryRow {
	m := map[string]libraryRow{}
	for _, r := range table("cuda_libraries.tsv") {
		row := libraryRow{
			CUDALibrary: CUDALibrary{Component: r["component"], Confidence: r["confidence"], Source: r["source"]},
			cuda:        map[string]string{}, any: r["cuda"] == "*",
		}
		for pair := range strings.SplitSeq(r["cuda"], ";") {
			if from, to, ok := strings.Cut(pair, "="); ok {
				row.cuda[from] = to
			}
		}
		m[r["soname"]] = row
	}
	return m
})

// libraryName takes names apart that auditwheel may have given a hash:
// libcudart-9335f6a2.so.12.
var libraryName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(lib[A-Za-z][A-Za-z0-9_-]*?)(?:-[0-9a-f]{8})?\.so(?:\.([0-9]+(?:\.[0-9]+)*))?$`)
})

// CUDA tells whether a SONAME, or the name of a file, is that of a library of
// CUDA's userland.
func CUDA(soname string) (CUDALibrary, bool) {
	if !strings.HasPrefix(soname, "lib") {
		return CUDALibrary{}, false
	}
	m := libraryName().FindStringSubmatch(soname)
	if m == nil {
		return CUDALibrary{}, false
	}
	row, ok := libraryTable()[m[1]]
	for _, prefix := range []string{"libnpp", "libcudnn_", "libnvinfer_"} {
		if !ok && strings.HasPrefix(m[1], prefix) {
			row, ok = libraryTable()[prefix+"*"]
		}
	}
	if !ok {
		return CUDALibrary{}, false
	}
	l := row.CUDALibrary
	if l.CUDA = row.cuda[m[2]]; row.any {
		l.CUDA = m[2]
	}
	return l, true
}

// LibraryVersion is the version that the name of a file ends in, if that has
// more parts than the SONAME: 12.4.5.8 of libcublas.so.12.4.5.8.
func LibraryVersion(base, soname string) string {
	f, s := libraryName().FindStringSubmatch(base), libraryName().FindStringSubmatch(soname)
	if f == nil || s == nil || f[1] != s[1] || strings.Count(f[2], ".") <= strings.Count(s[2], ".") {
		return ""
	}
	return f[2]
}

var (
	wheelCUDA = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-cu(\d\d)$`) })
	debCUDA   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-cuda-(\d\d)$`) })
	local     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\+cuda(\d+\.\d+)`) })
)

// PackageCUDA is the version of CUDA that a package says it is for:
// nvidia-cudnn-cu12, libcudnn9-cuda-12, libnccl2 2.23.4-1+cuda12.6.
func PackageCUDA(name, version string) string {
	if m := local().FindStringSubmatch(version); m != nil {
		return m[1]
	}
	for _, r := range []*regexp.Regexp{wheelCUDA(), debCUDA()} {
		if m := r.FindStringSubmatch(name); m != nil {
			return m[1]
		}
	}
	return ""
}

// Opened tells whether a program that has this text in its data may open a
// library of CUDA or of the driver by it.
func Opened(text string) bool {
	if !strings.HasPrefix(text, "lib") || len(text) > 100 {
		return false
	}
	if _, ok := CUDA(text); ok {
		return true
	}
	_, ok := Match(text)
	return ok
}
