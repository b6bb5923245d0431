package rules

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/tester"
)

// TestRego runs what `opa test rules/` runs.
func TestRego(t *testing.T) {
	t.Parallel()
	modules, store, err := tester.LoadWithParserOptions([]string{"."}, nil, ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
	if err != nil {
		t.Fatal(err)
	}
	ch, err := tester.NewRunner().SetStore(store).SetModules(modules).CapturePrintOutput(true).RaiseBuiltinErrors(true).RunTests(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := range ch {
		n++
		if !r.Pass() {
			t.Errorf("%s: %s", r.Location, r)
		}
	}
	if n == 0 {
		t.Error("no tests found")
	}
}

// TestRegoFormat holds the files to `opa fmt`.
func TestRegoFormat(t *testing.T) {
	t.Parallel()
	for _, name := range regoFiles(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := format.SourceWithOpts(name, text, format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != string(want) {
			t.Errorf("%s is not formatted as by `opa fmt`", name)
		}
	}
}

// TestRegoPlain forbids what would make a rule fail silently: semver.compare is
// undefined for 535.161.08, and custom built-ins do not exist under `opa test`.
func TestRegoPlain(t *testing.T) {
	t.Parallel()
	for _, name := range regoFiles(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "semver.") {
			t.Errorf("%s uses semver: compare the parts of versions instead", name)
		}
	}
}

func regoFiles(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("*.rego")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list
}
