package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/report"
)

// Formats that are no reports: what the scan found, and what the rules saw.
const (
	formatFacts = "facts"
	formatInput = "input"
	formatSARIF = "sarif"
)

// maxRuns is how many runs GitHub takes in one SARIF file.
const maxRuns = 20

// output is one format and where it goes; an empty file is standard output.
type output struct{ format, file string }

// parseOutputs reads --format and --output.
func parseOutputs(formats []string, file string) ([]output, error) {
	if len(formats) == 0 {
		formats = []string{"table"}
	}
	var outs []output
	for _, f := range formats {
		name, to, hasFile := strings.Cut(f, "=")
		if hasFile && to == "" {
			return nil, &usageError{fmt.Errorf("--format %s names no file", f), "without a file, leave = away too"}
		}
		if err := report.Known(name, formatFacts, formatInput); err != nil {
			return nil, &usageError{fmt.Errorf("--format %s: %w", f, err), ""}
		}
		outs = append(outs, output{name, to})
	}
	if file != "" {
		i := slices.IndexFunc(outs, func(o output) bool { return o.file == "" })
		if i < 0 || len(outs) > 1 {
			return nil, &usageError{
				errors.New("--output goes with a single format without a file of its own"),
				"name a file for each format: -f table -f sarif=out.sarif",
			}
		}
		outs[i].file = file
	}
	stdout := 0
	for i, o := range outs {
		if o.file == "" {
			stdout++
		}
		if slices.ContainsFunc(outs[:i], func(p output) bool { return p.file != "" && p.file == o.file }) {
			return nil, usagef("two formats go to one file, %s", o.file)
		}
	}
	if stdout > 1 {
		return nil, &usageError{
			errors.New("only one format can go to standard output"),
			"name a file for the others: -f table -f sarif=out.sarif",
		}
	}
	return outs, nil
}

// document is all that a run has to write.
type document struct {
	report *facts.Report
	images []*facts.Image
	inputs []*facts.Input
}

// write writes every format; a file appears whole or not at all.
func (o *imageOptions) write(outs []output, doc *document, stdout io.Writer) error {
	var failed []error
	for _, out := range outs {
		if err := o.writeOne(out, doc, stdout); err != nil {
			where := out.file
			if where == "" {
				where = "standard output"
			}
			failed = append(failed, fmt.Errorf("writing %s to %s: %w", out.format, where, err))
		}
	}
	return errors.Join(failed...)
}

func (o *imageOptions) writeOne(out output, doc *document, stdout io.Writer) error {
	switch out.format {
	case formatFacts:
		return writeDocuments(out, stdout, doc.images)
	case formatInput:
		return writeDocuments(out, stdout, doc.inputs)
	}
	ro := report.Options{
		Verbose: o.verbose, Explain: o.explain, ShowIgnored: o.showIgnored, Anchor: o.anchor, Severity: o.severity,
	}
	if out.file == "" {
		ro.Color, ro.Width = terminal(stdout, o.color)
		ro.HideFailures = !o.quiet
	}
	f, err := report.Get(out.format, ro)
	if err != nil {
		return err
	}
	reports := []*facts.Report{doc.report}
	if out.format == formatSARIF {
		reports = report.SplitSARIF(doc.report)
		if len(reports) > 1 && out.file == "" {
			return usagef("more than %d images and platforms do not fit one SARIF file: name one with -o, the rest goes beside it", maxRuns)
		}
	}
	for i, r := range reports {
		file := out.file
		if i > 0 {
			ext := filepath.Ext(file)
			file = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ext), i+1, ext)
		}
		if err := toFile(file, stdout, func(w io.Writer) error { return f.Write(w, r) }); err != nil {
			return err
		}
	}
	return nil
}

// writeDocuments writes one JSON document for each image.
func writeDocuments[T any](out output, stdout io.Writer, docs []T) error {
	return toFile(out.file, stdout, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		for _, d := range docs {
			if err := e.Encode(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// toFile writes to a file by way of a temporary one beside it, or to stdout.
func toFile(file string, stdout io.Writer, write func(io.Writer) error) error {
	if file == "" {
		return write(stdout)
	}
	// A device or pipe, such as /dev/stdout, cannot be replaced.
	if st, err := os.Stat(file); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".gpulint-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(tmp), tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// terminal says whether to colour what goes to w, and how wide it is.
func terminal(w io.Writer, color string) (colored bool, width int) {
	f, ok := w.(*os.File)
	tty := ok && term.IsTerminal(int(f.Fd()))
	if tty {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil {
			width = n
		}
	}
	switch color {
	case "always":
		return true, width
	case "never":
		return false, width
	}
	return tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", width
}
