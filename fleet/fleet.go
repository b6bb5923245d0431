// Package fleet makes targets: the machines that images are judged against.
package fleet

import (
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// FromFlags makes one target of each driver version. Versions are taken as
// they are: whoever calls has checked them.
func FromFlags(drivers []string, mode string) []facts.Target {
	targets := []facts.Target{}
	seen := map[string]bool{}
	for _, d := range drivers {
		d = strings.TrimSpace(d)
		if seen[d] {
			continue
		}
		seen[d] = true
		targets = append(targets, facts.Target{Name: d, Driver: d, Runtime: mode})
	}
	return targets
}
