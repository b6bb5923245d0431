package sarifcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Multitool validates a file with Microsoft's SARIF multitool, of which binary
// is the program, and returns its errors and warnings. Its exit status says
// nothing: what it writes is read.
func Multitool(ctx context.Context, binary, file string) ([]string, error) {
	dir, err := os.MkdirTemp("", "sarifcheck-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover harms nobody
	log := filepath.Join(dir, "out.sarif")
	cmd := exec.CommandContext(ctx, binary, "validate", file, "--rule-kind", "Sarif;Ghas",
		"--level", "Error;Warning", "--log", "ForceOverwrite", "-o", log)
	// It is a .NET program and would else want ICU.
	cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", binary, err, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		return nil, fmt.Errorf("the multitool wrote no log: %w\n%s", err, out)
	}
	var doc struct {
		Runs []struct {
			Results []struct {
				RuleID  string `json:"ruleId"`
				Level   string `json:"level"`
				Message struct {
					ID        string   `json:"id"`
					Text      string   `json:"text"`
					Arguments []string `json:"arguments"`
				} `json:"message"`
			} `json:"results"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("the multitool's log: %w", err)
	}
	if len(doc.Runs) == 0 {
		return nil, fmt.Errorf("the multitool's log has no run\n%s", out)
	}
	var problems []string
	for _, r := range doc.Runs {
		for _, x := range r.Results {
			if x.Level != "note" && x.Level != "none" { // no level means warning
				problems = append(problems, fmt.Sprintf("%s %s %s%s %q", x.RuleID, x.Level, x.Message.ID, x.Message.Text, x.Message.Arguments))
			}
		}
	}
	return problems, nil
}
