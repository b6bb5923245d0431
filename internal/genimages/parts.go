package main

import (
	"fmt"
	"strings"

	t "github.com/gpulint/gpulint/internal/testimage"
)

// Directories of Debian.
const (
	lib     = "usr/lib/x86_64-linux-gnu/"
	info    = "var/lib/dpkg/info/"
	rm535   = "535.161.08"
	install = "RUN /bin/sh -c apt-get update && apt-get install -y "
)

// pkg is an installed Debian package.
type pkg struct {
	name, version, depends, status, description string
	files                                       []t.File
}

// list is the paths that a package owns.
func (p pkg) list() t.File {
	var b strings.Builder
	b.WriteString("/.\n")
	for _, f := range p.files {
		b.WriteString("/" + f.Name + "\n")
	}
	return t.Text(info+p.name+":amd64.list", b.String())
}

func (p pkg) record() string {
	status := p.status
	if status == "" {
		status = "install ok installed"
	}
	s := fmt.Sprintf("Package: %s\nStatus: %s\nArchitecture: amd64\nMulti-Arch: same\nVersion: %s\n", p.name, status, p.version)
	if p.depends != "" {
		s += "Depends: " + p.depends + "\n"
	}
	if p.description != "" {
		s += "Description: " + p.description + "\n"
	}
	return s + "\n"
}

var baseFiles = pkg{name: "base-files", version: "12.4+deb12u10", description: "Debian base system miscellaneous files"}

// base is the root file system of Debian, as far as it matters here.
func base() t.Layer {
	return t.Layer{CreatedBy: "ADD rootfs.tar.xz / # buildkit", Files: []t.File{
		t.Symlink("lib", "usr/lib"),
		t.Symlink("lib64", "usr/lib64"),
		t.Dir("usr"), t.Dir("usr/bin"), t.Dir("usr/lib"), t.Dir("usr/lib64"), t.Dir("usr/lib/x86_64-linux-gnu"),
		t.Exec("usr/bin/sh", t.Program([]string{"libc.so.6"})),
		t.Reg(lib+"libc.so.6", t.Library("libc.so.6")),
		t.Text("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
		t.Text("etc/ld.so.conf.d/x86_64-linux-gnu.conf", "# Multiarch support\n/usr/local/lib/x86_64-linux-gnu\n/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n"),
		status(baseFiles),
	}}
}

// status is dpkg's database with these packages.
func status(pkgs ...pkg) t.File {
	var b strings.Builder
	for _, p := range pkgs {
		b.WriteString(p.record())
	}
	return t.Text("var/lib/dpkg/status", b.String())
}

// apt is a layer that installs packages over the base.
func apt(pkgs ...pkg) t.Layer {
	names := make([]string, 0, len(pkgs))
	files := []t.File{}
	for _, p := range pkgs {
		names = append(names, p.name)
		files = append(append(files, p.files...), p.list())
	}
	return t.Layer{
		CreatedBy: install + strings.Join(names, " ") + " # buildkit",
		Files:     append(files, status(append([]pkg{baseFiles}, pkgs...)...)),
	}
}

// env is the history entry of a variable: it has no blob.
func env(text string) t.Layer { return t.Layer{CreatedBy: "ENV " + text, NoBlob: true} }

// app is the program for whose sake the image is there.
func app() t.Layer {
	return t.Layer{CreatedBy: "COPY train /app/train # buildkit", Files: []t.File{
		t.Dir("app"), t.Exec("app/train", t.Program([]string{"libcudart.so.12", "libc.so.6"})),
	}}
}

// libcuda1 has its library on the linker's path, as Ubuntu's packages do.
func libcuda1() pkg {
	const version = rm535
	return pkg{name: "libcuda1", version: version + "-1", description: "NVIDIA CUDA Driver Library", files: []t.File{
		t.Reg(lib+"libcuda.so."+version, t.DriverLibrary("libcuda.so.1", version)),
		t.Symlink(lib+"libcuda.so.1", "libcuda.so."+version),
		t.Symlink(lib+"libcuda.so", "libcuda.so.1"),
	}}
}

// cudart is the CUDA runtime as Debian packages it.
func cudart(soname, version string) pkg {
	major, _, _ := strings.Cut(version, ".")
	name := "libcudart" + strings.TrimPrefix(soname, "libcudart.so.")
	return pkg{name: name, version: version + "~dfsg-1", description: "NVIDIA CUDA Runtime Library " + major, files: []t.File{
		t.Reg(lib+"libcudart.so."+version, t.Library(soname, "libc.so.6")),
		t.Symlink(lib+soname, "libcudart.so."+version),
	}}
}

// toolkit are the files of a CUDA toolkit under /usr/local.
func toolkit(cuda, cudart, soname string) []t.File {
	short := cuda[:strings.LastIndexByte(cuda, '.')]
	dir := "usr/local/cuda-" + short + "/"
	return []t.File{
		t.Dir("usr/local"), t.Dir(dir), t.Symlink("usr/local/cuda", "/usr/local/cuda-"+short),
		t.Text(dir+"version.json", fmt.Sprintf(`{"cuda": {"name": "CUDA SDK", "version": %q}}`, cuda)),
		t.Reg(dir+"targets/x86_64-linux/lib/libcudart.so."+cudart, t.Library(soname, "libc.so.6")),
		t.Symlink(dir+"targets/x86_64-linux/lib/"+soname, "libcudart.so."+cudart),
	}
}
