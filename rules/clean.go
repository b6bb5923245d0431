package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the longest text of a finding, in runes.
const maxText = 4000

// clean makes text from an image fit for a terminal and a report: names of
// files, variables and packages are chosen by whoever made the image and may
// hold escape sequences or marks that turn the reading direction.
func clean(s string) string {
	if len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, unsafe) {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n++; n > maxText {
			b.WriteString("…")
			break
		}
		if unsafe(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unsafe tells control and format characters. A line feed is one: a message is
// one line, and a report that is read by line must not get forged ones.
func unsafe(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
