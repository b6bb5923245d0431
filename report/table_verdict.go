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
	if d := v.UserModeDriver; d.Kind != "host" && d.Kind != "" {
		t.text(4, strings.TrimSpace("libcuda: "+userModeDriver(d)))
	}
	if v.DeviceCode != "" && v.DeviceCode != "unknown" {
		t.text(4, "device code: "+v.DeviceCode)
	}
	if len(v.Runtimes) > 1 {
		t.text(4, strings.Join(runtimeLevels(v.Runtimes), ", "))
	}
	if !t.o.Explain {
		return
	}
	stated := false
	for _, r := range v.Runtimes {
		t.reasons("CUDA "+r.CUDA, r.Reasons)
		stated = stated || reflect.DeepEqual(r.Reasons, v.Reasons)
	}
	if !stated {
		t.reasons("together", v.Reasons)
	}
}

func userModeDriver(d facts.UserModeDriver) string {
	switch d.Kind {
	case "unknown":
		if d.Driver == "" {
			return "not known which one wins, the host's or the image's"
		}
		return "not known which one wins, the host's or the image's " + d.Driver
	case "compat":
		return "the image's cuda-compat " + d.Driver
	case "bundled":
		return "the image's own " + d.Driver
	case "stub":
		return "a stub of the image"
	case "none":
		return "none"
	}
	return d.Kind + " " + d.Driver
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
