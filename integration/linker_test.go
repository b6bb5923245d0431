//go:build integration

package integration

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// The packages of Debian trixie whose linker is asked, of any version.
var (
	libcPackages = []string{"libc6", "libc-bin", "libgcc-s1", "libstdc++6"}
	cudaPackages = []string{"libcudart12", "libnppc12", "libnppif12", "libnvrtc12", "libnvrtc-builtins12.4"}
)

// debRoot unpacks packages of trixie into a root file system.
func debRoot(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"lib", "lib64", "bin", "sbin"} {
		if err := os.MkdirAll(filepath.Join(root, "usr", dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("usr/"+dir, filepath.Join(root, dir)); err != nil {
			t.Fatal(err)
		}
	}
	err := locked(func(dir string) error {
		a := &apt{dir: dir}
		for _, name := range names {
			pkg := filepath.Join(dir, name+"-trixie.deb")
			if _, err := os.Stat(pkg); err != nil {
				if err := a.download(name+":amd64", "trixie", pkg, ""); err != nil {
					return err
				}
			}
			if _, err := dpkgDeb("-x", pkg, root); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// inRoot runs a program in a root file system, as root or in a user namespace.
func inRoot(t *testing.T, root string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out) + stderr.String()
}

// inside is the file behind the links of a path in a root file system.
func inside(t *testing.T, root, p string) string {
	t.Helper()
	r, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 40 {
		// Directories first: only usr/lib and such are links.
		for _, dir := range []string{"/lib64/", "/lib/", "/bin/", "/sbin/"} {
			if strings.HasPrefix(p, dir) {
				p = "/usr" + p
			}
		}
		to, err := r.Readlink(strings.TrimPrefix(p, "/"))
		if err != nil {
			return path.Clean(p)
		}
		if !strings.HasPrefix(to, "/") {
			to = path.Dir(p) + "/" + to
		}
		p = path.Clean(to)
	}
	return p
}

var (
	listedLibrary = regexp.MustCompile(`(?m)^\t(\S+) => (/\S+) \(0x`)
	listedMissing = regexp.MustCompile(`(?m)^\t(\S+) => not found`)
	cachedLibrary = regexp.MustCompile(`(?m)^\t(\S+) \(libc6,x86-64\) => (/\S+)$`)
)

// TestLinkerOfDebian compares what CUDA's libraries of Debian get with what its
// own linker says of each, and with its cache.
func TestLinkerOfDebian(t *testing.T) {
	t.Parallel()
	root := debRoot(t, slices.Concat(libcPackages, cudaPackages)...)
	if out := inRoot(t, root, nil, "/usr/sbin/ldconfig"); out != "" {
		t.Logf("ldconfig: %s", out)
	}
	_, _, found := lint(t, "--input", "rootfs:"+root)
	cache := map[string]string{}
	for _, m := range cachedLibrary.FindAllStringSubmatch(inRoot(t, root, nil, "/usr/sbin/ldconfig", "-p"), -1) {
		if _, ok := cache[m[1]]; !ok {
			cache[m[1]] = inside(t, root, m[2])
		}
	}
	var kept []string
	for _, e := range found.LinkerCache {
		if e.Stale || inside(t, root, e.Path) != cache[e.Name] {
			t.Errorf("%+v, ldconfig -p has %s", e, cache[e.Name])
		}
		kept = append(kept, e.Name)
	}
	if !slices.Contains(kept, "libcudart.so.12") || !slices.Contains(kept, "libnppif.so.12") || slices.Contains(kept, "libc.so.6") {
		t.Errorf("of the cache: %v", kept)
	}
	links := 0
	for _, b := range found.Binaries {
		if b.Kind != facts.BinaryLibrary || len(b.Needed) == 0 {
			continue
		}
		links += compareLinks(t, root, nil, b)
		for _, l := range b.Links {
			if l.Via == facts.ViaConf || l.Via == facts.ViaDefault {
				if cache[l.Name] != l.Path {
					t.Errorf("%s needs %s: %s, the cache has %s", b.Path, l.Name, l.Path, cache[l.Name])
				}
			}
		}
	}
	if links < 1 || len(cache) < 20 { // most of them need nothing but the C library
		t.Errorf("only %d links were compared, with a cache of %d", links, len(cache))
	}
}

// compareLinks compares what a binary gets with what the linker lists, and says
// how many names were compared.
func compareLinks(t *testing.T, root string, env []string, b facts.Binary) int {
	t.Helper()
	out := inRoot(t, root, append([]string{"LD_TRACE_LOADED_OBJECTS=1"}, env...), "/usr/lib64/ld-linux-x86-64.so.2", b.Path) // as ldd does
	want := map[string]string{}
	for _, m := range listedMissing.FindAllStringSubmatch(out, -1) {
		want[m[1]] = ""
	}
	for _, m := range listedLibrary.FindAllStringSubmatch(out, -1) {
		want[m[1]] = inside(t, root, m[2])
	}
	n := 0
	for _, l := range b.Links {
		if w, ok := want[l.Name]; !ok || w != l.Path {
			t.Errorf("%s (RPATH %q RUNPATH %q) needs %s: %q by %s, the linker takes %q\n%s", b.Path, b.RPATH, b.RUNPATH, l.Name, l.Path, l.Via, w, out)
		}
		n++
	}
	return n
}

// TestLinkerOfRandom builds libraries that lie in some of the places where the
// linker looks, and such as need them by all kinds of search paths, and
// compares what they get with what Debian's linker says.
func TestLinkerOfRandom(t *testing.T) {
	t.Parallel()
	root := debRoot(t, libcPackages...)
	r := rand.New(rand.NewPCG(5, 8))
	gcc := func(out string, args ...string) {
		t.Helper()
		p := filepath.Join(root, out)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"-shared", "-nostdlib", "-fPIC", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-o", p, "-x", "c", "/dev/null", "-x", "none"}, args...)
		if o, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %s: %v: make test installs it\n%s", strings.Join(args, " "), err, o)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "etc/ld.so.conf.d/own.conf"), []byte("/opt/conf1\n/opt/conf2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dirs := []string{"opt/env", "opt/conf1", "opt/conf2", "usr/lib", "usr/lib/x86_64-linux-gnu", "opt/r1", "opt/r2", "opt/app/lib"}
	names := []string{"libnppa", "libnppb", "libnppc", "libnppd", "libnppe"} // names as of CUDA, whose links are facts
	stubs := t.TempDir()
	var link []string
	for _, n := range names {
		soname := n + ".so.1"
		gcc(strings.TrimPrefix(mustRel(t, root, filepath.Join(stubs, soname)), "/"), "-Wl,-soname,"+soname)
		link = append(link, filepath.Join(stubs, soname))
		for _, d := range dirs {
			switch r.IntN(10) {
			case 0: // the file itself has the name
				gcc(d+"/"+soname, "-Wl,-soname,"+soname)
			case 1: // as packages have it
				gcc(d+"/"+n+".so.1.2.3", "-Wl,-soname,"+soname)
				if err := os.Symlink(n+".so.1.2.3", filepath.Join(root, d, soname)); err != nil {
					t.Fatal(err)
				}
			case 2: // ldconfig makes the link; of two it takes the newer
				gcc(d+"/"+n+".so.1.9.0", "-Wl,-soname,"+soname)
				gcc(d+"/"+n+".so.1.10.0", "-Wl,-soname,"+soname)
			}
		}
	}
	paths := []string{"", "/opt/r1", "$ORIGIN/lib", "/opt/r2:/opt/r1", "${ORIGIN}/../r2", "/no/such:$ORIGIN/../conf2", "/opt/$PLATFORM"}
	for i := range 40 {
		var args []string
		for _, l := range link {
			if r.IntN(2) == 0 {
				args = append(args, l)
			}
		}
		if p := paths[r.IntN(len(paths))]; p != "" {
			tags := []string{"-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"}[r.IntN(2)]
			args = append(args, tags, "-Wl,-rpath,"+p)
		}
		gcc(fmt.Sprintf("opt/app/user%d.so", i), args...)
	}
	data := tarOfDir(t, root) // as in the image: before ldconfig runs
	env := []string{"LD_LIBRARY_PATH=/opt/env:/nowhere"}
	img := testimage.Image{Ref: "app:1", Env: env, Layers: []testimage.Layer{{CreatedBy: "COPY", Raw: data}}}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(file, img.Build().OCIArchive(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, found := lint(t, "--input", file)
	inRoot(t, root, nil, "/usr/sbin/ldconfig")
	links, missing := 0, 0
	for _, b := range found.Binaries {
		if !strings.HasPrefix(b.Path, "/opt/app/user") {
			continue
		}
		links += compareLinks(t, root, env, b)
		for _, l := range b.Links {
			if l.Path == "" {
				missing++
			}
		}
	}
	if links < 60 || missing < 5 {
		t.Errorf("only %d links were compared, %d of them to nothing", links, missing)
	}
}

func mustRel(t *testing.T, root, p string) string {
	t.Helper()
	rel, err := filepath.Rel(root, p)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

// tarOfDir is a tar of a directory.
func tarOfDir(t *testing.T, root string) []byte {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		to := ""
		if st.Mode()&fs.ModeSymlink != 0 {
			if to, err = os.Readlink(p); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(st, to)
		if err != nil {
			return err
		}
		h.Name = mustRel(t, root, p)
		if err := tw.WriteHeader(h); err != nil || !st.Mode().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		if err == nil {
			_, err = tw.Write(data)
		}
		return err
	})
	if err = errors.Join(err, tw.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
