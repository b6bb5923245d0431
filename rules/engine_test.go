package rules

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpulint/gpulint/facts"
)

// policy is a rule of a test: METADATA and the given body.
func policy(id, name, body string) source {
	return source{name: id + ".rego", text: fmt.Sprintf(`# METADATA
# title: A rule of a test
# custom:
#   name: %s
#   level: warning
#   needs: [driver_files]
#   predicts: it fails
#   fix: do something
package gpulint.%s

%s
`, name, id, body)}
}

func oneFile() *facts.Input {
	return &facts.Input{
		Schema:  facts.SchemaInput,
		Subject: facts.InputSubject{ID: "image"},
		DriverFiles: []facts.DriverCandidate{{
			Candidate: facts.Candidate{
				ID: "driver_files/0", Key: "/usr/lib/libcuda.so.<RM>",
				Evidence: []facts.Evidence{
					{Path: "/usr/lib/libcuda.so.535.161.08", Layer: &facts.LayerRef{Index: 2}},
					{Path: "/usr/lib/libcuda.so.1", Layer: &facts.LayerRef{Index: 3}},
				},
			},
			Class: "library", Names: []string{"libcuda.so"}, Paths: []string{"/usr/lib/libcuda.so.535.161.08"},
		}},
	}
}

func mustEngine(t testing.TB, o Options, list ...source) *Engine {
	t.Helper()
	e, err := newEngine(list, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestFindingFields(t *testing.T) {
	t.Parallel()
	layer2 := facts.Evidence{Path: "/usr/lib/libcuda.so.535.161.08", Layer: &facts.LayerRef{Index: 2}}
	layer3 := facts.Evidence{Path: "/usr/lib/libcuda.so.1", Layer: &facts.LayerRef{Index: 3}}
	base := facts.Finding{
		Subject: "image", Rule: "T1", Name: "test", Level: facts.Warning, Message: "m",
		Predicted: &facts.Predicted{Text: "it fails"}, Fix: "do something",
		HelpURI: docsURL + "T1.md", Status: facts.StatusActive, Targets: []string{},
	}
	for name, tc := range map[string]struct {
		fields string
		want   func(*facts.Finding)
	}{
		"defaults": {``, func(f *facts.Finding) { f.Evidence = []facts.Evidence{} }},
		"candidate": {`"candidate": "driver_files/0"`, func(f *facts.Finding) {
			f.Key, f.Evidence = "/usr/lib/libcuda.so.<RM>", []facts.Evidence{layer2, layer3}
		}},
		"path of candidate": {`"candidate": "driver_files/0", "path": "/usr/lib/libcuda.so.1"`, func(f *facts.Finding) {
			f.Key, f.Evidence = "/usr/lib/libcuda.so.1", []facts.Evidence{layer3}
		}},
		"path": {`"path": "/etc/x"`, func(f *facts.Finding) {
			f.Key, f.Evidence = "/etc/x", []facts.Evidence{{Path: "/etc/x"}}
		}},
		"evidence": {`"key": "k", "evidence": [{"path": "/a", "layer": {"index": 1, "size": 5}, "detail": "d"}]`, func(f *facts.Finding) {
			f.Key, f.Evidence = "k", []facts.Evidence{{Path: "/a", Layer: &facts.LayerRef{Index: 1, Size: 5}, Detail: "d"}}
		}},
		"texts": {`"level": "note", "targets": {"b", "a"}, "code": 35, "predicted": "p", "fix": "f"`, func(f *facts.Finding) {
			f.Level, f.Targets, f.Fix = facts.Note, []string{"a", "b"}, "f"
			f.Predicted, f.Evidence = &facts.Predicted{Code: 35, Text: "p"}, []facts.Evidence{}
		}},
		"nothing predicted": {`"predicted": "", "fix": ""`, func(f *facts.Finding) {
			f.Predicted, f.Fix, f.Evidence = nil, "", []facts.Evidence{}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := strings.TrimSuffix(`"msg": "m", `+tc.fields, ", ")
			e := mustEngine(t, Options{}, policy("T1", "test", `deny contains f if { f := {`+fields+`} }`))
			got, err := e.Eval(context.Background(), oneFile())
			if err != nil {
				t.Fatal(err)
			}
			want := base
			tc.want(&want)
			if d := cmp.Diff([]facts.Finding{want}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFindingErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ value, want string }{
		{`"text"`, "T1.rego:11: a value of deny is a string, want an object with the field msg"},
		{`{"level": "note"}`, "T1.rego:11: field msg: missing or empty"},
		{`{"msg": " "}`, "field msg: missing or empty"},
		{`{"msg": 1}`, "field msg: is a number, want a string"},
		{`{"msg": "m", "mesage": "m"}`, "field mesage: unknown, there are msg, candidate"},
		{`{"msg": "m", "level": "fatal"}`, `field level: "fatal", want error, warning or note`},
		{`{"msg": "m", "level": null}`, "field level: is null, want a string"},
		{`{"msg": "m", "targets": "a"}`, "field targets: is a string, want an array of strings"},
		{`{"msg": "m", "targets": [{}]}`, "field targets: holds an object, want strings"},
		{`{"msg": "m", "code": "35"}`, "field code: is a string, want a whole number"},
		{`{"msg": "m", "code": 1.5}`, "field code: is a number, want a whole number"},
		{`{"msg": "m", "code": 1e400}`, "field code: is a number, want a whole number"},
		{`{"msg": "m", "evidence": {}}`, "field evidence: is an object, want an array of objects"},
		{`{"msg": "m", "evidence": [{"pth": "/a"}]}`, `field evidence: not as in the report: json: unknown field "pth"`},
		{`{"msg": "m", "candidate": "nope"}`, `field candidate: the input has no candidate "nope"`},
	} {
		t.Run(tc.value, func(t *testing.T) {
			t.Parallel()
			e := mustEngine(t, Options{}, policy("T1", "test", `deny contains f if { f := `+tc.value+` }`))
			_, err := e.Eval(context.Background(), oneFile())
			if err == nil || !strings.HasPrefix(err.Error(), "rule T1: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want rule T1 and %q", err, tc.want)
			}
		})
	}
}

func TestPolicyErrors(t *testing.T) {
	t.Parallel()
	ok := policy("T1", "test", `deny contains f if { f := {"msg": "m"} }`)
	replaced := func(from, to string) source { return source{"T1.rego", strings.Replace(ok.text, from, to, 1)} }
	for name, tc := range map[string]struct {
		list []source
		want string
	}{
		"syntax":       {[]source{replaced("deny contains", "deny contain")}, "T1.rego:11: "},
		"empty":        {[]source{{"T1.rego", ""}}, "T1.rego"},
		"package":      {[]source{replaced("package gpulint.T1", "package main")}, "T1.rego:9: the package is main: want `package gpulint.ID`"},
		"no metadata":  {[]source{{"T1.rego", "package gpulint.T1\n\ndeny contains f if { f := {} }\n"}}, "T1.rego:1: no METADATA"},
		"no deny":      {[]source{policy("T1", "test", "x := 1")}, "T1.rego:9: no `deny contains f if"},
		"deny no set":  {[]source{policy("T1", "test", "deny := true")}, "T1.rego:11: deny must be a set"},
		"level":        {[]source{replaced("level: warning", "level: fatal")}, `METADATA custom.level is "fatal"`},
		"boolean":      {[]source{replaced("level: warning", "level: off")}, "METADATA custom.level is "},
		"name":         {[]source{replaced("name: test", "name: Some Test")}, `METADATA custom.name is "Some Test"`},
		"title":        {[]source{replaced("# title: A rule of a test\n", "")}, "METADATA has no title"},
		"id":           {[]source{replaced("#   name:", "#   id: T2\n#   name:")}, "METADATA custom.id is T2, the package says T1"},
		"kind":         {[]source{replaced("driver_files", "files")}, "METADATA custom.needs: no kind files, there are driver_files"},
		"needs":        {[]source{replaced("[driver_files]", "driver_files")}, "METADATA custom.needs is string, want a list"},
		"no needs":     {[]source{replaced("#   needs: [driver_files]\n", "")}, "METADATA custom.needs is missing"},
		"same package": {[]source{ok, {"other.rego", ok.text}}, "T1 is taken by T1.rego"},
		"same name":    {[]source{ok, policy("T2", "test", `deny contains f if { f := {} }`)}, "T2.rego: test is taken by T1.rego"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newEngine(tc.list, Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestForbiddenBuiltins(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		`http.send({"method": "get", "url": "http://localhost"})`, `opa.runtime()`, `net.lookup_ip_addr("localhost")`,
		`rego.parse_module("x", "package x")`, `time.now_ns()`, `rand.intn("x", 5)`, `uuid.rfc4122("x")`,
		`json.match_schema({}, {"$ref": "http://localhost"})`,
	} {
		e := mustEngine(t, Options{}, policy("T1", "test", `deny contains f if { x := `+call+"; f := {\"msg\": sprintf(\"%v\", [x])} }"))
		_, err := e.Eval(context.Background(), oneFile())
		if err == nil || !strings.Contains(err.Error(), "T1.rego:11: rego_type_error: undefined function") {
			t.Errorf("%s: %v", call, err)
		}
	}
	// print and trace are harmless and stay.
	e := mustEngine(t, Options{}, policy("T1", "test", `deny contains f if { print("x"); trace("y"); f := {"msg": "m"} }`))
	if got, err := e.Eval(context.Background(), oneFile()); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
}

func TestEvalErrorNamesPlace(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"deny contains f if {\n\tx := to_number(\"x\")\n\tf := {\"msg\": sprintf(\"%d\", [x])}\n}",
		"deny contains f if {\n\tx := f2(1)\n\tf := {\"msg\": x}\n}\n\nf2(_) := \"a\"\n\nf2(_) := \"b\"",
	} {
		e := mustEngine(t, Options{}, policy("T1", "test", body))
		_, err := e.Eval(context.Background(), oneFile())
		if err == nil || !strings.HasPrefix(err.Error(), "rule T1: T1.rego:1") || !strings.Contains(err.Error(), "eval_") {
			t.Errorf("got %v", err)
		}
	}
}

const endless = `deny contains f if {
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a * b == -1
	f := {"msg": "m"}
}`

func TestTimeout(t *testing.T) {
	t.Parallel()
	e := mustEngine(t, Options{Timeout: 20 * time.Millisecond}, policy("T1", "test", endless))
	start := time.Now()
	_, err := e.Eval(context.Background(), oneFile())
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "rule T1: ") || !strings.Contains(err.Error(), "no answer within 20ms") {
		t.Error(err)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Error("took", d)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := mustEngine(t, Options{}, policy("T1", "test", endless)).Eval(ctx, oneFile())
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestInputLimits(t *testing.T) {
	t.Parallel()
	e := mustEngine(t, Options{}, policy("T1", "test", `deny contains f if { f := {"msg": "m"} }`))
	big := oneFile()
	big.DriverFiles[0].Paths = []string{strings.Repeat("x", DefaultMaxInput)}
	if _, err := e.Eval(context.Background(), big); err == nil || !strings.Contains(err.Error(), "more than the limit of 1048576") {
		t.Error(err)
	}
	twice := oneFile()
	twice.DriverFiles = append(twice.DriverFiles, twice.DriverFiles[0])
	if _, err := e.Eval(context.Background(), twice); err == nil || !strings.Contains(err.Error(), `two candidates have the id "driver_files/0"`) {
		t.Error(err)
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	e := mustEngine(t, Options{}, policy("T1", "test", `deny contains f if { f := {"msg": "m"} }`))
	got, err := e.Eval(context.Background(), &facts.Input{Incomplete: []facts.LimitCandidate{{}}})
	if err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	if len(e.compiled) != 0 {
		t.Error("compiled a rule that nothing needs")
	}
}

func TestConcurrentAndDeterministic(t *testing.T) {
	t.Parallel()
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := goldenInputs()["everything"]
	want, err := e.Eval(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			got, err := e.Eval(context.Background(), in)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Error(err, d)
			}
		})
	}
	wg.Wait()
}
