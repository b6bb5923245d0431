package findings

import "github.com/gpulint/gpulint/facts"

// Summarize counts the active findings by level, and the ignored ones. Those
// of a baseline are neither.
func Summarize(list []facts.Finding) facts.Summary {
	var s facts.Summary
	for _, f := range list {
		switch {
		case f.Status == facts.StatusIgnored:
			s.Ignored++
		case f.Status != facts.StatusActive:
		case f.Level == facts.Error:
			s.Error++
		case f.Level == facts.Warning:
			s.Warning++
		case f.Level == facts.Note:
			s.Note++
		}
	}
	return s
}
