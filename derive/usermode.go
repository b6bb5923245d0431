package derive

import (
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/facts"
)

// codeMismatch is CUDA's error where the user-mode driver is of another version
// than the kernel's.
const codeMismatch = 803

// hostDirs are where the container toolkit mounts the host's libraries, on the
// distributions' own paths: there ldconfig has the newest of a SONAME win. The
// order of other directories is the image's own matter.
var hostDirs = []string{
	"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib/aarch64-linux-gnu",
	"/usr/lib64", "/lib64",
}

// libcuda is a libcuda of the image that the dynamic linker finds.
type libcuda struct{ path, driver string }

// bundledLibcuda are the image's own copies on the linker's path.
func (d *deriver) bundledLibcuda() []libcuda {
	var out []libcuda
	for _, f := range d.img.DriverFiles {
		if f.Name == "libcuda.so" && f.Class == facts.ClassLibrary && f.Place == "" && d.reached[f.Path] {
			out = append(out, libcuda{f.Path, f.Driver})
		}
	}
	return out
}

// userMode says whose libcuda programs get, and why, where the image has one of
// its own.
func (d *deriver) userMode(t facts.Target) (facts.UserModeDriver, []facts.Reason) {
	host := facts.UserModeDriver{Kind: facts.DriverHost, Driver: t.Driver}
	if len(d.bundled) > 0 {
		return d.againstBundled(t, host)
	}
	if d.compat == "" {
		return host, nil
	}
	if _, forced := d.compatForced(); !forced && t.Driver != "" && !compat.NewerDriver(d.compat, t.Driver) {
		return host, []facts.Reason{{Text: "the image's cuda-compat " + d.compat + " is not newer than the host's driver and is not selected"}}
	}
	return facts.UserModeDriver{Kind: facts.DriverUnknown, Driver: d.compat}, []facts.Reason{{
		Text: "whether the image's cuda-compat " + d.compat + " is selected over the host's libcuda depends on the container toolkit; that is not judged yet",
	}}
}

// againstBundled compares the image's copies with the host's. The newest copy
// decides where all stand in the host's own directories.
func (d *deriver) againstBundled(t facts.Target, host facts.UserModeDriver) (facts.UserModeDriver, []facts.Reason) {
	best := d.bundled[0]
	unknown := func(why string) (facts.UserModeDriver, []facts.Reason) {
		return facts.UserModeDriver{Kind: facts.DriverUnknown, Driver: best.driver}, []facts.Reason{{
			Text: "whether programs get the host's libcuda or the image's " + best.path + " " + why,
		}}
	}
	for _, l := range d.bundled {
		if compat.NewerDriver(l.driver, best.driver) {
			best = l
		}
	}
	for _, l := range d.bundled {
		if l.driver == "" {
			best = l
			return unknown("depends on its driver version, which is not known")
		}
	}
	switch {
	case slices.Contains([]string{facts.ModeWSL, facts.ModeGKE, facts.ModeCSV}, t.Runtime):
		return unknown("depends on the order of the search path in runtime mode " + t.Runtime)
	case t.Driver == "" || !strings.Contains(t.Driver, "."):
		return unknown("depends on the host's driver version, of which only a part is known")
	case t.Driver == best.driver:
		return host, nil
	}
	for _, l := range d.bundled {
		if !slices.Contains(hostDirs, path.Dir(l.path)) {
			best = l
			return unknown("depends on the order of the linker's directories")
		}
	}
	if compat.NewerDriver(best.driver, t.Driver) {
		return facts.UserModeDriver{Kind: facts.DriverBundled, Driver: best.driver}, []facts.Reason{{
			Text: "ldconfig has the newest libcuda.so.1 win: the image's " + best.driver + " over the host's " + t.Driver + ", whose kernel module refuses it",
		}}
	}
	return host, []facts.Reason{{
		Text: "ldconfig has the newest libcuda.so.1 win: the host's " + t.Driver + " over the image's " + best.driver,
	}}
}

// compatForced says whether the image's own search path leads to cuda-compat.
func (d *deriver) compatForced() (dir string, forced bool) {
	for _, l := range d.img.LinkerDirs {
		if slices.Contains(strings.Split(l.Dir+"/"+l.Resolved, "/"), "compat") {
			return l.Dir, true
		}
	}
	return "", false
}
