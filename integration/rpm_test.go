//go:build integration

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/internal/testimage"
)

// rpmTool runs a program of rpm.
func rpmTool(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // not the user's macros
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: make test installs it\n%s", name, strings.Join(args, " "), err, out)
	}
}

const driverSpec = `Name: nvidia-driver-cuda-libs
Version: 535.161.08
Release: 1
Summary: Libraries of the driver
License: none
%description
Libraries of the driver.
%install
mkdir -p %{buildroot}/usr/lib64
echo > %{buildroot}/usr/lib64/libcuda.so.535.161.08
%files
/usr/lib64/libcuda.so.535.161.08
`

const metaSpec = `Name: acme-trainer
Version: 1.4
Release: 2
Summary: A program that wants the driver
License: none
BuildArch: noarch
Requires: nvidia-driver-cuda-libs
%description
A program.
%files
`

// TestRpm reads a database that rpm itself has written. Debian's rpm writes
// SQLite; the older formats are tested by the library that reads them.
func TestRpm(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for name, text := range map[string]string{"driver.spec": driverSpec, "meta.spec": metaSpec} {
		spec := filepath.Join(top, name)
		if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		rpmTool(t, "rpmbuild", "-bb", "--define", "_topdir "+top, "--define", "debug_package %{nil}", "--define", "__os_install_post %{nil}", spec)
	}
	rpms, err := filepath.Glob(filepath.Join(top, "RPMS/*/*.rpm"))
	if err != nil || len(rpms) != 2 {
		t.Fatalf("%v, %v", rpms, err)
	}
	db := t.TempDir()
	args := []string{"--define", "_db_backend sqlite", "--dbpath", db}
	rpmTool(t, "rpm", append(args, "--initdb")...)
	rpmTool(t, "rpm", append(append(args, "-i", "--justdb", "--nodeps", "--nosignature", "--noscripts"), rpms...)...)
	data, err := os.ReadFile(filepath.Join(db, "rpmdb.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"var/lib/rpm/", "usr/lib/sysimage/rpm/"} {
		img := testimage.Image{Ref: "rpm:1", Compression: testimage.Gzip, Layers: []testimage.Layer{{CreatedBy: "RUN dnf install", Files: []testimage.File{
			testimage.Reg("usr/lib64/libcuda.so.535.161.08", testimage.DriverLibrary("libcuda.so.1", "535.161.08")), testimage.Reg(dir+"rpmdb.sqlite", data),
		}}}}
		input := filepath.Join(t.TempDir(), "image.tar")
		if err := os.WriteFile(input, img.Build().OCIArchive(), 0o600); err != nil {
			t.Fatal(err)
		}
		tmp := t.TempDir()
		status, report, found := lint(t, "--tmp-dir", tmp, "--input", input)
		want := []string{"GPU101 error", "  /usr/lib64/libcuda.so.535.161.08 @0 nvidia-driver-cuda-libs 535.161.08-1"}
		if diff := cmp.Diff(want, findingLines(report.Findings)); diff != "" || status != 1 {
			t.Fatalf("%s: status %d (-want +got):\n%s\n%+v", dir, status, diff, found.Packages)
		}
		if f := report.Findings[0]; !strings.Contains(f.Message, "pulled in by acme-trainer") || !strings.Contains(f.Fix, "dnf install") {
			t.Errorf("%s: %s %s", dir, f.Message, f.Fix)
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}
