package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// columns measures text. It does not look at the locale, so that a report is
// the same everywhere.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// width is the number of terminal columns that a text takes.
func width(s string) int { return columns.StringWidth(s) }

// visible shows what a terminal or a web page would act upon, or hide, as
// escapes: control characters, formatting characters such as bidirectional
// overrides, and bytes that are not UTF-8.
func visible(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// spaced folds white space, line breaks included, to single spaces: scripts in
// instructions are read on one line.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// limit cuts a text to n UTF-16 units, the unit in which most readers of SARIF
// count characters.
func limit(s string, n int) string {
	if len(s) <= n {
		return s
	}
	used, end := 0, 0
	for i, r := range s {
		if used < n {
			end = i
		}
		if used += max(utf16.RuneLen(r), 1); used > n {
			return strings.TrimRight(s[:end], " ") + "…"
		}
	}
	return s
}

// wrap breaks a text at spaces. Words that are too long, such as paths, stay
// whole so that they can be copied.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return count(int(n), "byte")
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shortDigest is as much of a digest as people compare.
func shortDigest(d string) string {
	algorithm, hex, ok := strings.Cut(d, ":")
	if !ok || len(hex) <= 12 || len(algorithm) > 10 {
		return limit(visible(d), 24)
	}
	return visible(algorithm + ":" + hex[:12])
}
