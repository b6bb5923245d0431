package packages

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadDpkg(t *testing.T) {
	t.Parallel()
	const status = `Package: libcuda1
Status: install ok installed
Architecture: amd64
Source: nvidia-graphics-drivers (535.1)
Version: 535.261.03-1
Pre-Depends: a
Depends: nvidia-support, nvidia-alternative (= 535.261.03-1),
 libc6:any (>= 2.34) | libc6-udeb
Description: NVIDIA CUDA Driver Library
 Package: not-a-package
 text

Package: nvidia-driver-535
Status: deinstall ok config-files
Version: 1

Version: 3 without a name

Package: equivs
Version: 1
Description: x
 This is a dummy package.
Garbage line
`
	var got []Record
	if err := ReadDpkg(strings.NewReader(status), func(r Record) { got = append(got, r) }); err != nil {
		t.Fatal(err)
	}
	want := []Record{
		{
			Manager: "dpkg", Name: "libcuda1", Version: "535.261.03-1", Arch: "amd64",
			Source: "nvidia-graphics-drivers", State: "installed",
			Depends: []string{"a", "nvidia-support", "nvidia-alternative", "libc6", "libc6-udeb"},
		},
		{Manager: "dpkg", Name: "nvidia-driver-535", Version: "1", State: "config-files"},
		{Manager: "dpkg", Name: "equivs", Version: "1", State: "installed", Dummy: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReadDpkgLimits(t *testing.T) {
	t.Parallel()
	err := ReadDpkg(strings.NewReader("Package: a\n\nPackage: b\nX: "+strings.Repeat("x", maxLine)), func(Record) {})
	if !errors.Is(err, ErrLimit) {
		t.Errorf("a huge line: %v", err)
	}
	n := 0
	err = ReadDpkg(strings.NewReader(strings.Repeat("Package: a\n\n", maxRecords+5)), func(Record) { n++ })
	if !errors.Is(err, ErrLimit) || n != maxRecords {
		t.Errorf("too many records: %v, %d kept", err, n)
	}
}

func TestReadDpkgList(t *testing.T) {
	t.Parallel()
	var got []string
	in := "/.\n/lib/x86_64-linux-gnu/libcuda.so.1\n\nd41d8cd98f00b204e9800998ecf8427e  usr/lib/libnvidia-ml.so.1\nnonsense\n"
	if err := ReadDpkgList(strings.NewReader(in), func(p string) { got = append(got, p) }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"/", "/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/libnvidia-ml.so.1"}, got); d != "" {
		t.Error(d)
	}
}

func TestDpkgListOwner(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"/var/lib/dpkg/info/libcuda1:amd64.list":   "libcuda1",
		"/var/lib/dpkg/info/nvidia-smi.list":       "nvidia-smi",
		"/var/lib/dpkg/status.d/libssl3.md5sums":   "libssl3",
		"/var/lib/dpkg/info/libcuda1.md5sums":      "",
		"/var/lib/dpkg/info/.list":                 "",
		"/opt/var/lib/dpkg/info/nvidia-smi.list":   "",
		"/var/lib/dpkg/info/libcuda1.postinst":     "",
		"/var/lib/dpkg/info/sub/libcuda1:a64.list": "",
	} {
		if got, ok := DpkgListOwner(p); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v", p, got, ok)
		}
	}
}

func FuzzReadDpkg(f *testing.F) {
	f.Add("Package: a\nDepends: b (>= 1) | c\n\nPackage: d\n")
	f.Fuzz(func(_ *testing.T, s string) {
		_ = ReadDpkg(strings.NewReader(s), func(Record) {})
		_ = ReadDpkgList(strings.NewReader(s), func(string) {})
	})
}

// TestLongWords holds that names and versions stay short.
func TestLongWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	text := "Package: " + long + "\nVersion: " + long + "\nStatus: " + long + "\nDepends: " + long + "\n"
	err := ReadDpkg(strings.NewReader(text), func(r Record) {
		if n := len(r.Name) + len(r.Version) + len(r.State) + len(r.Depends[0]); n != 4*maxWord {
			t.Errorf("%d bytes", n)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
