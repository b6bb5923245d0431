package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// encode writes a value as JSON, indented, with a line break at its end.
// Characters that are not printable stand as escapes: the document means the
// same, and a terminal that shows it is safe.
func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeUnprintable(b.Bytes()))
	return err
}

// escapeUnprintable works on whole documents: outside of strings, JSON as the
// encoder writes it is ASCII, and inside of them ASCII controls are escaped but
// for DEL.
func escapeUnprintable(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		if doc[i] < 0x7f {
			out = append(out, doc[i])
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		switch {
		case unicode.IsPrint(r):
			out = append(out, doc[i:i+n]...)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}
