package compat

import (
	"fmt"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// insufficientDriver is what CUDA answers below the floor, in every case.
const insufficientDriver = 35

// JudgeOptions are facts of the image that change a verdict.
type JudgeOptions struct {
	// Compat is the driver version of the image's cuda-compat, empty if it has
	// none.
	Compat string
}

// JudgeRuntime judges a CUDA runtime on a target: native, minor, incompatible
// or unknown. The driver's own CUDA version, where the target gives it, wins
// over the table. A verdict of incompatible never rests on a row of low
// confidence: it is unknown then, and says so.
func (m *Matrix) JudgeRuntime(cuda string, t facts.Target, o JudgeOptions) facts.RuntimeVerdict {
	j := &judgement{m: m, t: t, out: facts.RuntimeVerdict{CUDA: cuda, Level: facts.LevelUnknown, Reasons: []Reason{}}}
	c, err := ParseCUDA(cuda)
	if err != nil {
		j.because(Reason{Text: "the runtime's CUDA version is not known"})
		return j.out
	}
	if !j.read() {
		return j.out
	}
	j.level(c)
	if j.out.Level == facts.LevelIncompatible {
		j.soften(c, o)
	}
	if j.out.Level == facts.LevelIncompatible {
		j.out.Code, j.out.Text = insufficientDriver, m.ErrorText(insufficientDriver)
	}
	return j.out
}

// judgement is the state of one call.
type judgement struct {
	m   *Matrix
	t   facts.Target
	out facts.RuntimeVerdict
	// driver is set where the target gives one, cuda where it or a table does.
	driver  *Driver
	cuda    *driverCUDA
	windows bool
}

func (j *judgement) because(r Reason) { j.out.Reasons = append(j.out.Reasons, r) }

func (j *judgement) conclude(level string, r Reason) {
	j.out.Level = level
	j.because(r)
}

// read takes the driver and its CUDA version from the target. It is false
// where there is nothing to judge by.
func (j *judgement) read() bool {
	j.windows = j.t.Runtime == facts.ModeWSL
	if d, err := ParseDriver(j.t.Driver); err == nil {
		j.driver = &d
		if c, ok := j.m.ofBranch(d.Branch(), j.windows); ok {
			j.cuda = &c
		}
	}
	if c, err := ParseCUDA(j.t.CUDA); err == nil && c.HasMinor {
		j.cuda = &driverCUDA{cuda: c, most: c, reason: Reason{Text: "the target's driver has CUDA " + c.String() + ", as it says itself"}}
	}
	if j.driver == nil && j.cuda == nil {
		j.because(Reason{Text: "the target's driver is not known"})
		return false
	}
	return true
}

// level compares the runtime with the driver.
func (j *judgement) level(c CUDA) {
	if j.cuda != nil {
		j.because(j.cuda.reason)
		if j.native(c) {
			return
		}
	}
	f, hasFloor := j.m.floor(c, j.windows, strings.HasSuffix(j.t.Platform, "/arm64"))
	switch {
	case j.driver != nil && hasFloor:
		j.byFloor(c, f)
	case j.cuda != nil && j.cuda.most.Major > 0 && j.cuda.most.Major < c.Major:
		j.conclude(facts.LevelIncompatible, otherMajor(c, j.cuda.most.Major))
	case j.cuda != nil && c.Major < 11 && j.cuda.most.Major > 0 && j.cuda.most.compare(c) < 0:
		j.conclude(facts.LevelIncompatible, Reason{Text: "before CUDA 11 there is no minor-version compatibility"})
	case j.cuda == nil || j.cuda.atLeast:
		j.because(Reason{Text: "no table has a lowest driver for CUDA " + c.String()})
	case j.t.CUDA != "" && j.driver == nil:
		j.sameMajor(c, Reason{Text: "drivers of one CUDA major run each other's runtimes by minor-version compatibility", Confidence: "medium"})
	default:
		j.because(Reason{Text: "no table has a lowest driver for CUDA " + c.String()})
	}
}

// native concludes where the driver's CUDA version is at least the runtime's.
func (j *judgement) native(c CUDA) bool {
	have := j.cuda.cuda
	if !c.HasMinor && have.Major == c.Major {
		// Any minor may be meant: native only if there is none above.
		newest, ok := j.m.newestMinor(c.Major)
		if !ok || have.compare(newest) < 0 {
			return false
		}
	} else if have.compare(c) < 0 {
		return false
	}
	j.conclude(facts.LevelNative, Reason{Text: fmt.Sprintf("CUDA %s is not newer than the driver's CUDA %s", c, have)})
	// The documented lowest driver may be a later release of the same branch.
	if t, ok := j.m.packaged(c); ok && !j.windows && j.driver != nil && t.driver != "" {
		if d, err := ParseDriver(t.driver); err == nil && d.Branch() == j.driver.Branch() {
			if n, known := j.driver.compare(d); known && n < 0 {
				r := t.row.reason("toolkit_driver", t.version, "NVIDIA documents "+t.driver+" for CUDA "+c.String()+", a later release of the branch")
				r.Confidence = lower(r.Confidence, "medium")
				j.because(r)
			}
		}
	}
	return true
}

// otherMajor says why a major above the driver's does not run.
func otherMajor(c CUDA, driver int) Reason {
	return Reason{Text: fmt.Sprintf("a runtime of CUDA %d does not run on a driver of CUDA %d", c.Major, driver)}
}

// byFloor concludes by the lowest driver of the runtime's family.
func (j *judgement) byFloor(c CUDA, f family) {
	n, known := j.driver.compare(f.floor)
	reason := f.row.reason("family_minimum", f.name+" "+f.platform, fmt.Sprintf("CUDA %s runs on drivers from %s on", f.name, f.floor))
	switch {
	case !known:
		reason.Text += fmt.Sprintf("; which release of R%d is meant decides", j.driver.Branch())
		j.because(reason)
	case n < 0:
		if j.t.CUDA != "" && j.cuda != nil && j.cuda.cuda.Major >= c.Major && c.Major >= 11 {
			// Tegra's numbers are not the data centre's: what the driver says
			// of itself wins over the table.
			j.sameMajor(c, reason)
			return
		}
		j.conclude(facts.LevelIncompatible, reason)
	case c.Major < 11:
		// At or above the packaged driver, but not of its CUDA version: a
		// branch that is not listed.
		j.conclude(facts.LevelNative, reason)
	case j.cuda != nil && j.cuda.most.Major > 0 && j.cuda.most.Major < c.Major:
		j.conclude(facts.LevelIncompatible, otherMajor(c, j.cuda.most.Major))
	default:
		j.sameMajor(c, reason)
	}
}

// sameMajor concludes minor-version compatibility, if it is known that the
// runtime is newer than the driver.
func (j *judgement) sameMajor(c CUDA, reason Reason) {
	if !c.HasMinor {
		reason.Text += "; the runtime's minor version is not known, so it is native or runs by minor-version compatibility"
		j.because(reason)
		return
	}
	j.conclude(facts.LevelMinor, reason)
}

// soften takes incompatible back where it is not certain.
func (j *judgement) soften(c CUDA, o JudgeOptions) {
	for _, r := range j.out.Reasons {
		if r.Confidence == "low" && j.cuda != nil && j.cuda.atLeast {
			continue // the lower bound of an unlisted branch: the floor decided
		}
		if r.Confidence == "low" {
			j.conclude(facts.LevelUnknown, Reason{Text: "that rests on a row of low confidence"})
			return
		}
	}
	if o.Compat == "" {
		return
	}
	d, err := ParseDriver(o.Compat)
	if err != nil {
		return
	}
	if have, ok := j.m.ofBranch(d.Branch(), false); ok && !have.atLeast && have.cuda.compare(c) < 0 && have.cuda.Major < c.Major {
		j.because(Reason{Text: "the image's cuda-compat " + o.Compat + " is too old for the runtime as well"})
		return
	}
	j.conclude(facts.LevelUnknown, Reason{Text: "the image's cuda-compat " + o.Compat +
		" may serve on data-center GPUs (forward compatibility); that is not judged yet"})
}

// Worst is the worst of some levels, in the order native, minor, forward,
// unknown, incompatible.
func Worst(levels ...string) string {
	rank := map[string]int{
		facts.LevelNative: 1, facts.LevelMinor: 2, facts.LevelForward: 3, facts.LevelUnknown: 4, facts.LevelIncompatible: 5,
	}
	worst := ""
	for _, l := range levels {
		if rank[l] > rank[worst] {
			worst = l
		}
	}
	return worst
}
