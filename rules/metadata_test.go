package rules

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gpulint/gpulint/facts"
)

// TestRulesComplete holds every built-in rule to what the documentation, SARIF
// and its users need of it.
func TestRulesComplete(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("GPU*.rego")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.rego") })
	if len(files) != len(e.rules) {
		t.Errorf("%d files, %d rules: is a file missing from the embedded ones?", len(files), len(e.rules))
	}
	for _, r := range e.rules {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			checkRule(t, r)
		})
	}
}

func checkRule(t *testing.T, r *rule) {
	t.Helper()
	if ruleID(r.file) != r.ID {
		t.Errorf("file %s, package %s", r.file, r.ID)
	}
	if r.module.Annotations[0].Custom["id"] != r.ID {
		t.Error("METADATA custom.id is missing")
	}
	for name, text := range map[string]string{"fix": r.Fix, "before": r.Before, "after": r.After, "since": r.Since} {
		if text == "" {
			t.Errorf("METADATA custom.%s is missing", name)
		}
	}
	for name, text := range map[string]string{"title": r.Title, "predicts": r.Predicts, "fix": r.Fix} {
		if clean(text) != text {
			t.Errorf("METADATA %s is not one line", name)
		}
	}
	what, why, ok := strings.Cut(r.Description, "\n\n")
	if !ok || !strings.HasPrefix(what, "Finds ") || why == "" {
		t.Error("the description has no first paragraph on what it finds and second on why that matters")
	}
	// The limit of SARIF viewers for fullDescription.
	if n := len(r.Description); n > 1024 {
		t.Errorf("the description has %d bytes, more than 1024", n)
	}
	if len(r.references) == 0 {
		t.Error("no related_resources")
	}
	for _, ref := range r.references {
		if !strings.HasPrefix(ref.URL, "https://") || ref.Text == "" {
			t.Errorf("reference %+v: want https and a description", ref)
		}
	}
	if _, err := os.Stat(filepath.Join("..", "docs", "rules", r.ID+".md")); err != nil {
		t.Errorf("%v; run `go run ./internal/gendocs`", err)
	}
	checkCases(t, r.ID)
}

// checkCases demands at least two cases each way.
func checkCases(t *testing.T, id string) {
	t.Helper()
	name := id + "_test.rego"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ast.ParseModuleWithOpts(name, string(text), ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		t.Fatal(err)
	}
	var deny, allow int
	for _, r := range m.Rules {
		switch name := r.Head.Ref().String(); {
		case strings.HasPrefix(name, "test_deny_"):
			deny++
		case strings.HasPrefix(name, "test_allow_"):
			allow++
		}
	}
	if deny < 2 || allow < 2 {
		t.Errorf("%s has %d cases test_deny_… and %d test_allow_…, want two each", name, deny, allow)
	}
}

// TestRulesStrict compiles all rules at once, with unused variables and
// imports as errors.
func TestRulesStrict(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]*ast.Module{}
	for i, m := range e.libs {
		modules[e.libFiles[i]] = m
	}
	for _, r := range e.rules {
		modules[r.file] = r.module
	}
	c := ast.NewCompiler().WithStrict(true).WithCapabilities(capabilities()).WithDefaultRegoVersion(ast.RegoV1)
	if c.Compile(modules); c.Failed() {
		t.Error(c.Errors)
	}
}

// TestCatalogue pins names and levels: they are part of what users
// configure against and change only on purpose.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range e.Rules() {
		got = append(got, r.ID+" "+r.Name+" "+r.Level)
		if r.HelpURI != "https://github.com/gpulint/gpulint/blob/main/docs/rules/"+r.ID+".md" {
			t.Error(r.HelpURI)
		}
	}
	want := []string{
		"GPU101 bundled-driver-library error",
		"GPU102 driver-library-link warning",
		"GPU103 empty-driver-file warning",
		"GPU104 bundled-driver-tool warning",
		"GPU107 driver-package error",
		"GPU108 driver-file-shadowed note",
		"GPU201 driver-too-old error",
		"GPU202 minor-version-compat note",
		"GPU211 cuda-version-drift warning",
		"GPU901 scan-incomplete error",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestLevels shows that a finding's level is that of its rule where the rule
// gives none.
func TestLevels(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Eval(context.Background(), goldenInputs()["everything"])
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Rule == "GPU108" && f.Level != facts.Note || f.Rule == "GPU107" && f.Level != facts.Error {
			t.Errorf("%s is %s", f.Rule, f.Level)
		}
	}
}
