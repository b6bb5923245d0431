package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

const (
	// maxShown is how much evidence of one finding is shown unless all is asked for.
	maxShown = 5
	// maxTargets is how many targets of one finding are named.
	maxTargets = 5
	// maxInstructionLines is how much of an instruction is shown unless all is
	// asked for: enough of a RUN to know it by.
	maxInstructionLines = 3
	// minInstruction is how many columns an instruction needs beside its layer.
	minInstruction = 30
	// maxMessage bounds the texts of a finding, in UTF-16 units.
	maxMessage = 4000
)

// findings writes the findings of one subject, the worst first.
func (t *table) findings(all []facts.Finding) {
	t.heading("Findings")
	n := 0
	for _, f := range worstFirst(atLeast(all, t.o.Severity)) {
		if !t.o.ShowIgnored && statusRank(f.Status) > 0 {
			continue
		}
		if n > 0 {
			t.line("")
		}
		n++
		t.finding(f)
	}
	if n == 0 {
		l := verdictLook(facts.LevelNative)
		text := "no findings"
		if len(all) > 0 {
			text = fmt.Sprintf("no findings to show (%d hidden)", len(all))
		}
		t.line("  " + t.style.paint(l.color, l.symbol+" "+text))
	}
}

func (t *table) finding(f facts.Finding) {
	l := findingLook(f.Level)
	head := t.style.paint(l.color, l.symbol+" "+visible(f.Level)) + " " + t.style.paint(bold, visible(f.Rule))
	if f.Name != "" {
		head += " " + visible(f.Name)
	}
	t.line("  " + head + t.style.paint(dim, status(f)))
	t.text(4, limit(f.Message, maxMessage))
	t.evidence(f.Evidence)
	t.answers(f)
}

// status says that a finding does not count, and why.
func status(f facts.Finding) string {
	switch f.Status {
	case facts.StatusBaseline:
		return " (in the baseline)"
	case facts.StatusIgnored:
		if f.Reason != "" {
			return visible(" (ignored: " + limit(spaced(f.Reason), 200) + ")")
		}
		return " (ignored)"
	}
	return ""
}

// answers writes what the user will see, and what to do.
func (t *table) answers(f facts.Finding) {
	var rows [][2]string
	if len(f.Targets) > 0 {
		rows = append(rows, [2]string{"targets:", some(f.Targets, maxTargets)})
	}
	if p := f.Predicted; p != nil && errorText(p.Code, p.Text) != "" {
		rows = append(rows, [2]string{"at run time:", errorText(p.Code, p.Text)})
	}
	if f.Fix != "" {
		rows = append(rows, [2]string{"fix:", f.Fix})
	}
	if f.HelpURI != "" {
		rows = append(rows, [2]string{"help:", f.HelpURI})
	}
	if len(rows) > 0 {
		t.line("")
	}
	for _, r := range rows {
		t.labelled(4, pad(r[0], len("at run time: ")), bold, limit(r[1], maxMessage))
	}
}

// some joins the first n names.
func some(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

// evidence writes the places that a finding rests on. Those that share layer,
// package and source stand together, so that what brought them is said once.
func (t *table) evidence(all []facts.Evidence) {
	shown := all
	if !t.o.Verbose && len(all) > maxShown {
		shown = all[:maxShown]
	}
	for _, g := range groups(shown) {
		t.line("")
		for _, e := range g {
			t.place(e)
		}
		t.origin(g[0])
	}
	if n := len(all) - len(shown); n > 0 {
		t.line("    " + t.style.paint(dim, fmt.Sprintf("… and %d more, --verbose shows them", n)))
	}
}

// groups joins evidence of one origin, in the order of first appearance.
func groups(all []facts.Evidence) [][]facts.Evidence {
	var out [][]facts.Evidence
	for _, e := range all {
		i := slices.IndexFunc(out, func(g []facts.Evidence) bool { return sameOrigin(g[0], e) })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], e)
	}
	return out
}

func sameOrigin(a, b facts.Evidence) bool {
	a.Path, a.Detail = b.Path, b.Detail
	return reflect.DeepEqual(a, b)
}

// place writes a path and what is known of it, on one line where they fit.
func (t *table) place(e facts.Evidence) {
	path, detail := visible(e.Path), visible(limit(spaced(e.Detail), maxMessage))
	switch {
	case path == "":
		t.text(4, detail)
	case detail == "":
		t.line("    " + path)
	case 4+width(path)+3+width(detail) <= t.width:
		t.line("    " + path + t.style.paint(dim, " ("+detail+")"))
	default:
		t.line("    " + path)
		t.hang(6, "", "", paintAll(t.style, dim, wrap("("+detail+")", t.width-6)))
	}
}

// origin writes which layer, package and line brought a piece of evidence.
func (t *table) origin(e facts.Evidence) {
	if l := e.Layer; l != nil {
		head := strings.TrimSpace(fmt.Sprintf("layer %d %s", l.Index, shortDigest(either(l.Digest, l.DiffID)))) + t.base(*l)
		command := visible(instruction(l.CreatedBy))
		indent, label := 6, head+" "
		if room := t.width - 6 - width(label); command == "" || room < minInstruction {
			t.line("      " + head)
			indent, label = 8, ""
		}
		if command != "" {
			lines := wrap(command, t.width-indent-width(label))
			if n := maxInstructionLines; !t.o.Verbose && len(lines) > n {
				lines = lines[:n]
				lines[n-1] += " …"
			}
			t.hang(indent, label, "", paintAll(t.style, cyan, lines))
		}
	}
	if e.Package != "" {
		t.line("      package " + visible(e.Package))
	}
	if s := e.Source; s != nil {
		t.line("      " + visible(sourceText(*s)))
	}
}

// base says that a layer is the base image's.
func (t *table) base(l facts.LayerRef) string {
	switch {
	case l.Origin != facts.OriginBase:
		return ""
	case t.guessed:
		return " (base image?)"
	}
	return " (base image)"
}

// sourceText is a place in a file as editors understand it.
func sourceText(s facts.SourceRef) string {
	switch {
	case s.Line < 1:
		return s.File
	case s.Column < 1:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column)
}
