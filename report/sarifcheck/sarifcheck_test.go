package sarifcheck

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

type object = map[string]any

// edit changes one place of a SARIF file.
func edit(t *testing.T, data []byte, change func(doc, run, result, rule object)) []byte {
	t.Helper()
	var doc object
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	run := doc["runs"].([]any)[0].(object)
	result := run["results"].([]any)[0].(object)
	rule := run["tool"].(object)["driver"].(object)["rules"].([]any)[0].(object)
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
	place := func(result object) object {
		return result["locations"].([]any)[0].(object)["physicalLocation"].(object)
	}
	uri := func(result object, v string) { place(result)["artifactLocation"].(object)["uri"] = v }
	for want, change := range map[string]func(doc, run, result, rule object){
		"version is":                 func(d, _, _, _ object) { d["version"] = "2.0.0" },
		"$schema is":                 func(d, _, _, _ object) { delete(d, "$schema") },
		"0 runs":                     func(d, _, _, _ object) { d["runs"] = []any{} },
		"21 runs":                    func(d, r, _, _ object) { d["runs"] = repeat(r, 21) },
		"occurs twice":               func(d, r, _, _ object) { d["runs"] = repeat(r, 2) },
		"automationDetails.id is":    func(_, r, _, _ object) { delete(r, "automationDetails") },
		"results is no array":        func(_, r, _, _ object) { r["results"] = nil },
		"5001 results":               func(_, r, _, _ object) { r["results"] = repeat(object{}, 5001) },
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
		`uri "a/%2E%2e/b"`:           func(_, _, x, _ object) { uri(x, "a/%2E%2e/b") },
		`uri "a?b"`:                  func(_, _, x, _ object) { uri(x, "a?b") },
		`uri "a\\b"`:                 func(_, _, x, _ object) { uri(x, `a\b`) },
		"more than 10 MB":            func(d, _, _, _ object) { d["properties"] = noise(10_100_000) },
		"25001 rules":                func(_, r, _, _ object) { r["tool"].(object)["driver"].(object)["rules"] = repeat(object{}, 25001) },
		"is there twice":             func(_, r, _, x object) { r["tool"].(object)["driver"].(object)["rules"] = repeat(x, 2) },
		"rule 0 has no id":           func(_, _, _, x object) { delete(x, "id") },
		"rule GPU101: level is":      func(_, _, _, x object) { delete(x, "defaultConfiguration") },
		"security-severity is":       func(_, _, _, x object) { x["properties"].(object)["security-severity"] = "10.1" },
		"message of 1025":            func(_, _, x, _ object) { x["message"] = object{"text": strings.Repeat("x", 1025)} },
		"message with a link":        func(_, _, x, _ object) { x["message"] = object{"text": "[x](http://y)"} },
		"or placeholder":             func(_, _, x, _ object) { x["message"] = object{"text": "{0}"} },
		"hidden characters":          func(_, _, x, _ object) { x["message"] = object{"text": "a\u202eb"} },
		"2 locations":                func(_, _, x, _ object) { x["locations"] = repeat(x["locations"].([]any)[0], 2) },
		"have the id 1":              func(_, _, x, _ object) { x["relatedLocations"] = repeat(x["relatedLocations"].([]any)[0], 2) },
		"run 0: message of 0": func(_, r, _, _ object) {
			r["invocations"] = []any{object{"executionSuccessful": true, "toolExecutionNotifications": []any{object{}}}}
		},
		"no region of":                 func(_, _, x, _ object) { delete(place(x), "region") },
		"is not counted from 1":        func(_, _, x, _ object) { place(x)["region"].(object)["startLine"] = 0 },
		"libcuda.so.535.161.08\" ends": func(_, _, x, _ object) { place(x)["region"].(object)["startColumn"] = 9 },
		"the tool is \"other\"":        func(_, r, _, _ object) { r["tool"].(object)["driver"].(object)["name"] = "other" },
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

// noise is text that hardly compresses.
func noise(n int) string {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(b) // it cannot fail
	return base64.StdEncoding.EncodeToString(b)
}
