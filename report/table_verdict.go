package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// folded is one verdict with all runtime modes in which it is the same.
type folded struct {
	facts.Verdict
	modes []string
}

// verdicts writes the verdict of each target.
func (t *table) verdicts(s facts.Subject, r *facts.Report) {
	vs := fold(r.Verdicts, s.ID)
	if len(vs) == 0 {
		if s.Kind == facts.KindImage && len(r.Targets) == 0 {
			t.heading("Verdict")
			t.text(2, "no target given: --driver VERSION tells whether the image runs there")
		}
		return
	}
	t.heading("Verdict")
	names, level, target := targetNames(r.Targets), 0, 0
	for _, v := range vs {
		level = max(level, width(visible(v.Level)))
		target = max(target, width(visible(named(names, v.Target))))
	}
	for _, v := range vs {
		l := verdictLook(v.Level)
		head := t.style.paint(l.color, l.symbol+" "+pad(visible(v.Level), level))
		modes := t.style.paint(dim, visible(strings.Join(v.modes, ", ")))
		t.line("  " + head + "  " + pad(visible(named(names, v.Target)), target) + "  " + modes)
		t.verdictDetails(v.Verdict)
	}
}

// targetNames maps the name of a target to what people are shown.
func targetNames(targets []facts.Target) map[string]string {
	out := map[string]string{}
	for _, t := range targets {
		name := t.Name
		switch {
		case t.Driver == "":
		case t.Driver == t.Name:
			name = "driver " + t.Driver
		default:
			name += " (driver " + t.Driver + ")"
		}
		out[t.Name] = name
	}
	return out
}

func named(names map[string]string, target string) string { return either(names[target], target) }

// fold selects the verdicts of a subject and joins those of one target that
// differ in the runtime mode alone.
func fold(vs []facts.Verdict, subject string) []folded {
	var out []folded
	for _, v := range vs {
		if v.Subject != subject {
			continue
		}
		i := slices.IndexFunc(out, func(f folded) bool { return sameVerdict(f.Verdict, v) })
		if i < 0 {
			i = len(out)
			out = append(out, folded{Verdict: v})
		}
		if v.RuntimeMode != "" {
			out[i].modes = append(out[i].modes, v.RuntimeMode)
		}
	}
	return out
}

func sameVerdict(a, b facts.Verdict) bool {
	b.RuntimeMode = a.RuntimeMode
	return reflect.DeepEqual(a, b)
}

// verdictDetails writes what a verdict predicts and rests on.
func (t *table) verdictDetails(v facts.Verdict) {
	if e := errorText(v.Code, v.Text); e != "" {
		t.text(4, e)
	}
	if d := v.UserModeDriver; d.Kind != facts.DriverHost && d.Kind != "" {
		text := strings.TrimSpace("libcuda: " + userModeDriver(d))
		if d.Kind == facts.DriverUnknown && v.Level != facts.LevelUnknown && !t.o.Explain {
			text += " (--explain says why)"
		}
		t.text(4, text)
	}
	if v.DeviceCode != "" && v.DeviceCode != "unknown" {
		t.text(4, "device code: "+v.DeviceCode)
	}
	if len(v.Runtimes) > 1 {
		t.text(4, strings.Join(runtimeLevels(v.Runtimes), ", "))
	}
	if !t.o.Explain {
		t.doubts(v)
		return
	}
	var known []facts.Reason
	for _, r := range v.Runtimes {
		t.reasons("CUDA "+r.CUDA, r.Reasons)
		known = append(known, r.Reasons...)
	}
	t.reasons("the verdict", slices.DeleteFunc(slices.Clone(v.Reasons), func(r facts.Reason) bool { return slices.Contains(known, r) }))
}

// doubts says why a verdict is unknown, and what a known one owes to rows of
// low confidence: nobody should have to ask for that.
func (t *table) doubts(v facts.Verdict) {
	for _, r := range v.Reasons {
		if v.Level == facts.LevelUnknown || r.Confidence == "low" {
			t.labelled(4, "- ", "", r.Text)
		}
	}
}

func userModeDriver(d facts.UserModeDriver) string {
	switch d.Kind {
	case facts.DriverUnknown:
		if d.Driver == "" {
			return "the host's or the image's, not known which"
		}
		return "the host's or the image's " + d.Driver + ", not known which"
	case facts.DriverCompat:
		return "the image's cuda-compat " + d.Driver
	case facts.DriverBundled:
		return "the image's own " + d.Driver
	case facts.DriverStub:
		return "a stub of the image"
	case facts.DriverNone:
		return "none"
	}
	return d.Kind + " " + d.Driver
}

// unknown counts the verdicts of people: alike ones of several runtime modes
// are one.
func unknown(vs []facts.Verdict) int {
	seen := map[[2]string]bool{}
	for _, v := range vs {
		if v.Level == facts.LevelUnknown {
			seen[[2]string{v.Subject, v.Target}] = true
		}
	}
	return len(seen)
}

// worstLevel is the worst level of some verdicts, native of none.
func worstLevel(vs []facts.Verdict) string {
	order := []string{facts.LevelNative, facts.LevelMinor, facts.LevelForward, facts.LevelUnknown, facts.LevelIncompatible}
	worst := 0
	for _, v := range vs {
		worst = max(worst, slices.Index(order, v.Level))
	}
	return order[worst]
}

// runtimeLevels lists the level of each runtime.
func runtimeLevels(rs []facts.RuntimeVerdict) []string {
	out := make([]string, 0, len(rs))
	for _, r := range rs {
		out = append(out, "CUDA "+r.CUDA+" "+r.Level)
	}
	return out
}

// reasons writes a chain of reasons with the table rows behind them.
func (t *table) reasons(of string, rs []facts.Reason) {
	if len(rs) == 0 {
		return
	}
	t.text(4, of+", because")
	for _, r := range rs {
		row := r.Source
		if row != "" && r.Confidence != "" {
			row += ", confidence " + r.Confidence
		}
		t.labelled(6, "- ", "", r.Text)
		if row != "" {
			t.hang(8, "", "", paintAll(t.style, dim, wrap("["+visible(row)+"]", t.width-8)))
		}
	}
}

func paintAll(s style, color string, lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, s.paint(color, l))
	}
	return out
}

// errorText names a predicted error: its number and its text.
func errorText(code int, text string) string {
	if code == 0 {
		return text
	}
	return strings.TrimSpace(fmt.Sprintf("error %d %s", code, text))
}
