package derive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/facts"
)

const lib = "/usr/lib/x86_64-linux-gnu/"

// image is an image of two layers whose linker looks into lib.
func image(change func(*facts.Image)) *facts.Image {
	img := &facts.Image{
		Ref: "app:1", Name: "app", Platform: "linux/amd64",
		Layers:     []facts.Layer{{Index: 0, Digest: "sha256:0", CreatedBy: "ADD"}, {Index: 1, Digest: "sha256:1", CreatedBy: "RUN"}},
		LinkerDirs: []facts.LinkerDir{{Dir: strings.TrimSuffix(lib, "/"), Resolved: strings.TrimSuffix(lib, "/"), From: "default"}},
	}
	if change != nil {
		change(img)
	}
	return img
}

func manager(pkg string) string {
	if pkg == "" {
		return ""
	}
	return "dpkg"
}

func file(path, class, pkg string) facts.DriverFile {
	name, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".so")
	f := facts.DriverFile{File: facts.File{Path: path, Layer: 1, Package: pkg, Manager: manager(pkg)}, Class: class, Name: name + ".so", Matched: "name"}
	if class == facts.ClassLibrary || class == facts.ClassTool {
		f.Size, f.Driver = 1000, "535.161.08"
	}
	return f
}

// groups writes the groups of driver files, each on one line.
func groups(in *facts.Input) []string {
	out := []string{}
	for _, c := range in.DriverFiles {
		s := c.Class + " " + c.Key
		if c.Package != nil {
			s += " " + c.Package.Name + "=" + c.Package.Version
		}
		s += " " + strings.Join(c.Paths, ",")
		if c.OnLinkerPath {
			s += " on-path"
		}
		if c.Opened {
			s += " opened"
		}
		if c.ShadowedBy != nil {
			s += fmt.Sprintf(" %s by %d", c.How, c.ShadowedBy.Index)
		}
		out = append(out, s)
	}
	return out
}

func run(img *facts.Image, targets ...facts.Target) *Result {
	return Image("app:1", img, targets, compat.Default())
}

