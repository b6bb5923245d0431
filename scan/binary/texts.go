package binary

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

// Bounds of the texts of one file.
const (
	maxTexts      = 256
	maxTextLength = 128
)

// found is a text with its place in the file.
type found struct {
	pos  int64
	text string
}

// textScanner looks for names of libraries (*.so, *.so.N) that a program may
// open by itself, and for marks.
type textScanner struct {
	library func(name string) bool
	marks   [][]byte
	list    []found
	full    bool
	// tail are the last bytes before pos, for texts that lie across.
	tail []byte
	pos  int64
}

func newTextScanner(o Options) *textScanner {
	if o.Library == nil && len(o.Marks) == 0 {
		return nil
	}
	return &textScanner{library: o.Library, marks: o.Marks}
}

// write looks at the bytes from a place of the file on. What lies between two
// calls was left out.
func (s *textScanner) write(p []byte, pos int64) {
	if pos != s.pos {
		s.tail = s.tail[:0]
	}
	if len(s.tail) > 0 {
		n := len(s.tail)
		s.scan(append(s.tail[:n:n], p[:min(len(p), maxTextLength)]...), pos-int64(n))
	}
	s.scan(p, pos)
	s.tail = append(s.tail, p[max(0, len(p)-maxTextLength):]...)
	s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-maxTextLength):]...)
	s.pos = pos + int64(len(p))
}

func (s *textScanner) scan(p []byte, pos int64) {
	for _, m := range s.marks {
		for at := 0; ; {
			i := bytes.Index(p[at:], m)
			if i < 0 {
				break
			}
			s.add(pos+int64(at+i), string(m))
			at += i + len(m)
		}
	}
	if s.library == nil {
		return
	}
	for at := 0; ; {
		i := bytes.Index(p[at:], []byte(".so"))
		if i < 0 {
			return
		}
		at += i + 3
		s.name(p, at-3, pos)
	}
}

// name takes the text around a ".so" at dot if it is all of a C string, and the
// name of a library.
func (s *textScanner) name(p []byte, dot int, pos int64) {
	end := bytes.IndexByte(p[dot:min(len(p), dot+maxTextLength)], 0)
	start := bytes.LastIndexByte(p[max(0, dot-maxTextLength):dot], 0)
	if end < 0 || start < 0 {
		return
	}
	start += max(0, dot-maxTextLength) + 1
	if text := string(p[start : dot+end]); s.library(text) {
		s.add(pos+int64(start), text)
	}
}

func (s *textScanner) add(pos int64, text string) {
	for _, f := range s.list {
		if f.pos == pos {
			return
		}
	}
	if len(s.list) >= maxTexts {
		s.full = true
		return
	}
	s.list = append(s.list, found{pos, text})
}

// texts are those that lie in data, in order and without repeats.
func (s *textScanner) texts(sections []fatbin.Section, known bool, code *fatbin.Scanner) []string {
	slices.SortFunc(s.list, func(a, b found) int { return cmp.Compare(a.pos, b.pos) })
	var out []string
	seen := map[string]bool{}
	for _, f := range s.list {
		if seen[f.text] || known && !inData(sections, f.pos) || code.Covers(f.pos) {
			continue
		}
		seen[f.text] = true
		out = append(out, f.text)
	}
	return out
}

func inData(sections []fatbin.Section, pos int64) bool {
	for _, s := range sections {
		if s.Data && pos >= s.Off && pos < s.End {
			return true
		}
	}
	return false
}
