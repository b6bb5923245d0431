package layers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// TestFrameworks holds which frameworks are known, and where the version of
// CUDA that they were built for is from.
func TestFrameworks(t *testing.T) {
	t.Parallel()
	const site, other = "opt/venv/lib/python3.12/site-packages/", "usr/lib/python3/dist-packages/"
	wheel := func(dir, name, version, so string) []item {
		return []item{
			{name: dir + so, body: string(testimage.Library("", "libc.so.6"))},
			{name: dir + strings.ReplaceAll(name, "-", "_") + "-" + version + ".dist-info/RECORD", body: so + ",,\n"},
		}
	}
	torch := func(version, cuda string) string {
		return "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']\n__version__ = '" + version + "'\ndebug = False\n" + cuda + "\nhip: Optional[str] = None\n"
	}
	var items []item
	items = append(items, wheel(site, "torch", "2.15.0", "torch/lib/libtorch_cuda.so")...)
	items = append(items, item{name: site + "torch/version.py", body: torch("2.15.0+cu132", "cuda: Optional[str] = '13.2'")})
	items = append(items, wheel(other, "torch", "2.1.0", "torch/lib/libtorch.so")...)
	items = append(items, item{name: other + "torch/version.py", body: torch("2.1.0+cpu", "cuda: Optional[str] = None")})
	items = append(items, wheel(site, "jax-cuda12-plugin", "0.5.0", "jax_plugins/xla_cuda12/xla_cuda_plugin.so")...)
	items = append(items, wheel(site, "cupy-cuda12x", "14.2.0", "cupy/cuda/thrust.so")...)
	items = append(items,
		item{name: "src/torch/version.py", body: torch("1.8.0", "cuda = '11.1'")},
		item{name: site + "tensorflow/python/platform/build_info.py", body: `build_info = collections.OrderedDict([('cpu_compiler', 'clang'), ('cuda_compute_capabilities', ['sm_60', 'compute_90']), ('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True)])`},
		item{name: site + "onnxruntime/capi/build_and_package_info.py", body: "package_name = 'onnxruntime-gpu'\n__version__ = '1.20.1'\ncuda_version = '12.6'\n"},
		item{name: "opt/app/version.py", body: torch("9", "cuda = '9.0'")},
	)
	img := &facts.Image{}
	Merge(img, []*Facts{walkBytes(t, tarOf(t, items...)), walkBytes(t, tarOf(t, item{name: "src/torch/version.py", body: torch("1.9.0", "cuda = '11.3'")}))})
	var got []string
	for _, f := range img.Frameworks {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s cuda %s cudnn %s by %s, layer %d %s", f.Name, f.Version, f.CUDA, f.CUDNN, f.CUDAFrom, f.Layer, f.Package)))
	}
	want := []string{
		"cupy 14.2.0 cuda 12 cudnn  by package, layer 0 cupy-cuda12x",
		"jax 0.5.0 cuda 12 cudnn  by package, layer 0 jax-cuda12-plugin",
		"onnxruntime 1.20.1 cuda 12.6 cudnn  by file, layer 0",
		"tensorflow  cuda 12.5.1 cudnn 9 by file, layer 0",
		"torch 2.15.0+cu132 cuda 13.2 cudnn  by file, layer 0 torch",
		"torch 1.9.0 cuda 11.3 cudnn  by file, layer 1",
		"torch 2.1.0+cpu cuda  cudnn  by , layer 0 torch",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
