package report

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/report/sarifcheck"
)

// sarifSchema is the schema of OASIS, with errata 01, as go-sarif v3 has it.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	return compileSchema(t, data)
}

// checkSARIF holds a file against the schema and the invariants.
func checkSARIF(t *testing.T, s *jsonschema.Schema, data []byte) {
	t.Helper()
	for _, p := range sarifcheck.Check(data) {
		t.Error(p)
	}
	validate(t, s, data)
}

func TestSARIFIsValid(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	reports := []*facts.Report{sample(), {}, many(maxRuns), {Failures: []facts.Failure{{Ref: "a", Message: "b"}}}}
	for _, s := range append(nasty, worstName) {
		reports = append(reports, hostile(s))
	}
	for _, r := range reports {
		for _, o := range []Options{{}, {ShowIgnored: true, Anchor: "docker/../x y:z/Dockerfile"}, {Severity: facts.Error}} {
			checkSARIF(t, schema, render(t, "sarif", o, r))
		}
	}
}

func TestSARIFOfRandomReports(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		for _, part := range SplitSARIF(randomReport(r, false)) {
			checkSARIF(t, schema, render(t, "sarif", Options{ShowIgnored: true}, part))
		}
	}
}

// TestMultitool has Microsoft's validator look at the golden files.
func TestMultitool(t *testing.T) {
	t.Parallel()
	binary := os.Getenv("GPULINT_MULTITOOL")
	if binary == "" {
		t.Skip("GPULINT_MULTITOOL is not set; make test sets it")
	}
	files, err := filepath.Glob("testdata/*.sarif")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	file := filepath.Join(t.TempDir(), "hostile.sarif")
	if err := os.WriteFile(file, render(t, "sarif", Options{ShowIgnored: true}, hostile("[x](http://y) {0} ::a:b/../c")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, file) {
		problems, err := sarifcheck.Multitool(t.Context(), binary, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", f, p)
		}
	}
}

// TestSARIFResultCap holds that the worst results stay, and that the rest is
// told.
func TestSARIFResultCap(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	r := &facts.Report{Subjects: []facts.Subject{{ID: "a", Kind: facts.KindImage, Ref: "a"}}}
	for range maxResults + 10 {
		r.Findings = append(r.Findings, facts.Finding{Subject: "a", Rule: "GPU102", Level: facts.Warning, Message: "w", Fingerprint: hexOf("1"), Status: facts.StatusActive})
	}
	r.Findings = append(r.Findings, facts.Finding{Subject: "a", Rule: "GPU101", Level: facts.Error, Message: "e", Fingerprint: hexOf("2"), Status: facts.StatusActive})
	out := render(t, "sarif", Options{}, r)
	checkSARIF(t, schema, out)
	text := string(out)
	if n := strings.Count(text, `"ruleId"`); n != maxResults {
		t.Errorf("%d results", n)
	}
	if !strings.Contains(text, `"ruleId": "GPU101"`) {
		t.Error("the error was left out")
	}
	if !strings.Contains(text, "11 results were left out") {
		t.Error("nothing says that results were left out")
	}
}

// TestSARIFManyPlaces holds that a finding of many files stays small, and says
// what it leaves out.
func TestSARIFManyPlaces(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	f := facts.Finding{Subject: "a", Rule: "GPU101", Level: facts.Error, Message: "m", Fingerprint: hexOf("1"), Status: facts.StatusActive}
	for range 500 {
		f.Evidence = append(f.Evidence, facts.Evidence{Path: "/x"})
	}
	out := render(t, "sarif", Options{}, &facts.Report{Findings: []facts.Finding{f}})
	checkSARIF(t, schema, out)
	if !strings.Contains(string(out), "399 further places not shown here") {
		t.Errorf("nothing says what is left out: %.1500s", out)
	}
}

func TestSplitSARIF(t *testing.T) {
	t.Parallel()
	schema := sarifSchema(t)
	r := many(45)
	r.Failures = []facts.Failure{{Ref: "b", Message: "broken"}}
	parts := SplitSARIF(r)
	if len(parts) != 3 {
		t.Fatalf("%d files", len(parts))
	}
	var ids []string
	results := 0
	for _, p := range parts {
		out := render(t, "sarif", Options{}, p)
		checkSARIF(t, schema, out)
		var log struct {
			Runs []struct {
				AutomationDetails struct{ ID string }
				Results           []any
			}
		}
		if err := json.Unmarshal(out, &log); err != nil {
			t.Fatal(err)
		}
		for _, run := range log.Runs {
			ids = append(ids, run.AutomationDetails.ID)
			results += len(run.Results)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(slices.Clone(ids))) != 46 || results != 45 {
		t.Errorf("%d runs, %d categories, %d results", len(ids), len(slices.Compact(ids)), results)
	}
	if one := many(20); len(SplitSARIF(one)) != 1 {
		t.Error("20 runs fit one file")
	}
	f, err := Get("sarif", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(&strings.Builder{}, r); err == nil {
		t.Error("46 runs were written into one file")
	}
}

func TestRelativeURI(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/usr/lib/libcuda.so.1": "usr/lib/libcuda.so.1",
		"debian:12/x":           "debian%3A12/x",
		"../../etc/passwd":      "etc/passwd",
		"/a b/%41/ü":            "a%20b/%2541/%C3%BC",
		`C:\x`:                  "C%3A%5Cx",
		"/":                     "",
		"//./..":                "",
		"/opt/libstdc++.so.6":   "opt/libstdc++.so.6",
	} {
		if got := relativeURI(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	if long := relativeURI(strings.Repeat("/abc", 5000)); len(long) > maxURI+20 || strings.HasSuffix(long, "/") {
		t.Errorf("a long path has %d bytes", len(long))
	}
	if long := relativeURI(strings.Repeat("ä", 5000)); len(long) > 100 || strings.Contains(long, "%") {
		t.Errorf("a long name: %s", long)
	}
}
