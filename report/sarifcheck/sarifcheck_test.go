package sarifcheck

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// edit changes one place of a SARIF file.
func edit(t *testing.T, data []byte, change func(doc, run, result, rule map[string]any)) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	run := doc["runs"].([]any)[0].(map[string]any)
	result := run["results"].([]any)[0].(map[string]any)
	rule := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)[0].(map[string]any)
	change(doc, run, result, rule)
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCheck breaks each invariant once.
func TestCheck(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile("../testdata/report.sarif")
	if err != nil {
		t.Fatal(err)
	}
	if p := Check(good); len(p) > 0 {
		t.Fatalf("the good file: %v", p)
	}
	uri := func(result map[string]any, v string) {
		location := result["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
		location["artifactLocation"].(map[string]any)["uri"] = v
	}
	type object = map[string]any
	for want, change := range map[string]func(doc, run, result, rule object){
		"version is":                 func(d, _, _, _ object) { d["version"] = "2.0.0" },
		"$schema is":                 func(d, _, _, _ object) { delete(d, "$schema") },
		"0 runs":                     func(d, _, _, _ object) { d["runs"] = []any{} },
		"21 runs":                    func(d, r, _, _ object) { d["runs"] = repeat(r, 21) },
		"occurs twice":               func(d, r, _, _ object) { d["runs"] = repeat(r, 2) },
		"automationDetails.id is":    func(_, r, _, _ object) { delete(r, "automationDetails") },
		"results is no array":        func(_, r, _, _ object) { r["results"] = nil },
		"5001 results":               func(_, r, x, _ object) { r["results"] = repeat(x, 5001) },
		"0 invocations":              func(_, r, _, _ object) { delete(r, "invocations") },
		"executionSuccessful is":     func(_, r, _, _ object) { r["invocations"] = []any{object{}} },
		"no notification":            func(_, r, _, _ object) { r["invocations"] = []any{object{"executionSuccessful": false}} },
		"the tool has no version":    func(_, r, _, _ object) { delete(r["tool"].(object)["driver"].(object), "version") },
		"no help":                    func(_, _, _, x object) { delete(x, "help") },
		"description of 0":           func(_, _, _, x object) { delete(x, "fullDescription") },
		"description of 2000":        func(_, _, _, x object) { x["shortDescription"] = object{"text": strings.Repeat("x", 2000)} },
		"name of 0":                  func(_, _, _, x object) { delete(x, "name") },
		"helpUri is":                 func(_, _, _, x object) { x["helpUri"] = "rules.md" },
		"level is \"none\"":          func(_, _, x, _ object) { x["level"] = "none" },
		"no precision":               func(_, _, _, x object) { delete(x["properties"].(object), "precision") },
		"20 tags":                    func(_, _, _, x object) { x["properties"].(object)["tags"] = repeat("a", 20) },
		"one of security-severity":   func(_, _, _, x object) { x["properties"].(object)["security-severity"] = "9.0" },
		"ruleIndex does not":         func(_, _, x, _ object) { x["ruleIndex"] = 99 },
		"message of 0":               func(_, _, x, _ object) { x["message"] = object{"text": ""} },
		"0 locations":                func(_, _, x, _ object) { delete(x, "locations") },
		"1001 related":               func(_, _, x, _ object) { x["relatedLocations"] = repeat(x["locations"].([]any)[0], 1001) },
		"no fingerprint":             func(_, _, x, _ object) { x["partialFingerprints"] = object{} },
		"primaryLocationLineHash is": func(_, _, x, _ object) { x["partialFingerprints"].(object)["primaryLocationLineHash"] = "x:1" },
		`uri ""`:                     func(_, _, x, _ object) { uri(x, "") },
		`uri "/etc/x"`:               func(_, _, x, _ object) { uri(x, "/etc/x") },
		`uri "debian:12/x"`:          func(_, _, x, _ object) { uri(x, "debian:12/x") },
		`uri "a/../b"`:               func(_, _, x, _ object) { uri(x, "a/../b") },
		`uri "a//b"`:                 func(_, _, x, _ object) { uri(x, "a//b") },
		`uri "a b"`:                  func(_, _, x, _ object) { uri(x, "a b") },
		`uri "a%zz"`:                 func(_, _, x, _ object) { uri(x, "a%zz") },
		`uri "ä"`:                    func(_, _, x, _ object) { uri(x, "ä") },
		"region of": func(_, _, x, _ object) {
			delete(x["locations"].([]any)[0].(object)["physicalLocation"].(object), "region")
		},
	} {
		problems := Check(edit(t, good, change))
		if !strings.Contains(fmt.Sprint(problems), want) {
			t.Errorf("%q is not told: %v", want, problems)
		}
	}
	if len(Check([]byte("x"))) != 1 {
		t.Error("no JSON is accepted")
	}
}

func repeat(v any, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = v
	}
	return out
}
