//go:build integration

package integration

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// keyring is what Debian's suites are signed with.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// suites are those of Debian that the packages come from.
var suites = []string{"bullseye", "bookworm", "trixie"}

// A debRef names a package of Debian. What the tests assert is true of this
// version, so that a newer one is an error and not a surprise.
type debRef struct{ name, suite, version string }

// The packages of the tests.
var (
	libcuda470    = debRef{"libcuda1", "bullseye", "470.256.02-2"}
	libcuda535    = debRef{"libcuda1", "bookworm", "535.261.03-1"}
	libcuda550    = debRef{"libcuda1", "trixie", "550.163.01-2"}
	libnvidiaML   = debRef{"libnvidia-ml1", "bookworm", "535.261.03-1"}
	nvidiaSMI     = debRef{"nvidia-smi", "bookworm", "535.261.03-1"}
	libcudart112  = debRef{"libcudart11.0", "bullseye", "11.2.152~11.2.2-3+deb11u3"}
	libcudart118  = debRef{"libcudart11.0", "bookworm", "11.8.89~11.8.0-5~deb12u1"}
	libcudart124  = debRef{"libcudart12", "trixie", "12.4.127~12.4.1-2"}
	allPackages   = []debRef{libcuda470, libcuda535, libcuda550, libnvidiaML, nvidiaSMI, libcudart112, libcudart118, libcudart124}
	fetchPackages = sync.OnceValues(fetchAll)
)

func (d debRef) file() string { return d.name + "_" + d.version + "_amd64.deb" }

// A deb is a package on disk.
type deb struct {
	debRef
	path    string
	control string // as in the package
	files   []tarFile
}

// tarFile is one entry of a layer.
type tarFile struct {
	tar.Header
	data []byte
}

// need returns packages of Debian, which are fetched once for all tests and
// kept in the cache directory.
func need(t *testing.T, refs ...debRef) []*deb {
	t.Helper()
	all, err := fetchPackages()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*deb, 0, len(refs))
	for _, r := range refs {
		out = append(out, all[r])
	}
	return out
}

// cacheDir is where downloads are kept.
func cacheDir() (string, error) {
	dir := os.Getenv("GPULINT_TEST_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "gpulint-test")
	}
	dir = filepath.Join(dir, "debian")
	return dir, os.MkdirAll(dir, 0o755)
}

// locked runs f while no other process uses the cache directory.
func locked(f func(dir string) error) error {
	dir, err := cacheDir()
	if err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return errors.Join(err, lock.Close())
	}
	return errors.Join(f(dir), lock.Close())
}

func fetchAll() (map[debRef]*deb, error) {
	all := map[debRef]*deb{}
	err := locked(func(dir string) error {
		a := &apt{dir: dir}
		for _, r := range allPackages {
			path := filepath.Join(dir, r.file())
			if _, err := os.Stat(path); err != nil {
				if err := a.download(r.name+":amd64", r.suite, path, r.version); err != nil {
					return err
				}
			}
			d, err := readDeb(r, path)
			if err != nil {
				return fmt.Errorf("%w\n  delete %s and run this again", err, path)
			}
			all[r] = d
		}
		return nil
	})
	return all, err
}

// apt fetches packages of suites other than the machine's own, without a
// change to the machine and without root.
type apt struct {
	dir     string
	updated bool
}

// run runs apt-get with its lists, cache and sources below the directory. All
// else, such as a proxy, is as the machine has it.
func (a *apt) run(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{
		"-q",
		"-oDir::State::Lists=" + filepath.Join(a.dir, "lists"),
		"-oDir::Cache=" + filepath.Join(a.dir, "apt"),
		"-oDir::Etc::sourcelist=" + filepath.Join(a.dir, "sources.list"),
		"-oDir::Etc::sourceparts=/dev/null",
		"-oDir::Etc::preferences=/dev/null",
		"-oDir::Etc::preferencesparts=/dev/null",
		"-oAPT::Sandbox::User=root",
		"-oAPT::Update::Error-Mode=any",
		"-oAPT::Architectures::=amd64",
		"-oAcquire::Languages=none",
		"-oAcquire::Retries=3",
		"-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"-oAcquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
	}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s\n"+
			"  These tests need packages of Debian %s: see that apt-get reaches the mirror (name another in %s) "+
			"and that %s is current (package debian-archive-keyring)",
			strings.Join(args, " "), err, out, strings.Join(suites, ", "), mirrorVariable, keyring)
	}
	return nil
}

