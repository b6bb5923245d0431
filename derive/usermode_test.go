package derive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
)

// TestUserModeDriver holds which libcuda wins, and that a winner which the
// kernel module refuses makes a verdict incompatible.
func TestUserModeDriver(t *testing.T) {
	t.Parallel()
	const own = "535.161.08"
	bundled := func(path, driver string) func(*facts.Image) {
		return func(i *facts.Image) {
			f := file(path, facts.ClassLibrary, "")
			f.Driver = driver
			i.DriverFiles = append(i.DriverFiles, f)
		}
	}
	compatLib := func(i *facts.Image) {
		f := file("/usr/local/cuda/compat/libcuda.so.550.54.15", facts.ClassLibrary, "")
		f.Place, f.Driver = facts.PlaceCompat, "550.54.15"
		i.DriverFiles = append(i.DriverFiles, f)
	}
	dir := func(d string) func(*facts.Image) {
		return func(i *facts.Image) {
			i.LinkerDirs = append(i.LinkerDirs, facts.LinkerDir{Dir: d, Resolved: d, From: "ld.so.conf"})
		}
	}
	for name, tt := range map[string]struct {
		change []func(*facts.Image)
		driver string
		mode   string
		want   string // kind, its driver, the verdict's level and code
	}{
		"nothing of the image's":               {nil, "470.256.02", facts.ModeCDI, "host 470.256.02 incompatible 35"},
		"the image's is newer":                 {[]func(*facts.Image){bundled(lib+"libcuda.so.1", own)}, "470.256.02", facts.ModeCDI, "bundled 535.161.08 incompatible 803"},
		"newer, though the runtime would do":   {[]func(*facts.Image){bundled(lib+"libcuda.so.1", own)}, "535.54.03", facts.ModeLegacy, "bundled 535.161.08 incompatible 803"},
		"the image's is older":                 {[]func(*facts.Image){bundled(lib+"libcuda.so.1", own)}, "550.54.14", facts.ModeCDI, "host 550.54.14 native 0"},
		"equal":                                {[]func(*facts.Image){bundled(lib+"libcuda.so.1", own)}, own, facts.ModeCDI, "host 535.161.08 native 0"},
		"of several the newest":                {[]func(*facts.Image){bundled(lib+"libcuda.so.1", own), bundled(lib+"libcuda.so.555.42.02", "555.42.02")}, "550.54.14", facts.ModeCDI, "bundled 555.42.02 incompatible 803"},
		"off the linker's path":                {[]func(*facts.Image){bundled("/opt/x/libcuda.so.1", "999.10")}, "550.54.14", facts.ModeCDI, "host 550.54.14 native 0"},
		"in a directory of the image's":        {[]func(*facts.Image){dir("/opt/x"), bundled("/opt/x/libcuda.so.1", own)}, "550.54.14", facts.ModeCDI, "unknown 535.161.08 native 0"},
		"of unknown version":                   {[]func(*facts.Image){bundled(lib+"libcuda.so.1", "")}, "550.54.14", facts.ModeCDI, "unknown  native 0"},
		"a branch":                             {[]func(*facts.Image){bundled(lib+"libcuda.so.1", own)}, "535", facts.ModeCDI, "unknown 535.161.08 native 0"},
		"WSL has no ldconfig":                  {[]func(*facts.Image){bundled(lib+"libcuda.so.1", own)}, "550.54.14", facts.ModeWSL, "unknown 535.161.08 native 0"},
		"cuda-compat newer than the host":      {[]func(*facts.Image){compatLib}, "535.161.08", facts.ModeCDI, "unknown 550.54.15 native 0"},
		"cuda-compat not newer":                {[]func(*facts.Image){compatLib}, "550.54.15", facts.ModeCDI, "host 550.54.15 native 0"},
		"cuda-compat forced by the image":      {[]func(*facts.Image){compatLib, dir("/usr/local/cuda/compat")}, "570.26", facts.ModeCDI, "unknown 550.54.15 native 0"},
		"cuda-compat by the toolkit's own way": {[]func(*facts.Image){compatLib, dir("/usr/local/nvidia/lib64")}, "570.26", facts.ModeCDI, "host 570.26 native 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			img := image(func(i *facts.Image) {
				i.Runtimes = []facts.Runtime{cudart("/a", "12.2", "")}
				for _, c := range tt.change {
					c(i)
				}
			})
			v := run(img, facts.Target{Name: "t", Driver: tt.driver, Runtime: tt.mode}).Verdicts[0]
			got := fmt.Sprintf("%s %s %s %d", v.UserModeDriver.Kind, v.UserModeDriver.Driver, v.Level, v.Code)
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if v.UserModeDriver.Kind == facts.DriverUnknown && !strings.Contains(v.Reasons[0].Text, "depends on") {
				t.Errorf("unknown without a reason: %v", v.Reasons)
			}
			if v.Code == codeMismatch && !strings.Contains(v.Text, "cudaErrorSystemDriverMismatch") {
				t.Errorf("text %q", v.Text)
			}
		})
	}
}
