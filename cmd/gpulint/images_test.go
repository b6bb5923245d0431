package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/report/sarifcheck"
	"github.com/gpulint/gpulint/rules"
)

var update = flag.Bool("update", false, "write the golden files anew")

// imageWant is NAME.want.json; internal/genimages describes its fields.
type imageWant struct {
	About    string   `json:"about"`
	Args     []string `json:"args"`
	Status   int      `json:"status"`
	Findings []string `json:"findings"`
	Verdicts []string `json:"verdicts"`
}

const imagesDir = "../../testdata/images"

// images lists the cases of testdata/images.
func images(t *testing.T) []string {
	t.Helper()
	tars, err := filepath.Glob(imagesDir + "/*.tar")
	if err != nil || len(tars) < 20 {
		t.Fatalf("found %d images: %v", len(tars), err)
	}
	names := make([]string, 0, len(tars))
	for _, p := range tars {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".tar"))
	}
	return names
}

func readWant(t *testing.T, name string) imageWant {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(imagesDir, name+".want.json"))
	if err != nil {
		t.Fatal(err)
	}
	var w imageWant
	if err := json.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// gpulint runs the program.
func gpulint(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errw bytes.Buffer
	status = cli.Main(t.Context(), args, strings.NewReader(""), &out, &errw)
	return status, out.String(), errw.String()
}

// TestImages holds gpulint to what testdata/images expects.
func TestImages(t *testing.T) {
	t.Parallel()
	for _, name := range images(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := readWant(t, name)
			args := append([]string{"image", "-f", "json", "--input", filepath.Join(imagesDir, name+".tar")}, w.Args...)
			status, out, errw := gpulint(t, args...)
			if status != w.Status || errw != "" {
				t.Errorf("status %d, want %d; standard error: %s", status, w.Status, errw)
			}
			var r facts.Report
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(w.Findings, findingLines(r.Findings)); diff != "" {
				t.Errorf("%s: findings (-want +got):\n%s", w.About, diff)
			}
			verdicts := []string{}
			for _, v := range r.Verdicts {
				verdicts = append(verdicts, fmt.Sprintf("%s %s %s %d", v.Target, v.RuntimeMode, v.Level, v.Code))
			}
			if diff := cmp.Diff(append([]string{}, w.Verdicts...), verdicts); diff != "" {
				t.Errorf("%s: verdicts (-want +got):\n%s", w.About, diff)
			}
			// Reading every byte finds the same.
			_, whole, _ := gpulint(t, append(args, "--verify")...)
			var v facts.Report
			if err := json.Unmarshal([]byte(whole), &v); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(findingLines(r.Findings), findingLines(v.Findings)); diff != "" {
				t.Errorf("--verify finds something else (-without +with):\n%s", diff)
			}
			for _, s := range v.Subjects {
				if !s.Verified {
					t.Errorf("--verify left %s unverified", s.ID)
				}
			}
		})
	}
}

// findingLines writes findings, each with its evidence.
func findingLines(fs []facts.Finding) []string {
	lines := []string{}
	for _, f := range fs {
		lines = append(lines, f.Rule+" "+f.Level)
		for _, e := range f.Evidence {
			path, layer := e.Path, ""
			if path == "" {
				path = e.Detail // of the configuration
			}
			if e.Layer != nil {
				layer = fmt.Sprintf(" @%d", e.Layer.Index)
			}
			lines = append(lines, strings.TrimRight("  "+path+layer+" "+e.Package, " "))
		}
	}
	return lines
}

// TestImagesSARIF holds the SARIF of every image against the schema, the
// invariants, the golden file of some, and Microsoft's validator where GPULINT_MULTITOOL names it.
func TestImagesSARIF(t *testing.T) {
	t.Parallel()
	multitool := os.Getenv("GPULINT_MULTITOOL")
	schema, err := jsonschema.NewCompiler().Compile("../../report/testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range images(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := readWant(t, name)
			file := filepath.Join(t.TempDir(), name+".sarif")
			args := append([]string{"image", "-f", "sarif=" + file, "--input", filepath.Join(imagesDir, name+".tar")}, w.Args...)
			status, _, errw := gpulint(t, args...)
			if status != w.Status || errw != "" {
				t.Errorf("status %d, want %d; standard error: %s", status, w.Status, errw)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range sarifcheck.Check(got) {
				t.Error(problem)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(doc); err != nil {
				t.Error(err)
			}
			if multitool != "" {
				problems, err := sarifcheck.Multitool(t.Context(), multitool, file)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range problems {
					t.Error(p)
				}
			}
			if name == "bundled-libcuda" || name == "multi-platform" {
				golden(t, filepath.Join("testdata", "sarif", name+".sarif"), got)
			}
		})
	}
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", file, diff)
	}
}

// TestEveryRuleHasAnImage holds that for each built-in rule an image expects
// its finding: taking the rule out fails TestImages.
func TestEveryRuleHasAnImage(t *testing.T) {
	t.Parallel()
	engine, err := rules.New(rules.Options{})
	if err != nil {
		t.Fatal(err)
	}
	expected := map[string]bool{}
	for _, name := range images(t) {
		for _, line := range readWant(t, name).Findings {
			rule, _, _ := strings.Cut(line, " ")
			expected[rule] = true
		}
	}
	for _, r := range engine.Rules() {
		if !expected[r.ID] {
			t.Errorf("no image of testdata/images is a case of %s", r.ID)
		}
	}
}
