package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK       = 0 // nothing at or above --fail-on
	exitFindings = 1 // findings at or above --fail-on
	exitUsage    = 2 // wrong usage or configuration
	exitInput    = 3 // an input is missing, unreadable, truncated or broken
	exitStopped  = 4 // cancelled or out of time
)

// usageError is wrong usage: exit status 2.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// exitError carries an exit status whose reason was printed already.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// Main runs gpulint with the given arguments (without the program's name) and
// returns its exit status. Reports go to out, everything else to errw.
func Main(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	}
	say(errw, err.Error())
	if errors.As(err, &usage) {
		if usage.hint != "" {
			_, _ = fmt.Fprintln(errw, "  "+oneLine(usage.hint))
		}
		rescue(args, out, errw, err)
		return exitUsage
	}
	if ctx.Err() != nil {
		return exitStopped
	}
	return exitInput
}

// say prints one line of an error: names from images may hold line breaks.
func say(w io.Writer, text string) {
	_, _ = fmt.Fprintln(w, "gpulint: "+oneLine(text))
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Cf, r) { // Cf: what turns text around, or is not seen
			return ' '
		}
		return r
	}, s)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "gpulint",
		Short: "A linter for GPU container images and clusters",
		Long: `gpulint finds what makes GPU containers fail before they are deployed: driver
files that the image must not ship, CUDA that the driver cannot run, and more.
It needs no GPU, no daemon, no network database and no root.

Exit status: 0 nothing at or above --fail-on; 1 findings; 2 wrong usage or
configuration; 3 an input is missing, unreadable, truncated or broken (it
outranks 1); 4 cancelled or out of time.

Each flag can be set by a variable: --fail-on by GPULINT_FAIL_ON.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd); err != nil {
				return err
			}
			warnUnknownVariables(cmd, os.Environ())
			return nil
		},
		Version: Version(),
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("gpulint {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newImage(), newCache(), newSchema(), newVersion())
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Run, help.RunE = nil, runHelp
	}
	return root
}
