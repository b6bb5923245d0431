package report

import (
	"cmp"
	"slices"

	"github.com/gpulint/gpulint/facts"
)

// rank orders levels, the worst first.
func rank(level string) int {
	switch level {
	case facts.Error:
		return 0
	case facts.Warning:
		return 1
	case facts.Note:
		return 2
	}
	return 3
}

// atLeast keeps the findings at or above the level, in their order. An empty
// level keeps all.
func atLeast(fs []facts.Finding, level string) []facts.Finding {
	out := make([]facts.Finding, 0, len(fs))
	for _, f := range fs {
		if level == "" || rank(f.Level) <= rank(level) {
			out = append(out, f)
		}
	}
	return out
}

// worstFirst returns the findings with active ones before ignored ones, and the
// worse before the lesser; otherwise they keep their order.
func worstFirst(fs []facts.Finding) []facts.Finding {
	out := slices.Clone(fs)
	slices.SortStableFunc(out, func(a, b facts.Finding) int {
		return cmp.Or(
			cmp.Compare(statusRank(a.Status), statusRank(b.Status)),
			cmp.Compare(rank(a.Level), rank(b.Level)),
		)
	})
	return out
}

func statusRank(status string) int {
	switch status {
	case facts.StatusIgnored:
		return 2
	case facts.StatusBaseline:
		return 1
	}
	return 0
}

// subjects lists the subjects of a report once each, those too that only
// findings name, so that no finding is lost.
func subjects(r *facts.Report) []facts.Subject {
	out := make([]facts.Subject, 0, len(r.Subjects))
	seen := map[string]bool{}
	for _, s := range r.Subjects {
		if !seen[s.ID] {
			seen[s.ID] = true
			out = append(out, s)
		}
	}
	for _, f := range r.Findings {
		if !seen[f.Subject] {
			seen[f.Subject] = true
			out = append(out, facts.Subject{ID: f.Subject, Kind: facts.KindConfig, Ref: f.Subject})
		}
	}
	return out
}

// bySubject groups findings by the ID of their subject.
func bySubject(fs []facts.Finding) map[string][]facts.Finding {
	out := map[string][]facts.Finding{}
	for _, f := range fs {
		out[f.Subject] = append(out[f.Subject], f)
	}
	return out
}