func TestDriverFiles(t *testing.T) {
	t.Parallel()
	shadow := func(f facts.DriverFile, layer int, how string) facts.DriverFile {
		f.Shadowed = &facts.Shadow{Layer: layer, How: how}
		return f
	}
	place := func(f facts.DriverFile, p string) facts.DriverFile { f.Place = p; return f }
	link := func(path, to, resolved string) facts.DriverFile {
		f := file(path, facts.ClassLink, "")
		f.Link, f.Resolved = to, resolved
		return f
	}
	libcuda1 := facts.Package{Manager: "dpkg", Name: "libcuda1", Version: "535-1", State: "installed", Driver: true}
	for name, tt := range map[string]struct {
		files    []facts.DriverFile
		packages []facts.Package
		want     []string
	}{
		"none": {nil, nil, []string{}},
		"one package, one group for each class": {
			[]facts.DriverFile{
				file(lib+"libnvidia-ml.so.535.161.08", facts.ClassLibrary, "libcuda1"), file(lib+"libcuda.so.535.161.08", facts.ClassLibrary, "libcuda1"),
				file(lib+"libcuda.so.1", facts.ClassLink, "libcuda1"),
			},
			[]facts.Package{libcuda1},
			[]string{
				"library package:libcuda1 libcuda1=535-1 " + lib + "libcuda.so.535.161.08," + lib + "libnvidia-ml.so.535.161.08 on-path",
				"link package:libcuda1 libcuda1=535-1 " + lib + "libcuda.so.1 on-path",
			},
		},
		"unpackaged ones by themselves": {
			[]facts.DriverFile{file("/opt/a/libcuda.so.535.161.08", facts.ClassLibrary, ""), file(lib+"libcuda.so.1", facts.ClassLibrary, "")},
			nil,
			[]string{"library path:/opt/a/libcuda.so.<RM> /opt/a/libcuda.so.535.161.08", "library path:" + lib + "libcuda.so.1 " + lib + "libcuda.so.1 on-path"},
		},
		"the branch in a package's name is left out of the key": {
			[]facts.DriverFile{file("/x/libcuda.so.1", facts.ClassLibrary, "libnvidia-compute-535-server")},
			nil,
			[]string{"library package:libnvidia-compute-<RM>-server libnvidia-compute-535-server= /x/libcuda.so.1"},
		},
		"compat and stubs": {
			[]facts.DriverFile{
				place(file("/usr/local/cuda/compat/libcuda.so.1", facts.ClassLibrary, ""), facts.PlaceCompat),
				place(file("/usr/local/cuda/stubs/libcuda.so", facts.ClassLibrary, ""), facts.PlaceStubs),
			}, nil, []string{},
		},
		"a link on the path reaches a file off it": {
			[]facts.DriverFile{file("/opt/nv/libcuda.so.535.161.08", facts.ClassLibrary, ""), link(lib+"libcuda.so.1", "/opt/nv/libcuda.so.535.161.08", "/opt/nv/libcuda.so.535.161.08")},
			nil,
			[]string{"library path:/opt/nv/libcuda.so.<RM> /opt/nv/libcuda.so.535.161.08 on-path", "link path:" + lib + "libcuda.so.1 " + lib + "libcuda.so.1 on-path"},
		},
		"hidden ones by layer and way; links and empty files cost nothing": {
			[]facts.DriverFile{
				shadow(file("/a/libcuda.so.1", facts.ClassLibrary, "p"), 1, "whiteout"), shadow(file("/b/libcuda.so.1", facts.ClassLibrary, "p"), 1, "whiteout"),
				shadow(file("/c/libcuda.so.1", facts.ClassLibrary, "p"), 1, "opaque"),
				shadow(file("/d/libcuda.so.1", facts.ClassLink, "p"), 1, "whiteout"), shadow(file("/e/libcuda.so.1", facts.ClassEmpty, "p"), 1, "whiteout"),
			},
			nil,
			[]string{"shadowed package:p p= /a/libcuda.so.1,/b/libcuda.so.1 whiteout by 1", "shadowed package:p p= /c/libcuda.so.1 opaque by 1"},
		},
		"empty files that programs open": {
			[]facts.DriverFile{file(lib+"libcuda.so.1", facts.ClassEmpty, ""), file(lib+"libcuda.so.535.161.08", facts.ClassEmpty, ""), file("/usr/bin/nvidia-smi", facts.ClassEmpty, "")},
			nil,
			[]string{
				"empty path:" + lib + "libcuda.so.1 " + lib + "libcuda.so.1 on-path opened",
				"empty path:" + lib + "libcuda.so.<RM> " + lib + "libcuda.so.535.161.08 on-path",
				"empty path:/usr/bin/nvidia-smi /usr/bin/nvidia-smi",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := run(image(func(img *facts.Image) { img.DriverFiles, img.Packages = tt.files, tt.packages }))
			if diff := cmp.Diff(tt.want, groups(res.Input)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			ids := map[string]bool{}
			for _, c := range res.Input.DriverFiles {
				if ids[c.ID] || len(c.Evidence) != len(c.Paths) || c.Evidence[0].Layer == nil {
					t.Errorf("candidate %+v", c)
				}
				ids[c.ID] = true
			}
		})
	}
}

func TestImageKinds(t *testing.T) {
	t.Parallel()
	res := run(image(func(img *facts.Image) {
		img.Markers = []facts.Marker{{Kind: "dcgm"}, {Kind: "dcgm"}, {Kind: "node-image"}}
		img.DriverFiles = []facts.DriverFile{file(lib+"libcuda.so.1", facts.ClassLibrary, "")}
		img.Packages = []facts.Package{{Name: "libcuda1", State: "installed", Driver: true}}
	}))
	if len(res.Input.DriverFiles)+len(res.Input.DriverPackages) != 0 {
		t.Errorf("%+v", res.Input)
	}
	if diff := cmp.Diff([]string{"dcgm", "node-image"}, res.Subject.ImageKinds); diff != "" {
		t.Error(diff)
	}
}

func TestDriverPackages(t *testing.T) {
	t.Parallel()
	pkg := func(name, state string, driver, dummy bool) facts.Package {
		return facts.Package{Manager: "dpkg", Name: name, Version: "1", State: state, Driver: driver, Dummy: dummy, Layer: 1, Record: "/var/lib/dpkg/status"}
	}
	res := run(image(func(img *facts.Image) {
		img.DriverFiles = []facts.DriverFile{file(lib+"libcuda.so.1", facts.ClassLibrary, "libcuda1")}
		img.Packages = []facts.Package{
			pkg("libcuda1", "installed", true, false), pkg("cuda-drivers-535", "installed", true, false), pkg("cuda-drivers-535", "installed", true, false),
			pkg("nvidia-driver-470", "config-files", true, false), pkg("nvidia-smi", "installed", true, true), pkg("cuda-toolkit", "installed", false, false),
		}
	}))
	got := []string{}
	for _, c := range res.Input.DriverPackages {
		got = append(got, fmt.Sprintf("%s %s @%d %s", c.Package.Name, c.Key, c.Layer.Index, c.Evidence[0].Path))
	}
	if diff := cmp.Diff([]string{"cuda-drivers-535 package:cuda-drivers-<RM> @1 /var/lib/dpkg/status"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestBound holds that an input stays small, and says what it left out.
func TestBound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*facts.Image){
		"candidates": func(img *facts.Image) {
			for i := range 5000 {
				img.DriverFiles = append(img.DriverFiles, file(fmt.Sprintf("/opt/%d/libcuda.so.1", i), facts.ClassLibrary, ""))
			}
		},
		"bytes": func(img *facts.Image) {
			for i := range 1500 {
				img.DriverFiles = append(img.DriverFiles, file(fmt.Sprintf("/opt/%d/%s/libcuda.so.1", i, strings.Repeat("x", 2000)), facts.ClassLibrary, ""))
			}
		},
		"runtimes": func(img *facts.Image) {
			for i := range 5000 {
				img.Runtimes = append(img.Runtimes, facts.Runtime{File: facts.File{Path: fmt.Sprint("/", i)}, CUDA: fmt.Sprint("12.", i), Linkage: "shared"})
			}
		},
		"version statements": func(img *facts.Image) {
			img.Config.Env = []facts.EnvVar{{Name: "CUDA_VERSION", Value: "13.9"}}
			for i := range 300 {
				img.Toolkits = append(img.Toolkits, facts.Toolkit{File: facts.File{Path: fmt.Sprintf("/usr/local/cuda-%d/version.json", i)}, CUDA: "12.4"})
			}
		},
		"contradictions": func(img *facts.Image) {
			for i := range 20 {
				img.Toolkits = append(img.Toolkits, facts.Toolkit{File: facts.File{Path: fmt.Sprintf("/usr/local/cuda/%d/version.json", i)}, CUDA: fmt.Sprint("12.", i)})
			}
		},
	} {
		res := run(image(change), facts.Target{Name: "a", Driver: "535.161.08"})
		data, err := json.Marshal(res.Input)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 1<<20 {
			t.Errorf("%s: the input has %d bytes", name, len(data))
		}
		limits := res.Input.Incomplete
		if len(limits) != 1 || limits[0].Limit != "candidates" || limits[0].Count == 0 {
			t.Errorf("%s: nothing says what was left out: %+v", name, limits)
		}
	}
}

// TestBoundKeepsTheWorst holds that what hurts most is kept: libraries before
// all else, hidden files last, and one candidate that is too long does not take
// those behind it along.
func TestBoundKeepsTheWorst(t *testing.T) {
	t.Parallel()
	res := run(image(func(img *facts.Image) {
		for i := range 3000 {
			f := file(fmt.Sprintf("/a/%d/libcuda.so.1", i), facts.ClassLibrary, "")
			f.Shadowed = &facts.Shadow{Layer: 1, How: "whiteout"}
			img.DriverFiles = append(img.DriverFiles, f)
		}
		for i, class := range []string{facts.ClassLink, facts.ClassTool, facts.ClassEmpty, facts.ClassLibrary} {
			img.DriverFiles = append(img.DriverFiles, file(fmt.Sprintf("/z/%d/libcuda.so.1", i), class, ""))
		}
	}))
	got := map[string]int{}
	for _, c := range res.Input.DriverFiles {
		got[c.Class]++
	}
	for _, class := range []string{facts.ClassLink, facts.ClassTool, facts.ClassEmpty, facts.ClassLibrary} {
		if got[class] != 1 {
			t.Errorf("%s was left out: %v", class, got)
		}
	}
	b := &budget{left: 1000, count: 10}
	kept := keep(b, []string{"a", strings.Repeat("x", 2000), "b"})
	if diff := cmp.Diff([]string{"a", "b"}, kept); diff != "" || b.dropped != 1 {
		t.Errorf("%s, %d dropped", diff, b.dropped)
	}
}

// TestBoundSubject holds that an environment, labels or targets of any size
// leave a judgement of the rest, and that what was left out is said.
func TestBoundSubject(t *testing.T) {
	t.Parallel()
	many := func(n int, f func(string)) {
		for i := range n {
			f(fmt.Sprintf("K%06d", i))
		}
	}
	long := strings.Repeat("x", 3<<20)
	for name, tt := range map[string]struct {
		change  func(*facts.Image)
		targets int
		limit   string
	}{
		"a long label key": {func(i *facts.Image) { i.Config.Labels = map[string]string{long: "1"} }, 1, "config"},
		"many labels": {func(i *facts.Image) {
			i.Config.Labels = map[string]string{}
			many(50_000, func(k string) { i.Config.Labels[k] = "1" })
		}, 1, "config"},
		"a long variable": {func(i *facts.Image) { i.Config.Env = []facts.EnvVar{{Name: long, Value: "1"}} }, 1, "config"},
		"many variables": {func(i *facts.Image) {
			many(50_000, func(k string) { i.Config.Env = append(i.Config.Env, facts.EnvVar{Name: k, Value: "1"}) })
		}, 1, "config"},
		"long values": {func(i *facts.Image) {
			many(2000, func(k string) {
				i.Config.Env = append(i.Config.Env, facts.EnvVar{Name: k, Value: strings.Repeat("y", 9000)})
			})
		}, 1, "config"},
		"a fleet of 20,000":   {func(*facts.Image) {}, 20_000, "targets"},
		"a name of megabytes": {func(i *facts.Image) { i.Name = long }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			targets := []facts.Target{}
			many(tt.targets, func(k string) {
				targets = append(targets, facts.Target{Name: k, Driver: "470.256.02", Runtime: facts.ModeCDI})
			})
			res := run(image(func(i *facts.Image) {
				i.DriverFiles = []facts.DriverFile{file(lib+"libcuda.so.1", facts.ClassLibrary, "")}
				i.Config.Env = []facts.EnvVar{{Name: "NVIDIA_REQUIRE_CUDA", Value: "cuda>=12.4"}}
				tt.change(i)
			}), targets...)
			data, err := json.Marshal(res.Input)
			if err != nil || len(data) > 1<<20 {
				t.Fatalf("the input has %d bytes, %v", len(data), err)
			}
			if len(res.Input.DriverFiles) != 1 || len(res.Verdicts) != tt.targets {
				t.Errorf("%d driver files, %d verdicts", len(res.Input.DriverFiles), len(res.Verdicts))
			}
			limits := []string{}
			for _, l := range res.Input.Incomplete {
				if l.Count == 0 {
					t.Errorf("no count: %+v", l)
				}
				limits = append(limits, l.Limit)
			}
			if want := strings.Fields(tt.limit); !slices.Equal(want, limits) {
				t.Errorf("limits %v, want %v", limits, want)
			}
		})
	}
}

// TestHostileTexts holds that long and broken texts do no harm.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1<<20)
	res := run(image(func(img *facts.Image) {
		img.Config.Env = []facts.EnvVar{{Name: "A", Value: long}, {Name: "CUDA_VERSION", Value: long}}
		img.Config.Labels = map[string]string{"l": long}
		img.Layers[1].CreatedBy = long
		img.DriverFiles = []facts.DriverFile{file(lib+"libcuda.so.1", facts.ClassLink, "")}
		img.DriverFiles[0].Link = long
	}))
	data, err := json.Marshal(res.Input)
	if err != nil || len(data) > 40000 || !utf8.Valid(data) || len(res.Input.DriverFiles) != 1 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// TestIncomplete holds that each limit of the scan becomes a candidate.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	res := run(image(func(img *facts.Image) {
		img.Incomplete = []facts.Incomplete{{Limit: "entries", Layer: 1, Hides: "files", Count: 3}, {Limit: "x", Layer: -1}}
	}))
	got := res.Input.Incomplete
	if len(got) != 2 || got[0].Evidence[0].Layer.Index != 1 || got[0].Count != 3 || got[1].Evidence[0].Layer != nil {
		t.Errorf("%+v", got)
	}
}

// TestSameTwice holds that the same facts give the same bytes, and that lists
// which the contract promises are there.
func TestSameTwice(t *testing.T) {
	t.Parallel()
	make1 := func() string {
		res := run(image(func(img *facts.Image) {
			img.Config.Labels = map[string]string{"b": "1", "a": "2"}
			for i := range 20 {
				img.DriverFiles = append(img.DriverFiles, file(fmt.Sprintf("/opt/%d/libcuda.so.1", i%7), facts.ClassLibrary, fmt.Sprint("p", i%3)))
			}
		}), facts.Target{Name: "a", Driver: "535"})
		data, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := make1(), make1(); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	data, err := json.Marshal(run(image(nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"targets":[]`, `"Verdicts":[]`, `"env":{}`, `"labels":{}`, `"cuda":[]`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is missing: %s", want, data)
		}
	}
}
