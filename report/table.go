package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// Widths of the table: that of a pipe, and those between which lines are
// pleasant to read.
const (
	defaultWidth = 80
	minWidth     = 40
	maxWidth     = 100
)

// tableFormat is the report for people.
type tableFormat struct{ o Options }

func newTable(o Options) Format { return tableFormat{o} }

func (tableFormat) Name() string { return "table" }

func (f tableFormat) Write(w io.Writer, r *facts.Report) error {
	t := &table{o: f.o, style: style{f.o.Color}, width: defaultWidth}
	if f.o.Width > 0 {
		t.width = min(max(f.o.Width, minWidth), maxWidth)
	}
	t.report(r)
	_, err := w.Write(t.out.Bytes())
	return err
}

// table is one table being written. Its methods take texts as they are in the
// report, and make them safe for a terminal.
type table struct {
	o     Options
	style style
	width int
	out   bytes.Buffer
	// guessed says that the subject's base layers are a guess.
	guessed bool
}

func (t *table) report(r *facts.Report) {
	grouped := bySubject(r.Findings)
	for i, s := range subjects(r) {
		if i > 0 {
			t.line("")
		}
		t.subject(s, r.Subjects)
		t.needs(s)
		t.verdicts(s, r)
		if fs := grouped[s.ID]; len(fs) > 0 || len(r.Subjects) > 1 {
			t.findings(fs)
		}
	}
	if len(r.Subjects)+len(r.Findings) > 0 {
		t.line("")
	}
	t.summary(r)
	if !t.o.HideFailures {
		t.failures(r.Failures)
	}
}

// line writes one line as it is.
func (t *table) line(s string) {
	t.out.WriteString(s)
	t.out.WriteByte('\n')
}

func (t *table) heading(s string) {
	t.line("")
	t.line(t.style.paint(bold, s))
}

// text writes a text, wrapped, every line indented.
func (t *table) text(indent int, s string) { t.labelled(indent, "", "", s) }

// labelled writes a label and a text behind it, wrapped below itself.
func (t *table) labelled(indent int, label, color, s string) {
	t.hang(indent, label, color, wrap(visible(s), t.width-indent-width(label)))
}

// hang writes a label and lines behind it, all at one column.
func (t *table) hang(indent int, label, color string, lines []string) {
	for i, l := range lines {
		head := strings.Repeat(" ", width(label))
		if i == 0 {
			head = t.style.paint(color, label)
		}
		t.line(strings.Repeat(" ", indent) + head + l)
	}
}

func (t *table) failures(fs []facts.Failure) {
	if len(fs) == 0 {
		return
	}
	t.heading("Not scanned")
	for _, f := range fs {
		l := findingLook(facts.Error)
		t.line("  " + t.style.paint(l.color, l.symbol) + " " + visible(f.Ref))
		t.text(4, strings.TrimPrefix(f.Message, f.Ref+": "))
		if f.Hint != "" {
			t.labelled(4, "hint: ", dim, f.Hint)
		}
	}
}

// summary writes the line that people read last.
func (t *table) summary(r *facts.Report) {
	s := r.Summary
	symbol, text := verdictLook(worstLevel(r.Verdicts)), "no findings"
	if s.Error+s.Warning+s.Note > 0 {
		symbol = findingLook(worst(s))
		text = fmt.Sprintf("%s, %s, %s", count(s.Error, "error"), count(s.Warning, "warning"), count(s.Note, "note"))
	} else if len(r.Subjects) == 0 {
		symbol, text = findingLook(facts.Error), "nothing was scanned"
	}
	if n := len(r.Subjects); n > 1 {
		text += fmt.Sprintf(" in %d images and platforms", n)
	}
	if n := len(r.Failures); n > 0 && len(r.Subjects) > 0 {
		text += "; " + count(n, "input") + " not scanned"
	}
	if n := unknown(r.Verdicts); n > 0 {
		text += "; " + count(n, "verdict") + " unknown, which is not fine: the reasons say what is missing"
	}
	for _, l := range left(r, t.o) {
		text += "; " + l
	}
	t.hang(0, symbol.symbol+" ", symbol.color, wrap(text, t.width-2))
}

func worst(s facts.Summary) string {
	switch {
	case s.Error > 0:
		return facts.Error
	case s.Warning > 0:
		return facts.Warning
	}
	return facts.Note
}

// left says which findings are not shown, and how to see them.
func left(r *facts.Report, o Options) []string {
	var out []string
	hidden, baseline := 0, 0
	for _, f := range r.Findings {
		switch {
		case f.Status == facts.StatusBaseline:
			baseline++
		case f.Status != facts.StatusIgnored && o.Severity != "" && rank(f.Level) > rank(o.Severity):
			hidden++
		}
	}
	show := " (--show-ignored shows them)"
	if o.ShowIgnored {
		show = ""
	}
	if n := r.Summary.Ignored; n > 0 {
		out = append(out, fmt.Sprintf("%d ignored%s", n, show))
	}
	if baseline > 0 {
		out = append(out, fmt.Sprintf("%d in the baseline%s", baseline, show))
	}
	if hidden > 0 {
		out = append(out, fmt.Sprintf("%d below --severity %s not shown", hidden, o.Severity))
	}
	if n := r.Summary.Omitted; n > 0 {
		out = append(out, fmt.Sprintf("%d more left out", n))
	}
	return out
}
