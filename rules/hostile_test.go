package rules

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gpulint/gpulint/facts"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain … text":           "plain … text",
		"\x1b[31mred\x1b[0m":     `\u{1b}[31mred\u{1b}[0m`,
		"a\r\nERROR: forged":     `a\u{d}\u{a}ERROR: forged`,
		"a\u202etxt.so":          `a\u{202e}txt.so`,
		"tag\U000e0041":          `tag\u{e0041}`,
		"bad\xff":                "bad\uFFFD",
		strings.Repeat("é", 5e3): strings.Repeat("é", maxText) + "…",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q", in, got)
		}
	}
}

// TestHostileImage feeds what an image may choose: names, versions, paths.
func TestHostileImage(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	evil := "\x1b]0;x\x07\n::error::\u202e%s%d%n\xff"
	in := goldenInputs()["everything"]
	for i := range in.DriverFiles {
		c := &in.DriverFiles[i]
		c.Paths, c.Names, c.Links = []string{evil}, []string{evil}, []string{evil}
		if c.Package != nil {
			c.Package.Name, c.Package.Version, c.Package.PulledBy = evil, evil, []string{evil}
		}
		c.Driver = &facts.Version{Text: evil}
	}
	for i := range in.Targets {
		in.Targets[i].Driver = evil
	}
	for i := range in.VersionDrift {
		in.VersionDrift[i].Statements[0] = facts.VersionStatement{Where: evil, CUDA: facts.Version{Text: evil}}
	}
	list, err := e.Eval(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 10 {
		t.Errorf("%d findings", len(list))
	}
	for _, f := range list {
		for _, s := range []string{f.Message, f.Fix} {
			if strings.ContainsFunc(s, unsafe) {
				t.Errorf("%s: %q", f.Rule, s)
			}
		}
	}
}

// TestForeignDocuments evaluates each rule on documents of other tools, as
// conftest does: no findings and, although built-in errors are strict, no error.
func TestForeignDocuments(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.compile(e.rules)
	if err != nil {
		t.Fatal(err)
	}
	check := func(doc any, kind string) {
		term := ast.NewTerm(ast.MustInterfaceToValue(doc))
		for i, r := range p.rules {
			if slices.Contains(Kinds(), kind) && !slices.Contains(r.Needs, kind) {
				continue
			}
			if _, err := p.query(context.Background(), p.queries[i], term); err != nil {
				text, _ := json.Marshal(doc)
				t.Fatalf("%s: %v\non %.3000s", r.ID, err, text)
			}
		}
	}
	for _, doc := range []string{
		`null`, `1`, `"text"`, `[]`, `{}`, `{"apiVersion": "v1", "kind": "Pod"}`,
		`{"driver_files": null, "verdicts": {}, "incomplete": "x", "version_drift": 5, "driver_packages": true}`,
	} {
		check(json.RawMessage(doc), "")
	}
	// Every field of every candidate in turn has each other type.
	text, err := json.Marshal(goldenInputs()["everything"])
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	for kind := range root {
		mutate(root, kind, func() { check(root, kind) })
	}
}

// mutate calls check with each place at or below the key holding each wrong
// value.
func mutate(object map[string]any, key string, check func()) {
	wrong := []any{nil, -0.5, "", "x", true, []any{}, []any{1, nil}, map[string]any{"name": 1}}
	var walk func(old any, set func(any))
	walk = func(old any, set func(any)) {
		for _, v := range wrong {
			set(v)
			check()
		}
		set(old)
		switch old := old.(type) {
		case map[string]any:
			for k, v := range old {
				if k != "evidence" { // no rule reads it
					walk(v, func(x any) { old[k] = x })
				}
			}
		case []any:
			for i, v := range old {
				walk(v, func(x any) { old[i] = x })
			}
		}
	}
	walk(object[key], func(x any) { object[key] = x })
}

// TestLargestInput stays below the limits of input and time.
func TestLargestInput(t *testing.T) {
	t.Parallel()
	// The race detector makes it an order of magnitude slower.
	e, err := New(Options{Timeout: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Eval(context.Background(), largeInput(1800))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1800 {
		t.Errorf("%d findings", len(list))
	}
}
