package binary

import (
	"io"
	"sync"

	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

var scanners = sync.Pool{New: func() any { return fatbin.NewScanner(0) }}

// startCode begins the search for device code in a stream, of which the head is
// what was read so far.
func (s *stream) startCode(h header) {
	s.code = scanners.Get().(*fatbin.Scanner)
	s.code.Reset(s.size)
	if e, ok := h.table(s.size); ok {
		s.tail.extent = extent{max(0, e.off-beforeTable), e.end}
		s.tail.take(0, s.head)
	}
	s.text = newTextScanner(s.o)
	for at := 0; at < len(s.head); {
		n := copy(s.code.Next(), s.head[at:])
		if s.text != nil && !s.code.InPayload(n) {
			s.text.write(s.head[at:at+n], int64(at))
		}
		s.code.Commit(n)
		at += n
	}
}

// endCode reads the rest of the file and tells its device code.
func (s *stream) endCode(f *File, h header) error {
	if err := s.advance(s.size); err != nil {
		return err
	}
	sections, why := s.sections(h)
	for _, sec := range sections {
		if e := (extent{sec.Off, sec.End}); sec.Name == fwdCompat && e.size() <= maxNotes {
			b := s.tail.part(e)
			if e.end <= int64(len(s.head)) {
				b = s.head[e.off:e.end]
			}
			f.compat(h, b)
		}
	}
	f.Code = s.code.Finish(sections, why == "")
	if s.text != nil {
		f.setTexts(s.text, sections, why == "", s.code)
	}
	f.unplaced(why)
	return nil
}

// sections are those of a stream that was read to its end, and why they are not
// known.
func (s *stream) sections(h header) ([]fatbin.Section, string) {
	e, ok := h.table(s.size)
	if !ok {
		return nil, noSections
	}
	part := func(e extent) []byte {
		if e.end <= int64(len(s.head)) {
			return s.head[e.off:e.end]
		}
		return s.tail.part(e)
	}
	table := part(e)
	if table == nil {
		return nil, noSections
	}
	at, ok := h.names(table, s.size)
	if !ok {
		return nil, noSections
	}
	names := part(at)
	if names == nil {
		return nil, farSections
	}
	return h.sections(table, names, s.size), ""
}

// codeAt finds the device code of a file of which any part can be read.
func (f *File) codeAt(r io.ReaderAt, h header, size int64, o Options, at func(extent) ([]byte, error)) error {
	var sections []fatbin.Section
	why := noSections
	if e, ok := h.table(size); ok {
		table, err := at(e)
		if err != nil {
			return err
		}
		if int64(len(table)) == e.size() {
			if e, ok = h.names(table, size); ok {
				names, err := at(e)
				if err != nil {
					return err
				}
				sections, why = h.sections(table, names, size), ""
				for _, sec := range sections {
					if e := (extent{sec.Off, sec.End}); sec.Name == fwdCompat && e.size() <= maxNotes {
						b, err := at(e)
						if err != nil {
							return err
						}
						f.compat(h, b)
					}
				}
			}
		}
	}
	text := newTextScanner(o)
	var watch func([]byte, int64)
	if text != nil {
		watch = text.write
	}
	s := fatbin.NewScanner(size)
	code, err := s.ReadAt(r, sections, why == "", watch)
	if text != nil {
		f.setTexts(text, sections, why == "", s)
	}
	f.Code = code
	f.unplaced(why)
	return err
}

// setTexts takes over what was found of texts.
func (f *File) setTexts(t *textScanner, sections []fatbin.Section, known bool, code *fatbin.Scanner) {
	f.Texts = t.texts(sections, known, code)
	if t.full && f.Incomplete == "" {
		f.Incomplete = "more names of libraries stand in it than are kept"
	}
}

// unplaced says why nothing tells how the device code that was found is used.
func (f *File) unplaced(why string) {
	if why != "" && !f.Code.Empty() && f.Code.Incomplete == "" {
		f.Code.Incomplete = why
	}
}
