package report

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/report/sarifcheck"
)

// readResult is what the tests read of a result.
type readResult struct {
	Message   struct{ Text string }
	Locations []struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           struct{ StartLine, StartColumn int }
		}
		LogicalLocations []struct{ Name, FullyQualifiedName, Kind string }
	}
	RelatedLocations []struct {
		Message          struct{ Text string }
		PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
	}
	PartialFingerprints map[string]string
	Suppressions        []struct{ Kind, Justification string }
	BaselineState       string
}

func (r readResult) uri() string { return r.Locations[0].PhysicalLocation.ArtifactLocation.URI }

func (r readResult) related() []string {
	var out []string
	for _, l := range r.RelatedLocations {
		out = append(out, l.PhysicalLocation.ArtifactLocation.URI)
	}
	return out
}

// results renders findings of one image and reads the results.
func results(t *testing.T, o Options, fs ...facts.Finding) []readResult {
	t.Helper()
	r := &facts.Report{Subjects: []facts.Subject{{ID: "acme/a:1", Kind: facts.KindImage, Ref: "acme/a:1", Name: "acme/a"}}}
	for i, f := range fs {
		f.Subject, f.Rule, f.Level = "acme/a:1", "GPU101", facts.Error
		f.Message = either(f.Message, "m")
		f.Status = either(f.Status, facts.StatusActive)
		f.Fingerprint = hexOf(fmt.Sprint(i))
		r.Findings = append(r.Findings, f)
	}
	out := render(t, "sarif", o, r)
	for _, p := range sarifcheck.Check(out) {
		t.Error(p)
	}
	var log struct {
		Runs []struct{ Results []readResult }
	}
	if err := json.Unmarshal(out, &log); err != nil {
		t.Fatal(err)
	}
	return log.Runs[0].Results
}

// TestSARIFLocation holds which place a result is shown at, and that all other
// evidence stands beside it.
func TestSARIFLocation(t *testing.T) {
	t.Parallel()
	first := facts.Evidence{Path: "/usr/lib/a:1.so"}
	source := facts.Evidence{Path: "/etc/b", Source: &facts.SourceRef{File: `./docker\Dockerfile`, Line: 7, Column: 3}}
	for _, tt := range []struct {
		name, anchor string
		evidence     []facts.Evidence
		uri, logical string
		line, column int
		hash         bool
		related      []string
	}{
		{"path", "", []facts.Evidence{first, {Path: "/etc/c"}}, "usr/lib/a%3A1.so", "acme/a:1//usr/lib/a:1.so", 1, 1, true, []string{"etc/c"}},
		{"source behind a path", "", []facts.Evidence{first, source}, "docker/Dockerfile", "acme/a:1//etc/b", 7, 3, false, []string{"usr/lib/a%3A1.so"}},
		{"source and anchor", "x/y", []facts.Evidence{source, first}, "docker/Dockerfile", "acme/a:1//etc/b", 7, 3, false, []string{"usr/lib/a%3A1.so"}},
		{"anchor", "x/../Docker file", []facts.Evidence{first, {Path: "/etc/c"}}, "x/Docker%20file", "acme/a:1//usr/lib/a:1.so", 1, 1, false, []string{"etc/c"}},
		{"no evidence", "", nil, "acme/a", "acme/a:1", 1, 1, true, nil},
		{"root", "", []facts.Evidence{{Path: "/"}}, "acme/a", "acme/a:1//", 1, 1, true, nil},
		{"no path", "", []facts.Evidence{{Detail: "CUDA_VERSION=12.4"}}, "acme/a", "acme/a:1", 1, 1, true, nil},
	} {
		r := results(t, Options{Anchor: tt.anchor}, facts.Finding{Evidence: tt.evidence})[0]
		region := r.Locations[0].PhysicalLocation.Region
		if r.uri() != tt.uri || region.StartLine != tt.line || region.StartColumn != tt.column {
			t.Errorf("%s: at %s %+v", tt.name, r.uri(), region)
		}
		if l := r.Locations[0].LogicalLocations; len(l) != 1 || l[0].FullyQualifiedName != tt.logical || l[0].Kind != "resource" {
			t.Errorf("%s: logical %+v", tt.name, l)
		}
		if _, ok := r.PartialFingerprints["primaryLocationLineHash"]; ok != tt.hash {
			t.Errorf("%s: fingerprints %v", tt.name, r.PartialFingerprints)
		}
		if !slices.Equal(r.related(), tt.related) {
			t.Errorf("%s: related %v", tt.name, r.related())
		}
	}
}