// update fetches the lists of all suites.
func (a *apt) update() error {
	if a.updated {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("%w: these tests fetch packages of Debian and need apt", err)
	}
	if _, err := os.Stat(keyring); err != nil {
		return fmt.Errorf("%w: install debian-archive-keyring", err)
	}
	uri, err := mirror()
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, s := range suites {
		fmt.Fprintf(&list, "deb [arch=amd64 signed-by=%s] %s %s main contrib non-free\n", keyring, uri, s)
	}
	for _, d := range []string{"lists/partial", "apt/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(a.dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(a.dir, "sources.list"), []byte(list.String()), 0o644); err != nil {
		return err
	}
	if err := a.run(a.dir, "update"); err != nil {
		return err
	}
	a.updated = true
	return nil
}

// download fetches a package of a suite to a path. An empty version is any.
func (a *apt) download(pkg, suite, to, version string) error {
	if err := a.update(); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(a.dir, "download-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := a.run(tmp, "download", pkg+"/"+suite); err != nil {
		return err
	}
	got, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil || len(got) != 1 {
		return fmt.Errorf("apt-get download %s/%s: found %v (%w)", pkg, suite, got, err)
	}
	have, err := dpkgDeb("--field", got[0], "Version")
	if err != nil {
		return err
	}
	if v := strings.TrimSpace(string(have)); version != "" && v != version {
		return fmt.Errorf("package %s of Debian %s is now %s, the tests were written for %s: "+
			"see what changed and correct the list in integration/debian_test.go", pkg, suite, v, version)
	}
	return os.Rename(got[0], to)
}

func dpkgDeb(args ...string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), "dpkg-deb", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("dpkg-deb %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// readDeb reads the fields and files of a package.
func readDeb(r debRef, path string) (*deb, error) {
	control, err := dpkgDeb("--field", path)
	if err != nil {
		return nil, err
	}
	content, err := dpkgDeb("--fsys-tarfile", path)
	if err != nil {
		return nil, err
	}
	d := &deb{debRef: r, path: path, control: string(control)}
	for tr := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		d.files = append(d.files, tarFile{*h, data})
	}
}

// fields splits the package's control file; continuation lines stay as they are.
func (d *deb) fields() map[string]string {
	m := map[string]string{}
	field := ""
	for line := range strings.Lines(d.control) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, " ") {
			m[field] += "\n" + line
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		field = name
		m[field] = strings.TrimPrefix(value, " ")
	}
	return m
}

// statusOrder is the order in which dpkg writes the fields of a record.
var statusOrder = []string{
	"Package", "Essential", "Status", "Priority", "Section", "Installed-Size", "Maintainer", "Architecture",
	"Multi-Arch", "Source", "Version", "Replaces", "Provides", "Depends", "Pre-Depends", "Recommends", "Suggests",
	"Breaks", "Conflicts", "Description", "Homepage",
}

// record is the package's record in /var/lib/dpkg/status.
func (d *deb) record() string {
	f := d.fields()
	f["Status"] = "install ok installed"
	var b strings.Builder
	for _, name := range statusOrder {
		if v, ok := f[name]; ok {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	return b.String() + "\n"
}

// list is the name and content of the package's list of files.
func (d *deb) list() (name, text string) {
	name = d.name
	if d.fields()["Multi-Arch"] == "same" {
		name += ":amd64"
	}
	var b strings.Builder
	b.WriteString("/.\n")
	for _, f := range d.files {
		if p := "/" + strings.Trim(strings.TrimPrefix(f.Name, "."), "/"); p != "/" {
			b.WriteString(p + "\n")
		}
	}
	return "var/lib/dpkg/info/" + name + ".list", b.String()
}

func TestRecord(t *testing.T) {
	t.Parallel()
	d := need(t, libcuda535)[0]
	for _, want := range []string{
		"Package: libcuda1\nStatus: install ok installed\n", "\nMulti-Arch: same\nSource: nvidia-graphics-drivers\nVersion: 535.261.03-1\n",
		"\nDescription: NVIDIA CUDA Driver Library\n The Compute ",
	} {
		if !strings.Contains(d.record(), want) {
			t.Errorf("record without %q:\n%s", want, d.record())
		}
	}
	name, text := d.list()
	if name != "var/lib/dpkg/info/libcuda1:amd64.list" || !strings.HasPrefix(text, "/.\n/usr\n/usr/lib\n") ||
		!strings.Contains(text, "\n/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.535.261.03\n") {
		t.Errorf("list %s:\n%s", name, text)
	}
}
