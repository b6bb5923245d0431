package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/findings"
)

// check validates the flags, before anything is read.
func (o *imageOptions) check(args []string) ([]output, error) {
	outs, err := parseOutputs(o.formats, o.output)
	if err != nil {
		return nil, err
	}
	if err := o.checkDrivers(args); err != nil {
		return nil, err
	}
	if len(args)+len(o.inputs) == 0 {
		return nil, &usageError{errors.New("no image given"), "name an image of a registry, or a file with --input PATH"}
	}
	if slices.Contains(o.inputs, "") {
		return nil, &usageError{errors.New("--input is empty"), "name a file or directory, or - for standard input; is a variable not set?"}
	}
	if err := o.checkBase(); err != nil {
		return nil, err
	}
	if _, err := o.scanLimits(); err != nil {
		return nil, err
	}
	if err := findings.CheckFailOn(o.failOn); err != nil {
		return nil, &usageError{err: err}
	}
	for _, c := range []struct {
		flag, value string
		allowed     []string
	}{
		{"runtime", o.runtime, append(facts.Modes(), "")},
		{"severity", o.severity, []string{facts.Error, facts.Warning, facts.Note, ""}},
		{"color", o.color, []string{"auto", "always", "never"}},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return nil, usagef("--%s %q: want %s", c.flag, c.value, oneOf(slices.DeleteFunc(c.allowed, func(s string) bool { return s == "" })))
		}
	}
	return outs, nil
}

// checkDrivers validates --driver. An empty one comes of a variable that is not
// set: it must not switch the check off.
func (o *imageOptions) checkDrivers(args []string) error {
	if o.drivers != nil && len(o.drivers) == 0 {
		return &usageError{errors.New("--driver is empty"), "give driver versions, such as 535.161.08, or leave it away"}
	}
	for _, d := range o.drivers {
		if _, err := compat.ParseDriver(d); err != nil {
			return usagef("--driver: %w", err)
		}
	}
	for _, a := range args {
		if _, err := compat.ParseDriver(a); err == nil && len(o.drivers) > 0 {
			return &usageError{
				fmt.Errorf("%s is taken for an image", a),
				"separate driver versions by commas: --driver " + strings.Join(append(slices.Clone(o.drivers), a), ","),
			}
		}
	}
	return nil
}

// oneOf lists what a flag takes.
func oneOf(values []string) string {
	last := len(values) - 1
	if last < 1 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
