package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// maxMessages is how many different messages a merged finding joins.
const maxMessages = 3

// Dedup leaves one finding for each rule, subject and thing found. The worst
// gives level, prediction and fix; messages, targets and evidence of all are
// kept. Things are told apart as fingerprints do, which must be unique.
func Dedup(list []facts.Finding) []facts.Finding {
	type id struct{ subject, rule, key string }
	groups := map[id][]facts.Finding{}
	var order []id
	for _, f := range list {
		k := id{f.Subject, f.Rule, NormalizeKey(f.Key)}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], f)
	}
	out := make([]facts.Finding, 0, len(order))
	for _, k := range order {
		out = append(out, merge(groups[k]))
	}
	return out
}

func merge(group []facts.Finding) facts.Finding {
	if len(group) == 1 {
		return group[0]
	}
	slices.SortStableFunc(group, func(a, b facts.Finding) int {
		return cmp.Or(
			cmp.Compare(Rank(b.Level), Rank(a.Level)),
			cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Message, b.Message),
			slices.CompareFunc(a.Evidence, b.Evidence, func(a, b facts.Evidence) int { return cmp.Compare(evidenceKey(a), evidenceKey(b)) }),
		)
	})
	f := group[0]
	f.Message = joinMessages(group)
	f.Targets = mergeTargets(group)
	f.Evidence = mergeEvidence(group)
	return f
}

func joinMessages(group []facts.Finding) string {
	var texts []string
	for _, f := range group {
		if !slices.Contains(texts, f.Message) {
			texts = append(texts, f.Message)
		}
	}
	if n := len(texts) - maxMessages; n > 0 {
		texts = append(texts[:maxMessages], fmt.Sprintf("(and %d more like these)", n))
	}
	return strings.Join(texts, " ")
}

// mergeTargets unites the targets. A finding without any concerns all, and then
// so does the merged one.
func mergeTargets(group []facts.Finding) []string {
	var all []string
	for _, f := range group {
		if len(f.Targets) == 0 {
			return nil
		}
		all = append(all, f.Targets...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mergeEvidence unites the evidence in the order of the findings.
func mergeEvidence(group []facts.Finding) []facts.Evidence {
	all, seen := []facts.Evidence{}, map[string]bool{}
	for _, f := range group {
		for _, e := range f.Evidence {
			if k := evidenceKey(e); !seen[k] {
				seen[k] = true
				all = append(all, e)
			}
		}
	}
	return all
}

func evidenceKey(e facts.Evidence) string {
	layer, source := facts.LayerRef{Index: -1}, facts.SourceRef{}
	if e.Layer != nil {
		layer = *e.Layer
	}
	if e.Source != nil {
		source = *e.Source
	}
	return fmt.Sprintf("%q %q %q %d %v", e.Path, e.Package, e.Detail, layer.Index, source)
}
