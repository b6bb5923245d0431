package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden compares the findings of made-up inputs with testdata/*.golden
// (no .json: `opa test rules/` would load it as data).
func TestGolden(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range goldenInputs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := e.Eval(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			got := render(t, list)
			file := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func render(t *testing.T, list []facts.Finding) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	for _, f := range list {
		fmt.Fprintf(&b, "# key %s\n", f.Key)
		if err := enc.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestRuleRemoved shows for each rule that its findings come from it alone.
func TestRuleRemoved(t *testing.T) {
	t.Parallel()
	all, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	in := goldenInputs()["everything"]
	count := func(list []source) map[string]int {
		found, err := mustEngine(t, Options{}, list...).Eval(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, f := range found {
			n[f.Rule]++
		}
		return n
	}
	before := count(all)
	for i, s := range all {
		if s.name == "rules/lib.rego" {
			continue
		}
		id := ruleID(s.name)
		rest := append(append([]source{}, all[:i]...), all[i+1:]...)
		after := count(rest)
		if before[id] == 0 || after[id] != 0 {
			t.Errorf("%s: %d findings with it, %d without", id, before[id], after[id])
		}
		delete(after, id)
		for other, n := range after {
			if n != before[other] {
				t.Errorf("without %s, %s has %d findings instead of %d", id, other, n, before[other])
			}
		}
	}
}

func ruleID(file string) string {
	base := filepath.Base(file)
	return base[:len(base)-len(filepath.Ext(base))]
}
