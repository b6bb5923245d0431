package report

import "github.com/gpulint/gpulint/facts"

// style paints text where colour is allowed. Nothing is told by colour alone.
type style struct{ on bool }

// Select Graphic Rendition codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s style) paint(code, text string) string {
	if !s.on || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// look is how a level appears.
type look struct{ symbol, color string }

// findingLook is the look of a finding's level.
func findingLook(level string) look {
	switch level {
	case facts.Error:
		return look{"✗", bold + ";" + red}
	case facts.Warning:
		return look{"!", bold + ";" + yellow}
	}
	return look{"·", bold + ";" + cyan}
}

// verdictLook is the look of a verdict's level.
func verdictLook(level string) look {
	switch level {
	case facts.LevelNative:
		return look{"✓", green}
	case facts.LevelMinor:
		return look{"~", yellow}
	case facts.LevelForward:
		return look{">", yellow}
	case facts.LevelIncompatible:
		return look{"✗", red}
	}
	return look{"?", cyan}
}
