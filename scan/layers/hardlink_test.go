package layers

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// TestHardlinks holds that a hard link is judged as the file it names in its
// layer, and that one to a file of a lower layer is said not to be known.
func TestHardlinks(t *testing.T) {
	t.Parallel()
	lib := string(testimage.DriverLibrary("libcuda.so.1", "535.161.08"))
	filler := make([]item, 0, 2*runEntries)
	for i := range 2 * runEntries {
		filler = append(filler, item{name: fmt.Sprintf("f/%d", i)})
	}
	for name, tt := range map[string]struct {
		items   []item
		drivers int
		unknown bool
	}{
		"inside":         {[]item{{name: "a/blob", body: lib}, {name: "b/libcuda.so.535.161.08", typ: tar.TypeLink, link: "a/blob"}}, 2, false},
		"absolute":       {[]item{{name: "a/blob", body: lib}, {name: "b/libcuda.so.535.161.08", typ: tar.TypeLink, link: "/a/blob"}}, 2, false},
		"below":          {[]item{{name: "b/libcuda.so.535.161.08", typ: tar.TypeLink, link: "a/blob"}}, 0, true},
		"below, no name": {[]item{{name: "b/readme", typ: tar.TypeLink, link: "a/blob"}}, 0, false},
		"a stub":         {[]item{{name: "a/blob", body: string(testimage.Stub("libcuda.so.1"))}, {name: "b/libcuda.so.1", typ: tar.TypeLink, link: "a/blob"}}, 0, false},
		"far above":      {append(append([]item{{name: "a/blob"}}, filler...), item{name: "b/libcuda.so.1", typ: tar.TypeLink, link: "a/blob"}), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Walk(t.Context(), Blob{Reader: bytes.NewReader(tarOf(t, tt.items...)), Size: -1}, Options{Limits: DefaultLimits()})
			if err != nil {
				t.Fatal(err)
			}
			unknown := len(f.Incomplete) == 1 && f.Incomplete[0].Limit == "hard-link"
			if n := len(f.DriverFiles); n != tt.drivers || unknown != tt.unknown {
				t.Errorf("%d driver files, want %d; incomplete %v", n, tt.drivers, f.Incomplete)
			}
		})
	}
}

