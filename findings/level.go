package findings

import (
	"fmt"

	"github.com/gpulint/gpulint/facts"
)

// Never is the --fail-on under which no finding fails a run.
const Never = "never"

// Rank orders levels: the higher, the worse. Unknown words rank as none.
func Rank(level string) int {
	switch level {
	case facts.Error:
		return 3
	case facts.Warning:
		return 2
	case facts.Note:
		return 1
	}
	return 0
}

// Worse returns the worse of two levels.
func Worse(a, b string) string {
	if Rank(b) > Rank(a) {
		return b
	}
	return a
}

// Worst returns the worst level of the active findings, none if there are none.
func Worst(list []facts.Finding) string {
	worst := facts.None
	for _, f := range list {
		if f.Status == facts.StatusActive {
			worst = Worse(worst, f.Level)
		}
	}
	return worst
}

// CheckFailOn tells whether the value of --fail-on is one.
func CheckFailOn(failOn string) error {
	if failOn == Never || Rank(failOn) > 0 {
		return nil
	}
	return fmt.Errorf("--fail-on %q: want error, warning, note or never", failOn)
}

// Fails tells whether an active finding is at or above the level of --fail-on.
func Fails(list []facts.Finding, failOn string) bool {
	least := Rank(failOn)
	return least > 0 && Rank(Worst(list)) >= least
}
