package layers

import (
	"fmt"
	"strings"
)

// LimitNames are the names of the limits, as reports and users write them.
func LimitNames() []string { return []string{"entries", "layer-bytes", "index-bytes", "facts"} }

// Set sets a limit by its name. The error lists the names, or says which
// values may be.
func (l *Limits) Set(name string, n int64) error {
	if n < 1 || n > 1<<50 {
		return fmt.Errorf("limit %s=%d: want a number from 1 to 2^50", name, n)
	}
	switch name {
	case "entries":
		l.Entries = int(n)
	case "layer-bytes":
		l.LayerBytes = n
	case "index-bytes":
		l.IndexBytes = int(n)
	case "facts":
		l.Facts = int(n)
	default:
		return fmt.Errorf("no limit is called %q: want one of %s", name, strings.Join(LimitNames(), ", "))
	}
	return nil
}