// TestSpecialFiles holds that devices and pipes with a driver file's name are
// no driver files but replace them, and that mode bits change nothing.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	lib := testimage.DriverLibrary("libcuda.so.1", "535.161.08")
	const name = "usr/lib/libcuda.so.535.161.08"
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, h := range []tar.Header{
		{Name: name, Typeflag: tar.TypeReg, Mode: 0o6755, Size: int64(len(lib))},
		{Name: "dev/nvidia0", Typeflag: tar.TypeChar, Devmajor: 195},
		{Name: "usr/lib/libnvidia-ml.so.535.161.08", Typeflag: tar.TypeFifo},
		{Name: "usr/lib/libcudadebugger.so.535.161.08", Typeflag: tar.TypeBlock, Devmajor: 8},
	} {
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := tw.Write(lib); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	below, err := Walk(t.Context(), Blob{Reader: &buf, Size: -1}, Options{Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	if len(below.DriverFiles) != 1 || below.DriverFiles[0].Path != "/"+name {
		t.Errorf("%+v", below.DriverFiles)
	}
	above, err := Walk(t.Context(), Blob{Reader: bytes.NewReader(tarOf(t, item{name: name, typ: tar.TypeChar})), Size: -1}, Options{Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	out := &facts.Image{Layers: []facts.Layer{{}, {Index: 1}}}
	Merge(out, []*Facts{below, above})
	if len(out.DriverFiles) != 1 || out.DriverFiles[0].Shadowed == nil {
		t.Errorf("a device does not hide the file: %+v", out.DriverFiles)
	}
}

// TestHardlinkKinds holds what becomes of a file whose second name, a hard link,
// makes it matter, and of hard links to symbolic ones.
func TestHardlinkKinds(t *testing.T) {
	t.Parallel()
	lib := string(testimage.DriverLibrary("libcuda.so.1", "535.161.08"))
	hard := func(name, to string) item { return item{name: name, typ: tar.TypeLink, link: to} }
	sym := func(name, to string) item { return item{name: name, typ: tar.TypeSymlink, link: to} }
	const cached, site = "root/.cache/uv/a/", "usr/lib/python3/site-packages/"
	toolkit := `{"cuda":{"version":"12.4.1"}}`
	for name, tt := range map[string]struct {
		items []item
		want  string // drivers, toolkits, conf, records, owners, statements
		told  bool
	}{
		"a link of a directory":   {[]item{sym("lnk", "real"), hard("alias", "lnk"), {name: "alias/libcuda.so.535.161.08", body: lib}}, "/real/libcuda.so.535.161.08", false},
		"a driver's link":         {[]item{sym("opt/x", "libcuda.so.535.161.08"), hard("opt/libcuda.so.1", "opt/x")}, "/opt/libcuda.so.1", false},
		"a program":               {[]item{{name: "opt/tool", body: string(testimage.Program([]string{"libc.so.6"}))}, hard("usr/bin/nvidia-smi", "opt/tool")}, "", true},
		"an empty file":           {[]item{{name: "etc/empty"}, hard("usr/lib/libcuda.so.1", "etc/empty")}, "", true},
		"a toolkit's version":     {[]item{{name: "usr/local/b.json", body: toolkit}, hard("usr/local/cuda-12.4/version.json", "usr/local/b.json")}, "", true},
		"a toolkit's own version": {[]item{{name: "opt/cuda/version.json", body: toolkit}, hard("usr/local/cuda-12.4/version.json", "opt/cuda/version.json")}, "toolkit /opt/cuda/version.json toolkit /usr/local/cuda-12.4/version.json", false},
		"the linker's":            {[]item{{name: "etc/a.txt", body: "/opt/zz\n"}, hard("etc/ld.so.conf.d/zz.conf", "etc/a.txt")}, "", true},
		"dpkg's status":           {[]item{{name: "var/lib/dpkg/status-old", body: "Package: libcuda1\nStatus: install ok installed\nVersion: 1\n\n"}, hard("var/lib/dpkg/status", "var/lib/dpkg/status-old")}, "", true},
		"a wheel of uv": {[]item{
			{name: cached + "torch/version.py", body: "__version__ = '2.4.0'\ncuda = '12.1'\n"},
			{name: cached + "torch/lib/libtorch.so", body: string(testimage.Library("libtorch.so"))},
			{name: cached + "torch-2.4.0.dist-info/RECORD", body: "torch/lib/libtorch.so,,\n"},
			hard(site+"torch/version.py", cached+"torch/version.py"), hard(site+"torch/lib/libtorch.so", cached+"torch/lib/libtorch.so"),
			hard(site+"torch-2.4.0.dist-info/RECORD", cached+"torch-2.4.0.dist-info/RECORD"),
		}, "record /root/.cache/uv/a/torch-2.4.0.dist-info/RECORD record /usr/lib/python3/site-packages/torch-2.4.0.dist-info/RECORD " +
			"statement /root/.cache/uv/a/torch/version.py statement /usr/lib/python3/site-packages/torch/version.py " +
			"owner /root/.cache/uv/a/torch/lib/libtorch.so owner /usr/lib/python3/site-packages/torch/lib/libtorch.so", false},
		"names that do not matter": {[]item{{name: "a", body: "text"}, hard("b", "a"), hard("c", "nowhere")}, "", false},
		"replaced later":           {[]item{{name: "opt/cuda/version.json", body: toolkit}, hard("usr/local/cuda-12.4/version.json", "opt/cuda/version.json"), {name: "usr/local/cuda-12.4/version.json", body: "{}"}}, "toolkit /opt/cuda/version.json", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := walkBytes(t, tarOf(t, tt.items...))
			var got []string
			for _, d := range f.DriverFiles {
				got = append(got, d.Path)
			}
			for _, x := range f.Toolkits {
				got = append(got, "toolkit "+x.Path)
			}
			for _, x := range f.Conf {
				got = append(got, "conf "+x.Path)
			}
			for _, x := range f.Records {
				got = append(got, "record "+x.Path)
			}
			for _, x := range f.Statements {
				got = append(got, "statement "+x.Path)
			}
			for _, p := range slices.Sorted(maps.Keys(f.Owners)) {
				got = append(got, "owner "+p)
			}
			told := len(f.Incomplete) == 1 && f.Incomplete[0].Limit == "hard-link"
			if text := strings.Join(got, " "); text != tt.want || told != tt.told {
				t.Errorf("%s, want %s; incomplete %v", text, tt.want, f.Incomplete)
			}
		})
	}
}

// TestMatters holds that each name by which files are looked into is known to
// matter: hard links get no other look.
func TestMatters(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"usr/lib/libcuda.so.1": "", "usr/local/cuda/version.json": `{"cuda":{"version":"12.4.1"}}`, "usr/local/cuda/version.txt": "CUDA Version 10.2.89\n",
		"etc/ld.so.conf": "/opt\n", "etc/ld.so.conf.d/a.conf": "/opt\n", "etc/ld.so.cache": linkerCacheOf("new", [2]string{"libcuda.so.1", "/lib/libcuda.so.1"}),
		"var/lib/dpkg/status":                              "Package: libcuda1\nStatus: install ok installed\nVersion: 1\n\n",
		"var/lib/dpkg/status.d/libcuda1":                   "Package: libcuda1\nStatus: install ok installed\nVersion: 1\n\n",
		"var/lib/dpkg/info/libcuda1.list":                  "/usr/lib/libcuda.so.1\n",
		"v/torch-2.4.0.dist-info/RECORD":                   "torch/lib/libtorch.so,,\n",
		"opt/conda/conda-meta/cuda-cudart-12.4.127-0.json": `{"name":"cuda-cudart","version":"12.4.127","files":["lib/libcudart.so.12"]}`,
		"lib/apk/db/installed":                             "P:cuda-libs\nV:1\nF:usr/lib\nR:libcuda.so.1\n\n",
		"v/torch/version.py":                               "__version__ = '2.4.0'\n",
		"v/tensorflow/python/platform/build_info.py":       "('cuda_version', '12.5.1')",
		"v/onnxruntime/capi/build_and_package_info.py":     "cuda_version = '12.6'\n",
	} {
		f := walkBytes(t, tarOf(t, item{name: name, body: body}))
		kept := len(f.DriverFiles) + len(f.Toolkits) + len(f.Conf) + len(f.LinkerCache) + len(f.Records) + len(f.Owners) + len(f.Statements)
		if w := (&walker{}); kept == 0 || !w.matters("/"+name) {
			t.Errorf("%s: %d facts, matters %t", name, kept, w.matters("/"+name))
		}
	}
}