func TestSARIFStatus(t *testing.T) {
	t.Parallel()
	fs := []facts.Finding{{}, {Status: facts.StatusBaseline}, {Status: facts.StatusIgnored, Reason: "--ignore\x1b[2J"}}
	r := results(t, Options{ShowIgnored: true}, fs...)
	if r[0].BaselineState != "new" || r[1].BaselineState != "unchanged" || r[2].BaselineState != "new" {
		t.Errorf("baseline: %+v", r)
	}
	if s := r[2].Suppressions; len(s) != 1 || s[0].Kind != "external" || s[0].Justification != `--ignore\x1b[2J` {
		t.Errorf("suppressions %+v", s)
	}
	if len(r[0].Suppressions)+len(r[1].Suppressions) > 0 {
		t.Error("a finding that counts is suppressed")
	}
	if r := results(t, Options{}, fs...); len(r) != 2 {
		t.Errorf("%d results: ignored ones would be open alerts", len(r))
	}
	if r := results(t, Options{}, facts.Finding{}); r[0].BaselineState != "" {
		t.Error("compared with a baseline that does not exist")
	}
}

// TestSARIFMessage holds that texts of any length leave all parts in the
// message, and that what is left out is said.
func TestSARIFMessage(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"long ", "日本 ", "\U0001f600", "\xff"} {
		text := strings.Repeat(word, 3000)
		f := facts.Finding{Message: text, Fix: text, Targets: slices.Repeat([]string{text}, 5), Predicted: &facts.Predicted{Code: 803, Text: text}}
		for range 500 {
			f.Evidence = append(f.Evidence, facts.Evidence{
				Path: "/x", Package: text, Layer: &facts.LayerRef{Index: 3, DiffID: "[x](y){0}", CreatedBy: text},
			})
		}
		r := results(t, Options{}, f)[0]
		for _, part := range []string{"layer 3 [x] (y){ 0 } (", "package ", "Targets: ", "error 803", "399 further places not shown here."} {
			if !strings.Contains(r.Message.Text, part) {
				t.Errorf("%q: no %q in %q", word, part, r.Message.Text)
			}
		}
		if !strings.Contains(r.RelatedLocations[0].Message.Text, "/x. Brought by layer 3") {
			t.Errorf("related: %q", r.RelatedLocations[0].Message.Text)
		}
	}
}

// TestSARIFSize holds that a file of names that do not compress stays small
// enough: further places go first, then the least grave results.
func TestSARIFSize(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	r := &facts.Report{}
	for i := range 60 {
		f := facts.Finding{Subject: "a", Rule: "GPU102", Level: facts.Warning, Message: "w", Fingerprint: hexOf("1"), Status: facts.StatusActive}
		if i == 50 {
			f.Rule, f.Level = "GPU101", facts.Error
		}
		for range 10 {
			f.Evidence = append(f.Evidence, facts.Evidence{Path: fmt.Sprintf("/%x%x", random.Uint64(), random.Uint64())})
		}
		r.Findings = append(r.Findings, f)
	}
	for size, want := range map[int]struct{ results, related bool }{
		1_000_000: {true, true}, 8_000: {true, false}, 3_000: {false, false}, 10: {false, false},
	} {
		var b strings.Builder
		err := writeSmall(&b, size, func(results, related int) (any, error) {
			return (&sarifBuilder{report: r, results: results, related: related}).log()
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range sarifcheck.Check([]byte(b.String())) {
			t.Error(p)
		}
		all := strings.Count(b.String(), `"ruleId"`) == 60
		related := strings.Contains(b.String(), `"relatedLocations"`)
		if all != want.results || related != want.related || size > 10 && !compressedFits([]byte(b.String()), size) {
			t.Errorf("%d: %d results, related %v", size, strings.Count(b.String(), `"ruleId"`), related)
		}
		if size > 10 && !strings.Contains(b.String(), `"ruleId": "GPU101"`) {
			t.Errorf("%d: the error was left out", size)
		}
		if !all && !strings.Contains(b.String(), "results were left out") {
			t.Errorf("%d: nothing says what is left out", size)
		}
	}
}
