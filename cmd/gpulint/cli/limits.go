package cli

import (
	"strconv"
	"strings"

	"github.com/gpulint/gpulint/scan/layers"
)

// scanLimits are the defaults with what --limit says.
func (o *imageOptions) scanLimits() (layers.Limits, error) {
	l := layers.DefaultLimits()
	for _, s := range o.limits {
		name, value, _ := strings.Cut(s, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return l, usagef("--limit %q: want NAME=NUMBER, such as entries=30000000", s)
		}
		if err := l.Set(name, n); err != nil {
			return l, usagef("--limit: %w", err)
		}
	}
	return l, nil
}
