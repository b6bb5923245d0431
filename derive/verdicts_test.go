package derive

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

func cudart(path, cuda, pkg string) facts.Runtime {
	return facts.Runtime{File: facts.File{Path: path, Layer: 1, Package: pkg, Manager: manager(pkg)}, CUDA: cuda, Linkage: "shared", SONAME: "libcudart.so." + cuda}
}

func verdictLines(r *Result) []string {
	out := []string{}
	for _, v := range r.Verdicts {
		out = append(out, fmt.Sprintf("%s %s %s %d %s", v.Target, v.RuntimeMode, v.Level, v.Code, v.UserModeDriver.Kind))
	}
	return out
}

func candidateLines(r *Result) []string {
	out := []string{}
	for _, c := range r.Input.Verdicts {
		out = append(out, fmt.Sprintf("%s %s %s %d %v", c.Key, c.CUDA.Text, c.Level, c.Code, c.Targets))
	}
	return out
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	old := facts.Target{Name: "old", Driver: "450.80.02"}
	mid := facts.Target{Name: "mid", Driver: "535.161.08", Runtime: facts.ModeCDI}
	compatLib := file("/usr/local/cuda/compat/libcuda.so.550.54.15", facts.ClassLibrary, "")
	compatLib.Place, compatLib.Driver = facts.PlaceCompat, "550.54.15"
	hidden := cudart("/opt/libcudart.so.13", "13.0", "")
	hidden.Shadowed = &facts.Shadow{Layer: 1, How: "whiteout"}
	for name, tt := range map[string]struct {
		change     func(*facts.Image)
		targets    []facts.Target
		verdicts   []string
		candidates []string
	}{
		"no target": {func(i *facts.Image) { i.Runtimes = []facts.Runtime{cudart("/a", "12.4", "")} }, nil, []string{}, []string{}},
		"no runtime is unknown, not fine": {
			nil, []facts.Target{mid}, []string{"mid cdi unknown 0 host"}, []string{},
		},
		"two modes unless one is given": {
			func(i *facts.Image) { i.Runtimes = []facts.Runtime{cudart("/a", "11.2", "")} },
			[]facts.Target{old, mid},
			[]string{"old legacy minor 0 host", "old cdi minor 0 host", "mid cdi native 0 host"},
			[]string{"cuda:11.2 11.2 minor 0 [old]", "cuda:11.2 11.2 native 0 [mid]"},
		},
		"the worst runtime decides": {
			func(i *facts.Image) {
				i.Runtimes = []facts.Runtime{cudart("/b", "12.4", ""), cudart("/a", "11.2", ""), cudart("/c", "12.4", "")}
			},
			[]facts.Target{{Name: "old", Driver: "450.80.02", Runtime: facts.ModeCDI}},
			[]string{"old cdi incompatible 35 host"},
			[]string{"cuda:11.2 11.2 minor 0 [old]", "cuda:12.4 12.4 incompatible 35 [old]"},
		},
		"a hidden runtime is none": {
			func(i *facts.Image) { i.Runtimes = []facts.Runtime{hidden} }, []facts.Target{mid}, []string{"mid cdi unknown 0 host"}, []string{},
		},
		"a bare major": {
			func(i *facts.Image) { i.Runtimes = []facts.Runtime{cudart("/a", "12", "")} },
			[]facts.Target{mid},
			[]string{"mid cdi unknown 0 host"},
			[]string{"cuda:12 12 unknown 0 [mid]"},
		},
		"cuda-compat may help": {
			func(i *facts.Image) {
				i.Runtimes, i.DriverFiles = []facts.Runtime{cudart("/a", "12.4", "")}, []facts.DriverFile{compatLib}
			},
			[]facts.Target{{Name: "old", Driver: "470.256.02", Runtime: facts.ModeCDI}},
			[]string{"old cdi unknown 0 unknown"},
			[]string{"cuda:12.4 12.4 unknown 0 [old]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(image(tt.change), tt.targets...)
			if diff := cmp.Diff(tt.verdicts, verdictLines(r)); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.candidates, candidateLines(r)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
			for _, v := range r.Verdicts {
				if len(v.Reasons) == 0 {
					t.Errorf("%s: a verdict without a reason", v.Target)
				}
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		runtimes []facts.Runtime
		want     facts.Needs
	}{
		"none": {nil, facts.Needs{CUDA: []facts.CUDANeed{}}},
		"the highest floor": {
			[]facts.Runtime{cudart("/a", "11.2", ""), cudart("/b", "12.4", ""), cudart("/c", "12.4", "")},
			facts.Needs{
				CUDA: []facts.CUDANeed{
					{Version: "11.2", Linkage: "shared", Consumers: []string{"/a"}, Native: "460.27.03", Minor: "450.80.02"},
					{Version: "12.4", Linkage: "shared", Consumers: []string{"/b", "/c"}, Native: "550.54.14", Minor: "525.60.13"},
				},
				Driver: facts.DriverNeed{Native: "550.54.14", Minor: "525.60.13"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(image(func(i *facts.Image) { i.Runtimes = tt.runtimes })).Subject.Needs
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	// A runtime of which no floor is known takes the promise back.
	n := run(image(func(i *facts.Image) {
		i.Runtimes = []facts.Runtime{cudart("/a", "12.4", ""), cudart("/b", "99.9", "")}
	})).Subject.Needs
	if n.Driver != (facts.DriverNeed{}) {
		t.Errorf("%+v", n.Driver)
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	tool := func(path, cuda string) facts.Toolkit {
		return facts.Toolkit{File: facts.File{Path: path, Layer: 1}, CUDA: cuda}
	}
	env := func(v string) []facts.EnvVar { return []facts.EnvVar{{Name: "CUDA_VERSION", Value: v}} }
	const t122, t118 = "/usr/local/cuda-12.2/version.json", "/usr/local/cuda-11.8/version.json"
	for name, tt := range map[string]struct {
		change func(*facts.Image)
		want   []string
	}{
		"agree":           {func(i *facts.Image) { i.Config.Env, i.Toolkits = env("12.2.2"), []facts.Toolkit{tool(t122, "12.2.1")} }, []string{}},
		"nothing to hold": {func(i *facts.Image) { i.Config.Env = env("12.2.2") }, []string{}},
		"variable":        {func(i *facts.Image) { i.Config.Env, i.Toolkits = env("11.8.0"), []facts.Toolkit{tool(t122, "12.2.1")} }, []string{"CUDA_VERSION"}},
		"one of several toolkits": {
			func(i *facts.Image) {
				i.Config.Env, i.Toolkits = env("11.8.0"), []facts.Toolkit{tool(t122, "12.2.1"), tool(t118, "11.8.0")}
			}, []string{},
		},
		"label": {
			func(i *facts.Image) {
				i.Config.Labels, i.Toolkits = map[string]string{"com.nvidia.cuda.version": "11.8"}, []facts.Toolkit{tool(t122, "12.2.1")}
			}, []string{"com.nvidia.cuda.version"},
		},
		"pip's runtimes are their own": {
			func(i *facts.Image) {
				i.Config.Env, i.Toolkits = env("12.2.2"), []facts.Toolkit{tool(t122, "12.2.1")}
				i.Runtimes = []facts.Runtime{cudart("/usr/lib/python3/nvidia/libcudart.so.11.0", "11.8", "")}
			}, []string{},
		},
		"a toolkit against itself": {
			func(i *facts.Image) {
				i.Toolkits = []facts.Toolkit{tool(t122, "12.2.1")}
				i.Runtimes = []facts.Runtime{cudart("/usr/local/cuda-12.2/lib64/libcudart.so.12.4.99", "12.4", "")}
			}, []string{"path:/usr/local/cuda-12.2:libcudart.so.12.4.99:version.json"},
		},
		"a bare major agrees with all of its minors": {
			func(i *facts.Image) {
				i.Config.Env = env("12.2.2")
				i.Runtimes = []facts.Runtime{cudart("/usr/local/cuda-12.2/lib64/libcudart.so.12", "12", "")}
			}, []string{},
		},
		"no version": {func(i *facts.Image) { i.Config.Env, i.Toolkits = env("latest"), []facts.Toolkit{tool(t122, "?")} }, []string{}},
		"a hidden one": {func(i *facts.Image) {
			x := tool(t122, "12.2.1")
			x.Shadowed = &facts.Shadow{Layer: 1}
			i.Config.Env, i.Toolkits = env("11.8.0"), []facts.Toolkit{x}
		}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []string{}
			for _, c := range run(image(tt.change)).Input.VersionDrift {
				got = append(got, c.Key)
				if len(c.Statements) < 2 || len(c.Evidence) != len(c.Statements) {
					t.Errorf("%+v", c)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
