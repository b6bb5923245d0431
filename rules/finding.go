package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/gpulint/gpulint/facts"
)

// result is a value of deny as read: pointers tell an empty text from none.
type result struct {
	Msg       *string
	Candidate *string
	Level     *string
	Targets   []string
	Code      int
	Predicted *string
	Fix       *string
	Key       *string
	Evidence  []facts.Evidence
	Path      *string
}

// fieldNames are the fields of a value of deny, as messages list them.
const fieldNames = "msg, candidate, level, targets, code, predicted, fix, key, evidence, path"

// finding turns a value of deny into a finding.
func (r *rule) finding(v ast.Value, doc *document) (facts.Finding, error) {
	res, err := readResult(v)
	if err != nil {
		return facts.Finding{}, err
	}
	f := facts.Finding{
		Subject:   doc.subject,
		Rule:      r.ID,
		Name:      r.Name,
		Level:     or(res.Level, r.Level),
		Message:   clean(*res.Msg),
		Targets:   res.Targets,
		Predicted: predicted(res, r.Predicts),
		Fix:       clean(or(res.Fix, r.Fix)),
		HelpURI:   r.HelpURI,
		Status:    facts.StatusActive,
	}
	var c facts.Candidate
	if res.Candidate != nil {
		var ok bool
		if c, ok = doc.candidates[*res.Candidate]; !ok {
			return f, fmt.Errorf("field candidate: the input has no candidate %q", *res.Candidate)
		}
	}
	f.Evidence = evidence(res, c)
	f.Key = key(res, c, f.Evidence)
	return f, nil
}

// evidence is what the rule gives, else the candidate's, of which a path picks
// its pieces.
func evidence(res result, c facts.Candidate) []facts.Evidence {
	list := res.Evidence
	if list == nil {
		list = slices.Clone(c.Evidence)
		if res.Path != nil {
			list = slices.DeleteFunc(list, func(e facts.Evidence) bool { return e.Path != *res.Path })
		}
	}
	if len(list) == 0 && res.Path != nil {
		list = []facts.Evidence{{Path: *res.Path}}
	}
	if list == nil {
		list = []facts.Evidence{}
	}
	return list
}

// key is what the rule gives, else the path, else the candidate's key, else the
// first path of the evidence.
func key(res result, c facts.Candidate, list []facts.Evidence) string {
	switch {
	case res.Key != nil:
		return *res.Key
	case res.Path != nil:
		return *res.Path
	case c.Key != "":
		return c.Key
	case len(list) > 0:
		return list[0].Path
	}
	return ""
}

func predicted(res result, fallback string) *facts.Predicted {
	p := facts.Predicted{Code: res.Code, Text: clean(or(res.Predicted, fallback))}
	if p == (facts.Predicted{}) {
		return nil
	}
	return &p
}

func or(s *string, fallback string) string {
	if s != nil {
		return *s
	}
	return fallback
}

// readResult reads a value of deny; an error names the field.
func readResult(v ast.Value) (result, error) {
	res := result{Targets: []string{}}
	j, err := ast.JSONWithOpt(v, ast.JSONOpt{SortSets: true})
	if err != nil {
		return res, fmt.Errorf("a value of deny is no JSON: %w", err)
	}
	object, ok := j.(map[string]any)
	if !ok {
		return res, fmt.Errorf("a value of deny is %s, want an object with the field msg", typeName(j))
	}
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := res.set(k, object[k]); err != nil {
			return res, fmt.Errorf("field %s: %w", clean(k), err)
		}
	}
	if res.Msg == nil || strings.TrimSpace(*res.Msg) == "" {
		return res, fmt.Errorf("field msg: missing or empty")
	}
	return res, nil
}

func (res *result) set(field string, v any) error {
	texts := map[string]**string{
		"msg": &res.Msg, "candidate": &res.Candidate, "level": &res.Level, "predicted": &res.Predicted,
		"fix": &res.Fix, "key": &res.Key, "path": &res.Path,
	}
	if p := texts[field]; p != nil {
		s, ok := v.(string)
		if !ok {
			return wrongType(v, "a string")
		}
		if field == "level" && !isLevel(s) {
			return fmt.Errorf("%q, want error, warning or note", clean(s))
		}
		*p = &s
		return nil
	}
	switch field {
	case "targets":
		return res.setTargets(v)
	case "code":
		n, ok := v.(json.Number)
		code, err := n.Int64()
		if !ok || err != nil || code < 0 || code > 1<<31-1 {
			return wrongType(v, "a whole number from 0")
		}
		res.Code = int(code)
		return nil
	case "evidence":
		return res.setEvidence(v)
	}
	return fmt.Errorf("unknown, there are %s", fieldNames)
}

func (res *result) setTargets(v any) error {
	list, ok := v.([]any)
	if !ok {
		return wrongType(v, "an array of strings")
	}
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return fmt.Errorf("holds %s, want strings", typeName(e))
		}
		res.Targets = append(res.Targets, s)
	}
	slices.Sort(res.Targets)
	res.Targets = slices.Compact(res.Targets)
	return nil
}

func (res *result) setEvidence(v any) error {
	if _, ok := v.([]any); !ok {
		return wrongType(v, "an array of objects")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&res.Evidence); err != nil {
		return fmt.Errorf("not as in the report: %w", err)
	}
	return nil
}

func wrongType(v any, want string) error {
	return fmt.Errorf("is %s, want %s", typeName(v), want)
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}
