package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/gpulint/gpulint/facts"
)

// Format writes reports in one format. The same report gives the same bytes.
type Format interface {
	// Name is the name that selects the format.
	Name() string
	// Write renders the report, which it does not change.
	Write(w io.Writer, r *facts.Report) error
}

// Options say how a report is rendered; formats ignore what does not concern
// them. The zero value suits a pipe.
type Options struct {
	// Color allows colour in the table.
	Color bool
	// Width is the width of the terminal in columns, 0 if there is none.
	Width int
	// Verbose shows all evidence and whole instructions.
	Verbose bool
	// Explain shows the reasons of each verdict with the table rows behind them.
	Explain bool
	// ShowIgnored shows ignored findings, and in the table those of the
	// baseline too. JSON always lists them, with their status.
	ShowIgnored bool
	// Anchor is the file of the repository on which SARIF results are shown, at
	// line 1, where they have no line of their own.
	Anchor string
	// HideFailures leaves out of the table what could not be scanned, where
	// standard error says it already.
	HideFailures bool
	// Severity is the lowest level that is shown; empty shows all.
	Severity string
}

// formats are all formats, in the order in which they are listed to people.
var formats = []struct {
	name string
	make func(Options) Format
}{
	{"table", newTable},
	{"json", newJSON},
	{"sarif", newSARIF},
}

// Names lists the formats.
func Names() []string {
	names := make([]string, 0, len(formats))
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Get returns the format of this name; the error is that of [Known].
func Get(name string, o Options) (Format, error) {
	for _, f := range formats {
		if f.name == name {
			return f.make(o), nil
		}
	}
	return nil, Known(name)
}

// Known tells whether there is a format of this name, here or among further
// ones of the caller. The error for an unknown name lists all, and the nearest.
func Known(name string, further ...string) error {
	names := append(Names(), further...)
	if slices.Contains(names, name) {
		return nil
	}
	hint := ""
	if n := Nearest(name, names); n != "" {
		hint = fmt.Sprintf("did you mean %s? ", n)
	}
	return fmt.Errorf("unknown report format %q: %sformats are %s", name, hint, strings.Join(names, ", "))
}

// Nearest returns the name that was probably meant, or nothing.
func Nearest(name string, names []string) string {
	best, found := 3, ""
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(n)); d < best && d < len(n) {
			best, found = d, n
		}
	}
	return found
}
