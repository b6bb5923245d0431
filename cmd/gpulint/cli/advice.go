package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpulint/gpulint/report"
	"github.com/gpulint/gpulint/scan/source"
)

// unknownCommand says what was probably meant by a word that is no command: a
// file or an image above all.
func unknownCommand(cmd *cobra.Command, word string) error {
	hint := "see 'gpulint --help' for the commands"
	_, err := os.Stat(word)
	switch s := cmd.SuggestionsFor(word); {
	case len(s) > 0:
		hint = fmt.Sprintf("did you mean %s? %s", s[0], hint)
	case err == nil, source.FileLike(word), source.IsPath(word):
		hint = "to lint a file: gpulint image --input " + word
	case strings.ContainsAny(word, "/:"):
		hint = "to lint an image: gpulint image " + word
	}
	return &usageError{fmt.Errorf("unknown command %q", word), hint}
}

// flagError says which flag was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("see '%s --help' for the flags", cmd.CommandPath())
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if n := report.Nearest(unknown.GetSpecifiedName(), names); n != "" {
			hint = fmt.Sprintf("did you mean --%s? %s", n, hint)
		}
	}
	return &usageError{err, hint}
}

// runHelp is gpulint help COMMAND.
func runHelp(cmd *cobra.Command, args []string) error {
	target, rest, err := cmd.Root().Find(args)
	if err != nil || target == nil || len(rest) > 0 {
		return unknownCommand(cmd.Root(), strings.Join(args, " "))
	}
	target.InitDefaultHelpFlag()
	return target.Help()
}
