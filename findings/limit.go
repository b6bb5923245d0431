package findings

import (
	"cmp"
	"slices"

	"github.com/gpulint/gpulint/facts"
)

// DefaultLimit is how many findings a report holds. Code scanning shows 5,000
// results and does not choose them by level, so the choice is made here.
const DefaultLimit = 5000

// Limit keeps the worst n findings in their order and tells how many it left
// out. Silenced findings go first: they fail nothing. n of 0 means
// [DefaultLimit].
func Limit(list []facts.Finding, n int) ([]facts.Finding, int) {
	n = cmp.Or(n, DefaultLimit)
	if len(list) <= n {
		return list, 0
	}
	index := make([]int, len(list))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(weight(list[b]), weight(list[a])) })
	keep := slices.Clone(index[:n])
	slices.Sort(keep)
	out := make([]facts.Finding, n)
	for i, k := range keep {
		out[i] = list[k]
	}
	return out, len(list) - n
}

func weight(f facts.Finding) int {
	if f.Status != facts.StatusActive {
		return 0
	}
	return 1 + Rank(f.Level)
}
