package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// ReasonFlag is the reason of findings that --ignore silenced.
const ReasonFlag = "--ignore"

// Ignore marks the active findings of the rules, given by ID or name in any
// case, as ignored. They stay in the list.
func Ignore(list []facts.Finding, rules []string) []facts.Finding {
	list = slices.Clone(list)
	for i := range list {
		f := &list[i]
		if f.Status == facts.StatusActive && slices.ContainsFunc(rules, func(r string) bool { return names(r, f.Rule, f.Name) }) {
			f.Status, f.Reason = facts.StatusIgnored, ReasonFlag
		}
	}
	return list
}

// CheckIgnore tells which of the values of --ignore is no rule: a misspelt one
// would silence nothing, and nobody would notice.
func CheckIgnore(ignore []string, rules []facts.Rule) error {
	for _, s := range ignore {
		if !slices.ContainsFunc(rules, func(r facts.Rule) bool { return names(s, r.ID, r.Name) }) {
			known := make([]string, 0, len(rules))
			for _, r := range rules {
				known = append(known, r.ID+" "+r.Name)
			}
			return fmt.Errorf("--ignore %q: no such rule: they are %s", s, strings.Join(known, ", "))
		}
	}
	return nil
}

func names(s, id, name string) bool {
	return strings.EqualFold(s, id) || strings.EqualFold(s, name)
}
