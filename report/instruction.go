package report

import "strings"

// instruction turns the history entry of a layer back into the instruction that
// people wrote: without the shell that builders put before it, their markers
// and the values of build arguments.
func instruction(createdBy string) string {
	s := strings.TrimSuffix(spaced(createdBy), "# buildkit")
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "/bin/sh -c #(nop)"); ok {
		return strings.TrimSpace(rest)
	}
	rest := strings.TrimPrefix(s, "RUN ")
	if strings.HasPrefix(rest, "|") { // |2 A=1 B=2 /bin/sh -c make: arguments first
		if _, command, ok := strings.Cut(rest, "/bin/sh -c "); ok {
			return "RUN " + command
		}
	}
	if command, ok := strings.CutPrefix(rest, "/bin/sh -c "); ok {
		return "RUN " + command
	}
	return s
}
