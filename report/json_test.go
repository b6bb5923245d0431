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
	for _, r := range []*facts.Report{sample(), {}, many(3)} {
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

// randomReport makes a report of random parts. With sane set, its words are
// those that the rooms before the report use.
func randomReport(r *rand.Rand, sane bool) *facts.Report {
	text := func() string { return nasty[r.IntN(len(nasty))] }
	word := func(words ...string) string {
		if !sane && r.IntN(4) == 0 {
			return text()
		}
		return words[r.IntN(len(words))]
	}
	rep := &facts.Report{Tool: facts.Tool{Name: "gpulint", Version: text(), Matrix: text()}}
	for i := range r.IntN(6) {
		id := text() + string(rune('a'+i))
		rep.Subjects = append(rep.Subjects, facts.Subject{
			ID: id, Kind: word(facts.KindImage, facts.KindConfig), Ref: text(), Name: word("acme/a", "acme/b", ""),
			Platform: word("linux/amd64", "linux/arm64", ""), Verified: r.IntN(2) == 0,
		})
		rep.Verdicts = append(rep.Verdicts, facts.Verdict{Subject: id, Target: text(), Level: word(facts.LevelNative, facts.LevelUnknown)})
	}
	for range r.IntN(20) {
		f := facts.Finding{
			Subject: text(), Rule: word("GPU101", "GPU211", "ACME1"), Name: word("a-b", "x"), Level: word(facts.Error, facts.Warning, facts.Note),
			Message: text(), Fix: text(), HelpURI: text(), Fingerprint: hexOf(string("0123456789abcdef"[r.IntN(16)])),
			Status: word(facts.StatusActive, facts.StatusIgnored, facts.StatusBaseline), Reason: text(),
		}
		if n := len(rep.Subjects); n > 0 {
			f.Subject = rep.Subjects[r.IntN(n)].ID
		}
		for range r.IntN(5) {
			e := facts.Evidence{Path: text(), Package: text(), Detail: text()}
			switch r.IntN(3) {
			case 0:
				e.Layer = &facts.LayerRef{Index: r.IntN(9), Digest: text(), CreatedBy: text()}
			case 1:
				e.Source = &facts.SourceRef{File: text(), Line: r.IntN(3), Column: r.IntN(3)}
			}
			f.Evidence = append(f.Evidence, e)
		}
		rep.Findings = append(rep.Findings, f)
	}
	for range r.IntN(3) {
		rep.Failures = append(rep.Failures, facts.Failure{Ref: text(), Message: text(), Hint: text()})
	}
	return rep
}
