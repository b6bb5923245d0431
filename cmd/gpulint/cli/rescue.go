package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpulint/gpulint/facts"
)

// rescue writes a valid SARIF file when the usage was wrong, for a workflow
// that uploads it in any case.
func rescue(args []string, stdout, errw io.Writer, cause error) {
	formats, file := wantedOutputs(newImage(), args)
	for _, f := range formats {
		name, to, _ := strings.Cut(f, "=")
		if name != formatSARIF {
			continue
		}
		if to == "" && len(formats) == 1 {
			to = file
		}
		r := newReport(nil)
		r.Failures = []facts.Failure{{Ref: "gpulint", Message: oneLine(cause.Error())}}
		if err := (&imageOptions{}).write([]output{{name, to}}, &document{report: r}, stdout); err != nil {
			say(errw, err.Error())
		}
		return
	}
}

// wantedOutputs reads --format and --output of a command line that is wrong
// elsewhere: the flags' own parser knows every way to write them, and values
// of other flags are not looked at.
func wantedOutputs(cmd *cobra.Command, args []string) (formats []string, file string) {
	fs := cmd.Flags()
	fs.ParseErrorsAllowlist.UnknownFlags = true
	set := false
	_ = fs.ParseAll(args, func(f *pflag.Flag, v string) error { // what is wrong was said already
		switch f.Name {
		case "format":
			formats = append(formats, v)
		case "output":
			file, set = v, true
		}
		return nil
	})
	if v, ok := os.LookupEnv(variable("format")); ok && formats == nil {
		formats = []string{v}
	}
	if v, ok := os.LookupEnv(variable("output")); ok && !set {
		file = v
	}
	return formats, file
}
