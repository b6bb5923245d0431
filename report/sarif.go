package report

import (
	"fmt"
	"io"

	"github.com/owenrumney/go-sarif/v2/sarif"

	"github.com/gpulint/gpulint/facts"
)

// Limits of SARIF files. GitHub takes 20 runs of one file, and of the results
// of a run it keeps 5,000, not reliably the worst: what is left out is chosen
// here, and said in a notification.
const (
	maxRuns    = 20
	maxResults = 5000
	// maxRelated is how many further places one result names, and
	// maxRelatedInFile how many all results do.
	maxRelated       = 100
	maxRelatedInFile = 20000
	// maxNotifications is how many failures are told.
	maxNotifications = 1000
)

const (
	toolName       = "gpulint"
	informationURI = "https://github.com/gpulint/gpulint"
	rulesURI       = informationURI + "/blob/main/docs/rules/"
)

// sarifFormat is SARIF 2.1.0 as GitHub's code scanning takes it. Each image and
// platform is a run with a category of its own.
type sarifFormat struct{ o Options }

func newSARIF(o Options) Format { return sarifFormat{o} }

func (sarifFormat) Name() string { return "sarif" }

// Write renders the report as one file. It refuses a report that needs more
// runs than a file may have: see [SplitSARIF].
func (f sarifFormat) Write(w io.Writer, r *facts.Report) error {
	if n := runs(r); n > maxRuns {
		return fmt.Errorf("%d images and platforms do not fit one SARIF file, which holds %d runs: split the report", n, maxRuns)
	}
	return writeSmall(w, maxCompressed, func(results, related int) (any, error) {
		b := &sarifBuilder{o: f.o, report: r, results: results, related: related}
		return b.log()
	})
}

// sarifLog, sarifRun and sarifResult replace what go-sarif writes as null where
// the schema wants an object or nothing.
type sarifLog struct {
	*sarif.Report
	Runs []sarifRun `json:"runs"`
}

type sarifRun struct {
	*sarif.Run
	Results []sarifResult `json:"results"`
}

type sarifResult struct {
	*sarif.Result
	Suppressions []suppression `json:"suppressions,omitempty"`
}

// suppression says that a result does not count, and why.
type suppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification,omitempty"`
}

// sarifBuilder makes one file.
type sarifBuilder struct {
	o      Options
	report *facts.Report
	// results is how many results one run may hold.
	results int
	// related is how many further places may still be named.
	related int
}

func (b *sarifBuilder) log() (*sarifLog, error) {
	head, err := sarif.New(sarif.Version210)
	if err != nil {
		return nil, fmt.Errorf("starting a SARIF file: %w", err)
	}
	log := &sarifLog{Report: head, Runs: []sarifRun{}}
	grouped := bySubject(b.shown())
	ids := categories{}
	for _, s := range subjects(b.report) {
		log.Runs = append(log.Runs, b.subjectRun(s, runID(s, ids), grouped[s.ID]))
	}
	switch {
	case len(b.report.Failures) > 0:
		log.Runs = append(log.Runs, b.failedRun(ids))
	case len(log.Runs) == 0:
		log.Runs = append(log.Runs, b.run(toolName+"/none/"))
	}
	return log, nil
}

// shown are the findings that become results, the worst first. Ignored ones do
// only if asked for: code scanning does not look at suppressions, and would
// show them as open alerts.
func (b *sarifBuilder) shown() []facts.Finding {
	var out []facts.Finding
	for _, f := range worstFirst(atLeast(b.report.Findings, b.o.Severity)) {
		if f.Status != facts.StatusIgnored || b.o.ShowIgnored {
			out = append(out, f)
		}
	}
	return out
}
