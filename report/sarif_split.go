package report

import (
	"github.com/gpulint/gpulint/facts"
)

// runs is how many runs a report needs in SARIF.
func runs(r *facts.Report) int {
	n := len(subjects(r))
	if len(r.Failures) > 0 {
		n++
	}
	return n
}

// SplitSARIF divides a report into reports that fit one SARIF file each. One
// that fits comes back as it is. Failures go into the first file, and no two
// files hold a run of the same category: the upload of the second would close
// the alerts of the first.
func SplitSARIF(r *facts.Report) []*facts.Report {
	if runs(r) <= maxRuns {
		return []*facts.Report{r}
	}
	all := subjects(r)
	separate(all, len(r.Failures) > 0)
	findings := bySubject(r.Findings)
	verdicts := map[string][]facts.Verdict{}
	for _, v := range r.Verdicts {
		verdicts[v.Subject] = append(verdicts[v.Subject], v)
	}
	var parts []*facts.Report
	for len(all) > 0 {
		part := *r
		room := maxRuns
		if len(parts) > 0 {
			part.Failures = nil
		} else if len(r.Failures) > 0 {
			room--
		}
		n := min(room, len(all))
		part.Subjects, all = all[:n:n], all[n:]
		part.Verdicts, part.Findings = nil, nil
		for _, s := range part.Subjects {
			part.Verdicts = append(part.Verdicts, verdicts[s.ID]...)
			part.Findings = append(part.Findings, findings[s.ID]...)
		}
		parts = append(parts, &part)
	}
	return parts
}

// separate gives subjects whose category is taken a name that is theirs alone,
// as a single file would. Failures take one too.
func separate(all []facts.Subject, failures bool) {
	taken := categories{}
	if failures {
		taken[failuresID] = 1
	}
	for i, s := range all {
		if name := freeName(s, taken); name != either(s.Name, s.Ref) {
			all[i].Name = name
		}
	}
}
