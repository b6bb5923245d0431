package derive

import (
	"cmp"
	"slices"

	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/facts"
)

// modes are those a target is judged in: its own, or legacy and cdi, in which
// driver files get in differently.
func modes(t facts.Target) []string {
	if t.Runtime != "" {
		return []string{t.Runtime}
	}
	return []string{facts.ModeLegacy, facts.ModeCDI}
}

// verdicts judges every runtime on every target, and makes one candidate of
// the targets on which a runtime fares alike.
func (d *deriver) verdicts() ([]facts.Verdict, []facts.VerdictCandidate) {
	out := []facts.Verdict{}
	cs := &candidates{at: map[candidateKey]int{}, seen: map[string]bool{}}
	for _, t := range d.targets {
		for _, mode := range modes(t) {
			t := t
			t.Runtime = mode
			v := facts.Verdict{
				Subject: d.id, Target: t.Name, RuntimeMode: mode, DeviceCode: "unknown", Reasons: []facts.Reason{},
			}
			var driver []facts.Reason
			v.UserModeDriver, driver = d.userMode(t)
			for _, r := range d.runtimes {
				rv := d.matrix.JudgeRuntime(r.cuda, t, compat.JudgeOptions{Compat: d.compat})
				rv.Paths = r.paths
				v.Runtimes = append(v.Runtimes, rv)
				cs.add(d, r, rv, t)
			}
			d.conclude(&v, driver)
			out = append(out, v)
		}
	}
	return out, cs.list
}

// conclude gives a verdict the worst of its runtimes, or the failure of a
// driver of the image's own that wins over the host's. driver are the reasons
// for the user-mode driver.
func (d *deriver) conclude(v *facts.Verdict, driver []facts.Reason) {
	if v.UserModeDriver.Kind == facts.DriverBundled {
		v.Level, v.Code, v.Text, v.Reasons = facts.LevelIncompatible, codeMismatch, d.matrix.ErrorText(codeMismatch), driver
		return
	}
	if len(v.Runtimes) == 0 {
		v.Level = facts.LevelUnknown
		v.Reasons = slices.Concat(v.Reasons, driver, []facts.Reason{{
			Text: "no shared CUDA runtime (libcudart) was found; statically linked ones are not read yet",
		}})
		return
	}
	worst := v.Runtimes[0]
	for _, r := range v.Runtimes[1:] {
		if compat.Worst(worst.Level, r.Level) != worst.Level {
			worst = r
		}
	}
	v.Level, v.Code, v.Text, v.Reasons = worst.Level, worst.Code, worst.Text, slices.Concat(driver, worst.Reasons)
}

// maxRuntimes is how many CUDA versions of one image are judged.
const maxRuntimes = 200

// runtime is one CUDA version with the files that carry it.
type runtime struct {
	cuda    string
	linkage string
	paths   []string
	files   []facts.Runtime
}

// groupRuntimes groups the visible runtimes by version.
func (d *deriver) groupRuntimes() []runtime {
	var out []runtime
	at := map[[2]string]int{}
	for _, f := range d.img.Runtimes {
		if f.Shadowed != nil {
			continue
		}
		i, ok := at[[2]string{f.CUDA, f.Linkage}]
		if !ok && len(out) == maxRuntimes {
			d.dropped++
			continue
		}
		if !ok {
			i = len(out)
			at[[2]string{f.CUDA, f.Linkage}] = i
			out = append(out, runtime{cuda: f.CUDA, linkage: f.Linkage})
		}
		out[i].files = append(out[i].files, f)
		if len(out[i].paths) < maxEvidence {
			out[i].paths = append(out[i].paths, f.Path)
		}
	}
	slices.SortStableFunc(out, func(a, b runtime) int {
		return cmp.Or(slices.Compare(version(a.cuda).Parts, version(b.cuda).Parts), cmp.Compare(a.linkage, b.linkage))
	})
	return out
}

// compatDriver is the driver version of the image's cuda-compat, empty if it
// has none. Of several the newest counts.
func (d *deriver) compatDriver() string {
	v := ""
	for _, f := range d.img.DriverFiles {
		if f.Place == facts.PlaceCompat && f.Name == "libcuda.so" && f.Class == facts.ClassLibrary &&
			f.Shadowed == nil && f.Driver != "" && (v == "" || compat.NewerDriver(f.Driver, v)) {
			v = f.Driver
		}
	}
	return v
}

// needs is what the image needs of any target.
func (d *deriver) needs() *facts.Needs {
	n := &facts.Needs{CUDA: []facts.CUDANeed{}}
	native, minor := true, true
	for _, r := range d.runtimes {
		c := facts.CUDANeed{Version: r.cuda, Linkage: r.linkage, Consumers: r.paths}
		c.Native, c.Minor = d.matrix.Need(r.cuda)
		native, minor = native && c.Native != "", minor && c.Minor != ""
		n.CUDA = append(n.CUDA, c)
		if c.Native != "" && (n.Driver.Native == "" || compat.NewerDriver(c.Native, n.Driver.Native)) {
			n.Driver.Native = c.Native
		}
		if c.Minor != "" && (n.Driver.Minor == "" || compat.NewerDriver(c.Minor, n.Driver.Minor)) {
			n.Driver.Minor = c.Minor
		}
	}
	// A floor that leaves a runtime out would be a promise that fails.
	if !native {
		n.Driver.Native = ""
	}
	if !minor {
		n.Driver = facts.DriverNeed{}
	}
	return n
}
