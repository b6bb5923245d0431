package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpulint/gpulint/report"
)

// fromEnvironment sets each flag that was not given from its variable. An empty
// one is not set: workflows pass on inputs that were left away.
func fromEnvironment(cmd *cobra.Command) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		v, ok := os.LookupEnv(name)
		if !ok || v == "" || f.Changed || f.Name == "help" || f.Name == "version" || failed != nil {
			return
		}
		if err := cmd.Flags().Set(f.Name, v); err != nil {
			failed = usagef("%s=%q: %w", name, v, err)
		}
	})
	return failed
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "GPULINT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// warnUnknownVariables warns of variables that are nearly a flag's: a misspelt
// one would be left out in silence. Others may be those of a script around
// gpulint.
func warnUnknownVariables(cmd *cobra.Command, environ []string) {
	if q := cmd.Flags().Lookup("quiet"); q != nil && q.Changed {
		return
	}
	var known []string
	for todo := []*cobra.Command{cmd.Root()}; len(todo) > 0; todo = todo[1:] {
		c := todo[0]
		note := func(f *pflag.Flag) { known = append(known, variable(f.Name)) }
		c.Flags().VisitAll(note)
		c.PersistentFlags().VisitAll(note)
		todo = append(todo, c.Commands()...)
	}
	slices.Sort(environ)
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, "GPULINT_") || value == "" || slices.Contains(known, name) {
			continue
		}
		if n := report.Nearest(name, known); n != "" {
			say(cmd.ErrOrStderr(), fmt.Sprintf("warning: the variable %s is none of gpulint's: did you mean %s?", name, n))
		}
	}
}
