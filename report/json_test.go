package report

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gpulint/gpulint/facts"
)

func compileSchema(t *testing.T, data []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:schema", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:schema")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%v\n%.2000s", err, data)
	}
}

// TestJSONSchema holds that the published schema describes what is written: it
// allows no property that it does not name.
func TestJSONSchema(t *testing.T) {
	t.Parallel()
	s := compileSchema(t, Schema())
	reports := []*facts.Report{sample(), {}, many(3), {Failures: []facts.Failure{{Ref: "a", Message: "b"}}}}
	for _, text := range append(nasty, worstName) {
		reports = append(reports, hostileButValid(text))
	}
	for _, r := range reports {
		validate(t, s, render(t, "json", Options{}, r))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		validate(t, s, render(t, "json", Options{}, randomReport(r, true)))
	}
}

// TestJSONSchemaRefuses holds that the schema is no rubber stamp.
func TestJSONSchemaRefuses(t *testing.T) {
	t.Parallel()
	s := compileSchema(t, Schema())
	good := render(t, "json", Options{}, sample())
	for _, change := range [][2]string{
		{`"level": "error"`, `"level": "fatal"`},
		{`"level": "minor"`, `"level": "ok"`},
		{`"findings": [`, `"results": [`},
		{`"rule": "GPU101"`, `"ruleId": "GPU101"`},
		{`"index": 1`, `"index": -1`},
		{`gpulint.dev/report/v1`, `gpulint.dev/report/v2`},
	} {
		bad := bytes.Replace(good, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("nothing to replace: %s", change[0])
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bad))
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("%s is accepted", change[1])
		}
	}
}
