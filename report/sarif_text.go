package report

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Bounds of texts in SARIF, in UTF-16 units.
const (
	maxText        = 1000
	maxDescription = 1024
	maxHelp        = 20000
	maxName        = 255
)

var (
	embeddedLink = regexp.MustCompile(`\](\(|\[)`)
	placeholder  = regexp.MustCompile(`\{(\d+)\}`)
)

// plain makes a text safe as a message: nothing in it is hidden, a link or a
// placeholder, since names from images stand in it.
func plain(s string) string {
	s = visible(strings.TrimSpace(s))
	s = embeddedLink.ReplaceAllString(s, "] $1")
	return placeholder.ReplaceAllString(s, "{ $1 }")
}

// sentences joins texts as sentences; empty ones are left out.
func sentences(texts ...string) string {
	var out []string
	for _, s := range texts {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if last, _ := utf8.DecodeLastRuneInString(s); !strings.ContainsRune(".!?", last) {
			s += "."
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// pascal turns a kebab-case name into PascalCase.
func pascal(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' && up:
			b.WriteRune(r - 'a' + 'A')
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		case r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		default:
			up = true
			continue
		}
		up = false
	}
	return b.String()
}
