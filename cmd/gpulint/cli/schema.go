package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/report"
)

// newSchema is gpulint schema.
func newSchema() *cobra.Command {
	schemas := map[string]func() []byte{"facts": facts.ImageSchema, "input": facts.InputSchema, "report": report.Schema}
	names := []string{"facts", "input", "report"}
	return &cobra.Command{
		Use:   "schema facts|input|report",
		Short: "Print the JSON schema of a document",
		Long: `Print the JSON schema of what gpulint image writes: facts is what was found in
an image (--format facts), input what the rules read (--format input), report
the report (--format json).`,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || schemas[args[0]] == nil {
				return &usageError{errors.New("name one document: " + oneOf(names)), "gpulint schema facts"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s", schemas[args[0]]())
			return err
		},
	}
}
