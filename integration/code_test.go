//go:build integration

package integration

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/scan/binary"
	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

const debLib = "usr/lib/x86_64-linux-gnu/"

// toolkit124 are NVIDIA's own programs of CUDA 12.4.
func toolkit124(program string) realFile {
	return realFile{"deb", "nvidia-cuda-toolkit", "12.4.131~12.4.1-2", "trixie", "usr/bin/" + program}
}

// codeFiles are real files with device code, of CUDA 11.8 to 13.
var codeFiles = []realFile{
	{"deb", "libcufft11", "11.2.1.3~12.4.1-2", "trixie", debLib + "libcufft.so.11.*"},
	{"deb", "libcurand10", "11.1.1+~10.3.5.147~12.4.1-2", "trixie", debLib + "libcurand.so.10.*"},
	{"deb", "libcublas12", "12.4.5.8~12.4.1-2", "trixie", debLib + "libcublas.so.12.*"},
	{"deb", "libcublaslt12", "12.4.5.8~12.4.1-2", "trixie", debLib + "libcublasLt.so.12.*"},
	{"deb", "libcusparse12", "12.3.1.170~12.4.1-2", "trixie", debLib + "libcusparse.so.12.*"},
	{"deb", "libnppif12", "12.2.5.30~12.4.1-2", "trixie", debLib + "libnppif.so.12.*"},
	{"deb", "libnccl2", "2.22.3-1-1", "trixie", debLib + "libnccl.so.2.*"},
	{"deb", "libcublas11", "11.11.3.6~11.8.0-5~deb12u1", "bookworm", debLib + "libcublas.so.11.*"},
	{"deb", "libcublaslt11", "11.11.3.6~11.8.0-5~deb12u1", "bookworm", debLib + "libcublasLt.so.11.*"},
	{"deb", "libcufft10", "11.1.1+~10.9.0.58~11.8.0-5~deb12u1", "bookworm", debLib + "libcufft.so.10.*"},
	{"deb", "libcurand10", "11.1.1+~10.3.0.86~11.8.0-5~deb12u1", "bookworm", debLib + "libcurand.so.10.*"},
	{"deb", "libcusparse11", "11.7.5.86~11.8.0-5~deb12u1", "bookworm", debLib + "libcusparse.so.11.*"},
	{"deb", "libnppif11", "11.8.0.86~11.8.0-5~deb12u1", "bookworm", debLib + "libnppif.so.11.*"},
	{"npm", "@node-llama-cpp/linux-x64-cuda", "3.22.1", "", "package/bins/linux-x64-cuda/libggml-cuda.so"},
	{"npm", "@fugood/node-llama-linux-x64-cuda", "1.7.15", "", "package/index.node"},
	{"pypi", "nvidia-cublas", "13.10.0.20", "", "nvidia/cu13/lib/libcublas.so.13"},
	{"pypi", "nvidia-cudnn-cu12", "9.28.0.42", "", "nvidia/cudnn/lib/libcudnn_ops.so.9"},
	{"pypi", "cupy-cuda12x", "14.2.0", "", "cupy/cuda/thrust.*.so"},
	{"pypi", "bitsandbytes", "0.50.2", "", "bitsandbytes/libbitsandbytes_cuda118.so"},
	{"pypi", "bitsandbytes", "0.50.2", "", "bitsandbytes/libbitsandbytes_cuda132.so"},
	{"pypi", "torch", "2.15.0", "", "torch/lib/libtorch_cuda.so"},
}

// TestAgainstCuobjdump compares the entries of each architecture with those
// that NVIDIA's cuobjdump lists, those that the runtime loads and all.
func TestAgainstCuobjdump(t *testing.T) {
	t.Parallel()
	files := realFiles(t, append([]realFile{toolkit124("cuobjdump")}, codeFiles...)...)
	cuobjdump := files[0]
	for i, path := range files[1:] {
		t.Run(codeFiles[i].key(), func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			code := codeOf(t, path)
			took := time.Since(start)
			start = time.Now()
			want := listed(t, cuobjdump, path)
			t.Logf("%s here, %s by cuobjdump", took, time.Since(start))
			got := counted(code, func(p fatbin.Place) bool { return p == fatbin.Loadable })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("loadable (-cuobjdump +gpulint):\n%s", diff)
			}
			if code.Broken > 0 || code.Incomplete != "" || len(got) == 0 && len(counted(code, nil)) == 0 {
				t.Errorf("%d broken, %s, %v", code.Broken, code.Incomplete, got)
			}
			// Elsewhere in a file cuobjdump finds only part of what it has.
			all := counted(code, nil)
			for k, n := range listed(t, cuobjdump, path, "-all") {
				if all[k] < n {
					t.Errorf("cuobjdump -all lists %d %s, gpulint finds %d", n, k, all[k])
				}
			}
		})
	}
}

// codeOf reads the device code of a file in both ways.
func codeOf(t *testing.T, path string) *fatbin.Code {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	o := binary.Options{Code: true}
	stream, err := binary.Read(struct{ io.Reader }{f}, st.Size(), o)
	if err != nil {
		t.Fatal(err)
	}
	at, err := binary.ReadAt(f, st.Size(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(at, stream); diff != "" {
		t.Errorf("-by position +stream:\n%s", diff)
	}
	return stream.Code
}

var listing = regexp.MustCompile(`(?m)^(ELF|PTX) file +\d+: .*\.sm_(\d+)[af]?\.(?:cubin|ptx)$`)

// listed counts what cuobjdump lists, by kind and architecture.
func listed(t *testing.T, cuobjdump, path string, args ...string) map[string]int {
	t.Helper()
	out, err := exec.Command(cuobjdump, append(args, "-lelf", "-lptx", path)...).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "file to extract from") {
		t.Fatalf("cuobjdump %s: %v\n%s", path, err, out)
	}
	counts := map[string]int{}
	for _, m := range listing.FindAllStringSubmatch(string(out), -1) {
		counts[m[1]+" "+m[2]]++
	}
	return counts
}

// counted counts the entries of containers by kind and architecture.
func counted(code *fatbin.Code, at func(fatbin.Place) bool) map[string]int {
	counts := map[string]int{}
	for _, s := range code.Sets {
		if at != nil && !at(s.Place) || s.Bare {
			continue
		}
		for _, e := range s.Entries {
			switch e.Kind {
			case fatbin.Cubin:
				counts[fmt.Sprint("ELF ", e.SM)] += s.Containers
			case fatbin.PTX:
				counts[fmt.Sprint("PTX ", e.SM)] += s.Containers
			}
		}
	}
	return counts
}
