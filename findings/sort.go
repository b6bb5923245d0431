package findings

import (
	"cmp"
	"slices"

	"github.com/gpulint/gpulint/facts"
)

// Sort orders findings by subject, level (the worst first), rule and key; the
// rest of the order only makes it the same in every run.
func Sort(list []facts.Finding) []facts.Finding {
	list = slices.Clone(list)
	slices.SortStableFunc(list, compare)
	return list
}

func compare(a, b facts.Finding) int {
	return cmp.Or(
		cmp.Compare(a.Subject, b.Subject),
		cmp.Compare(Rank(b.Level), Rank(a.Level)),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Key, b.Key),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Fingerprint, b.Fingerprint),
	)
}
