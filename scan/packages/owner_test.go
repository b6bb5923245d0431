package packages

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func all(string) bool { return true }

func TestReadApk(t *testing.T) {
	t.Parallel()
	const db = `C:Q1x=
P:nvidia-utils
V:535.161.08-r0
A:x86_64
o:nvidia
D:musl>=1.2 so:libc.musl-x86_64.so.1 !conflict libcuda~535 cmd:sh
F:usr
F:usr/bin
R:nvidia-smi
a:0:0:755
F:usr/lib
R:libcuda.so.1

P:last
V:1
F:
R:top`
	var got []string
	err := ReadApk(strings.NewReader(db), all, func(r Record, files []string) {
		got = append(got, fmt.Sprintf("%s %s %s %s %s %s %v %v", r.Manager, r.Name, r.Version, r.Arch, r.Source, r.State, r.Depends, files))
	})
	want := []string{
		"apk nvidia-utils 535.161.08-r0 x86_64 nvidia installed [musl libcuda] [/usr/bin/nvidia-smi /usr/lib/libcuda.so.1]",
		"apk last 1   installed [] [/top]",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestPipRecord(t *testing.T) {
	t.Parallel()
	rec, dir, ok := PipRecord("/opt/venv/lib/python3.12/site-packages/nvidia_cuda_runtime_cu12-12.4.127.dist-info/RECORD")
	if !ok || rec.Name != "nvidia-cuda-runtime-cu12" || rec.Version != "12.4.127" || dir != "/opt/venv/lib/python3.12/site-packages" {
		t.Errorf("%+v %s %t", rec, dir, ok)
	}
	for _, p := range []string{"/x/RECORD", "/x/a.dist-info/RECORD", "/x/a-1.dist-info/METADATA", "/x/-1.dist-info/RECORD"} {
		if _, _, ok := PipRecord(p); ok {
			t.Errorf("%s is taken for a record", p)
		}
	}
	const text = "nvidia/cuda_runtime/lib/libcudart.so.12,sha256=x,704\n\"with,comma.so\",,\n../../../bin/tool,,\n/abs/file.so,,\nbad\"quote,,\n,,\n"
	var got []string
	if err := ReadPipRecord(strings.NewReader(text), dir, func(p string) { got = append(got, p) }); err != nil {
		t.Fatal(err)
	}
	want := []string{
		dir + "/nvidia/cuda_runtime/lib/libcudart.so.12", dir + "/with,comma.so", "/opt/venv/bin/tool", "/abs/file.so", dir + "/bad\"quote",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConda(t *testing.T) {
	t.Parallel()
	if p, ok := CondaMeta("/opt/conda/conda-meta/cuda-cudart-12.4.127-0.json"); !ok || p != "/opt/conda" {
		t.Errorf("%s %t", p, ok)
	}
	for _, p := range []string{"/opt/conda-meta.json", "/opt/conda/conda-meta/history", "/a.json"} {
		if _, ok := CondaMeta(p); ok {
			t.Errorf("%s is taken for a record", p)
		}
	}
	var files []string
	rec, err := ReadConda(strings.NewReader(`{"name":"cuda-cudart","version":"12.4.127","subdir":"linux-64","depends":["cuda-version >=12.4,<12.5","x"],"files":["lib/libcudart.so.12","../../escape.so",""]}`),
		"/opt/conda", func(p string) { files = append(files, p) })
	want := Record{Manager: Conda, Name: "cuda-cudart", Version: "12.4.127", Arch: "linux-64", State: Installed, Depends: []string{"cuda-version", "x"}}
	if diff := cmp.Diff(want, rec); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"/opt/conda/lib/libcudart.so.12", "/escape.so"}, files); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "[]", `{"name":1}`, `{"files":["a"]}`, strings.Repeat("[", 100_000)} {
		if rec, err := ReadConda(strings.NewReader(text), "/", func(string) { t.Error("a file of no package") }); err != nil || rec.Name != "" {
			t.Errorf("%.20s: %+v, %v", text, rec, err)
		}
	}
	if _, err := ReadConda(strings.NewReader(strings.Repeat(" ", maxJSON+1)), "/", nil); !errors.Is(err, ErrLimit) {
		t.Errorf("%v", err)
	}
}

func TestNpmOwner(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"/app/node_modules/@node-llama-cpp/linux-x64-cuda/bins/libggml-cuda.so": "@node-llama-cpp/linux-x64-cuda",
		"/app/node_modules/a/node_modules/b/x.so":                               "b",
		"/app/node_modules/.bin/x":                                              "",
		"/app/node_modules/a":                                                   "",
		"/app/node_modules/@scope/x":                                            "",
		"/app/node_modules//x":                                                  "",
		"/usr/lib/x.so":                                                         "",
	} {
		if o, ok := NpmOwner(p); o.Name != want || ok != (want != "") {
			t.Errorf("%s: %+v %t", p, o, ok)
		}
	}
}

func TestOutranks(t *testing.T) {
	t.Parallel()
	if !(Owner{Dpkg, "a"}).Outranks(Owner{Pip, "b"}) || (Owner{Pip, "b"}).Outranks(Owner{Dpkg, "a"}) || (Owner{Apk, "a"}).Outranks(Owner{Dpkg, "b"}) {
		t.Error("the distribution's records go first")
	}
}

// TestOwnerErrors holds that an error of the source is told, and a line that is
// too long is a limit.
func TestOwnerErrors(t *testing.T) {
	t.Parallel()
	disk := errors.New("disk on fire")
	long := "P:" + strings.Repeat("x", maxLine+10)
	none := func(Record, []string) {}
	for name, err := range map[string]error{
		"apk":   ReadApk(iotest.ErrReader(disk), all, none),
		"pip":   ReadPipRecord(iotest.ErrReader(disk), "/", func(string) {}),
		"conda": func() error { _, err := ReadConda(iotest.ErrReader(disk), "/", nil); return err }(),
	} {
		if !errors.Is(err, disk) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ReadApk(strings.NewReader(long), all, none); !errors.Is(err, ErrLimit) {
		t.Errorf("%v", err)
	}
}

func FuzzOwners(f *testing.F) {
	f.Add("P:a\nF:x\nR:y\n\n")
	f.Add("a/b.so,sha256=x,1\n\"q,\"\"\"\n")
	f.Add(`{"name":"a","files":["b"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		absolute := func(p string) {
			if !strings.HasPrefix(p, "/") || strings.Contains(p, "/../") {
				t.Errorf("%q is not absolute", p)
			}
		}
		_ = ReadApk(strings.NewReader(text), all, func(_ Record, files []string) { // a limit is no failure
			for _, p := range files {
				absolute(p)
			}
		})
		_ = ReadPipRecord(strings.NewReader(text), "/opt", absolute)
		_, _ = ReadConda(strings.NewReader(text), "/opt", absolute)
	})
}
