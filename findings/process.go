package findings

import "github.com/gpulint/gpulint/facts"

// Options steer [Process].
type Options struct {
	// Names are the names of the subjects by their IDs (facts.Subject.Name),
	// which go into fingerprints. A subject without an entry has no name.
	Names map[string]string
	// Ignore are IDs or names of rules given by --ignore.
	Ignore []string
	// Limit is how many findings are kept; 0 means [DefaultLimit].
	Limit int
}

// Result is what [Process] makes of the findings.
type Result struct {
	// Findings are sorted, without repetitions, and carry fingerprint and status.
	Findings []facts.Finding
	// Summary counts all findings, also those that the limit left out.
	Summary facts.Summary
}

// Process runs all steps on the findings of all subjects. The list is not
// changed; its order has no influence on the result.
func Process(list []facts.Finding, o Options) Result {
	list = fingerprints(list, o.Names)
	list = Dedup(list)
	list = Ignore(list, o.Ignore)
	list = Sort(list)
	s := Summarize(list)
	list, s.Omitted = Limit(list, o.Limit)
	return Result{Findings: list, Summary: s}
}
