package report

import (
	_ "embed"
	"io"
	"slices"

	"github.com/gpulint/gpulint/facts"
)

//go:embed schema/report.schema.json
var schema []byte

// Schema returns the JSON schema (draft 2020-12) of the report in JSON.
func Schema() []byte { return slices.Clone(schema) }

// jsonFormat is the report for programs: all of it, with ignored findings.
type jsonFormat struct{ o Options }

func newJSON(o Options) Format { return jsonFormat{o} }

func (jsonFormat) Name() string { return "json" }

// document is the report as JSON. Programs can rely on the list of failures
// being there.
type document struct {
	*facts.Report
	Failures []facts.Failure `json:"failures"`
}

func (f jsonFormat) Write(w io.Writer, r *facts.Report) error {
	r = normal(r)
	r.Findings = atLeast(r.Findings, f.o.Severity)
	return encode(w, document{r, list(r.Failures)})
}

// normal returns a copy of the report in which no list is null and no word
// that the schema asks for is empty.
func normal(r *facts.Report) *facts.Report {
	n := *r
	n.Schema = facts.SchemaReport
	n.Tool.Name = either(n.Tool.Name, toolName)
	n.Subjects = list(slices.Clone(r.Subjects))
	n.Targets = list(r.Targets)
	n.Verdicts = list(slices.Clone(r.Verdicts))
	n.Findings = list(slices.Clone(r.Findings))
	for i := range n.Subjects {
		n.Subjects[i].Needs = normalNeeds(n.Subjects[i].Needs)
	}
	for i := range n.Verdicts {
		v := &n.Verdicts[i]
		v.Reasons = list(v.Reasons)
		v.Runtimes = slices.Clone(v.Runtimes)
		for j := range v.Runtimes {
			v.Runtimes[j].Reasons = list(v.Runtimes[j].Reasons)
		}
		v.DeviceCode = either(v.DeviceCode, "unknown")
		v.UserModeDriver.Kind = either(v.UserModeDriver.Kind, facts.DriverUnknown)
	}
	for i := range n.Findings {
		n.Findings[i].Evidence = list(n.Findings[i].Evidence)
		n.Findings[i].Targets = list(n.Findings[i].Targets)
		n.Findings[i].Status = either(n.Findings[i].Status, facts.StatusActive)
	}
	return &n
}

func normalNeeds(needs *facts.Needs) *facts.Needs {
	if needs == nil {
		return nil
	}
	n := *needs
	n.CUDA = list(slices.Clone(n.CUDA))
	for i := range n.CUDA {
		n.CUDA[i].Consumers = list(n.CUDA[i].Consumers)
	}
	return &n
}

// list is the slice itself, or an empty one for none.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// either is the first text, or the second where that is empty.
func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
