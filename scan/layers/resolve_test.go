package layers

import (
	"archive/tar"
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// TestLinks holds what binaries get for the libraries of CUDA that they need.
func TestLinks(t *testing.T) {
	t.Parallel()
	lib := func(name, soname string) item { return item{name: name, body: string(testimage.Library(soname))} }
	link := func(name, to string) item { return item{name: name, link: to, typ: tar.TypeSymlink} }
	app := func(e testimage.ELF) item {
		if e.Needed == nil {
			e.Needed = []string{"libcublas.so.12"}
		}
		return item{name: "opt/app/bin/app", body: string(e.Bytes())}
	}
	conf := item{name: "etc/ld.so.conf", body: "/opt/conf\n"}
	const cublas = "libcublas.so.12"
	for name, tt := range map[string]struct {
		env   string
		items []item
		want  string
	}{
		"nowhere":                   {"", []item{app(testimage.ELF{})}, cublas + " none"},
		"elsewhere":                 {"", []item{app(testimage.ELF{}), lib("opt/x/libcublas.so.12", cublas)}, cublas + " none, but /opt/x/libcublas.so.12"},
		"a standard directory":      {"", []item{app(testimage.ELF{}), lib("usr/lib/libcublas.so.12", cublas)}, cublas + " /usr/lib/libcublas.so.12 by default"},
		"through links":             {"", []item{app(testimage.ELF{}), lib("usr/lib/libcublas.so.12.4.5.8", cublas), link("usr/lib/libcublas.so.12", "libcublas.so.12.4.5.8"), link("lib", "usr/lib")}, cublas + " /usr/lib/libcublas.so.12.4.5.8 by default"},
		"ldconfig makes the link":   {"", []item{app(testimage.ELF{}), conf, lib("opt/conf/libcublas.so.12.4.5.8", cublas), lib("opt/conf/libcublas.so.12.10.1.4", cublas)}, cublas + " /opt/conf/libcublas.so.12.10.1.4 by ld.so.conf"},
		"not in LD_LIBRARY_PATH":    {"/opt/env", []item{app(testimage.ELF{}), lib("opt/env/libcublas.so.12.4.5.8", cublas)}, cublas + " none, but /opt/env/libcublas.so.12.4.5.8"},
		"LD_LIBRARY_PATH first":     {"/opt/env", []item{app(testimage.ELF{RUNPATH: "/opt/run"}), conf, lib("opt/env/libcublas.so.12", cublas), lib("opt/run/libcublas.so.12", cublas), lib("opt/conf/libcublas.so.12", cublas)}, cublas + " /opt/env/libcublas.so.12 by LD_LIBRARY_PATH, before /opt/run/libcublas.so.12 /opt/conf/libcublas.so.12"},
		"RPATH before it":           {"/opt/env", []item{app(testimage.ELF{RPATH: "$ORIGIN/../lib"}), lib("opt/env/libcublas.so.12", cublas), lib("opt/app/lib/libcublas.so.12", cublas)}, cublas + " /opt/app/lib/libcublas.so.12 by rpath, before /opt/env/libcublas.so.12"},
		"RPATH beside RUNPATH":      {"", []item{app(testimage.ELF{RPATH: "/opt/r", RUNPATH: "/opt/run"}), lib("opt/r/libcublas.so.12", cublas)}, cublas + " none, but /opt/r/libcublas.so.12"},
		"a wheel's":                 {"", []item{{name: "v/torch/lib/l.so", body: string(testimage.ELF{SONAME: "l.so", Needed: []string{cublas}, RPATH: "$ORIGIN/../../nvidia/cublas/lib:${ORIGIN}"}.Bytes())}, lib("v/nvidia/cublas/lib/libcublas.so.12", cublas)}, cublas + " /v/nvidia/cublas/lib/libcublas.so.12 by rpath"},
		"another machine":           {"", []item{app(testimage.ELF{}), {name: "usr/lib/libcublas.so.12", body: string(testimage.ELF{SONAME: cublas, Machine: elf.EM_AARCH64}.Bytes())}}, cublas + " none, but /usr/lib/libcublas.so.12"},
		"no ELF file":               {"", []item{app(testimage.ELF{}), {name: "usr/lib/libcublas.so.12", body: "GROUP ( libcublas.so.12.4 )"}}, cublas + " none"},
		"a path":                    {"", []item{app(testimage.ELF{Needed: []string{"/opt/x/libcublas.so.12"}}), lib("opt/x/libcublas.so.12", cublas)}, ""},
		"the C library is no fact":  {"", []item{app(testimage.ELF{Needed: []string{"libc.so.6"}}), lib("usr/lib/libc.so.6", "libc.so.6")}, ""},
		"but that it is missing is": {"", []item{app(testimage.ELF{Needed: []string{"libc.so.6"}})}, "libc.so.6 none"},
		"musl":                      {"", []item{app(testimage.ELF{RPATH: "/opt/r"}), lib("lib/ld-musl-x86_64.so.1", "libc.musl-x86_64.so.1"), lib("opt/r/libcublas.so.12", cublas)}, cublas + " /opt/r/libcublas.so.12 by runpath"},
		"musl reads no ld.so.conf":  {"", []item{app(testimage.ELF{}), conf, lib("lib/ld-musl-x86_64.so.1", "libc.musl-x86_64.so.1"), lib("opt/conf/libcublas.so.12", cublas)}, cublas + " none, but /opt/conf/libcublas.so.12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			img := &facts.Image{}
			if tt.env != "" {
				img.Config.Env = []facts.EnvVar{{Name: "LD_LIBRARY_PATH", Value: tt.env}}
			}
			Merge(img, []*Facts{walkBytes(t, tarOf(t, tt.items...))})
			var lines []string
			for _, b := range img.Binaries {
				for _, l := range b.Links {
					s := l.Name + " none"
					if l.Path != "" {
						s = fmt.Sprintf("%s %s by %s", l.Name, l.Path, l.Via)
					}
					if len(l.Others) > 0 {
						s += ", before " + strings.Join(l.Others, " ")
					}
					if len(l.Elsewhere) > 0 {
						s += ", but " + strings.Join(l.Elsewhere, " ")
					}
					lines = append(lines, s)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestNewerName holds how names of files are compared.
func TestNewerName(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{{"a.so.10", "a.so.9"}, {"a.so.1.2", "a.so.1"}, {"b.so", "a.so"}, {"a.so.010.1", "a.so.10"}, {"a.so.1.10.0", "a.so.1.9.0"}} {
		if !newerName(tt[0], tt[1]) || newerName(tt[1], tt[0]) {
			t.Errorf("%s is newer than %s", tt[0], tt[1])
		}
	}
}
