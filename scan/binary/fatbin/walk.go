package fatbin

import (
	"encoding/binary"
	"errors"
	"io"
)

// Read finds the device code of a file of which any part can be read: payloads
// are passed over. The result is that of a [Scanner] of the whole file.
func Read(r io.ReaderAt, size int64, sections []Section, known bool) (*Code, error) {
	return NewScanner(size).ReadAt(r, sections, known, nil)
}

// ReadAt is [Read] with a scanner of the caller's. watch, if not nil, is shown
// what is read beside sections of device code.
func (s *Scanner) ReadAt(r io.ReaderAt, sections []Section, known bool, watch func(b []byte, pos int64)) (*Code, error) {
	s.watch = watch
	if !known {
		if err := s.feed(r, 0, s.size); err != nil {
			return nil, err
		}
		return s.Finish(nil, false), nil
	}
	w := &walker{Scanner: s, r: r}
	for _, sec := range disjoint(sections) {
		var err error
		switch {
		case sec.place() != Data:
			err = w.section(sec)
		case sec.Data:
			err = s.feed(r, sec.Off, sec.End)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Finish(sections, true), nil
}

// feed scans a part of the file.
func (s *Scanner) feed(r io.ReaderAt, off, end int64) error {
	s.tasks, s.captures = s.tasks[:0], 0
	s.jump(off)
	in := io.NewSectionReader(r, s.start, end-s.start)
	for {
		b := s.Next()
		n, err := in.Read(b)
		if s.watch != nil && n > 0 {
			s.watch(b[:n], s.start+int64(s.n))
		}
		s.Commit(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// walker goes from header to header.
type walker struct {
	*Scanner
	r io.ReaderAt
	// buf holds the file from at on.
	buf []byte
	at  int64
}

// errBroken says that a section is not a chain of containers.
var errBroken = errors.New("no chain of containers")

// section walks through a section of device code. What cannot be walked through
// is searched.
func (w *walker) section(sec Section) error {
	containers, hashes := len(w.containers), len(w.hashes)
	err := w.chain(sec)
	if !errors.Is(err, errBroken) {
		return err
	}
	w.containers, w.hashes = w.containers[:containers], w.hashes[:hashes]
	// What a last container is followed by lies behind the section.
	return w.feed(w.r, sec.Off, min(sec.End+carry, w.size))
}

func (w *walker) chain(sec Section) error {
	for at := sec.Off; at < sec.End; {
		b, err := w.bytes(at, containerHeader)
		if err != nil {
			return err
		}
		n, ok := parseContainer(b, w.size-at-containerHeader)
		if !ok || at+containerHeader+n > sec.End || len(w.containers) >= maxContainers {
			return errBroken
		}
		c := container{pos: at, end: at + containerHeader + n, next: -1}
		if err := w.entries(&c); err != nil {
			return err
		}
		for at = c.end; at < sec.End; at += 8 {
			b, err := w.bytes(at, 8)
			if err != nil {
				return err
			}
			if len(b) < 8 {
				break
			}
			if binary.LittleEndian.Uint64(b) != 0 {
				c.next = at
				break
			}
		}
		w.containers = append(w.containers, c)
		if c.next < 0 {
			return nil
		}
	}
	return nil
}

// entries reads the entries of a container.
func (w *walker) entries(c *container) error {
	var list []Entry
	for at := c.pos + containerHeader; at < c.end; {
		b, err := w.bytes(at, entryHeader)
		if err != nil {
			return err
		}
		e, l, ok := parseEntry(b, c.end-at)
		if !ok || len(list) >= maxEntries {
			return errBroken
		}
		list = append(list, e)
		if wanted(e) && !c.named && l.stored > 0 {
			if err := w.names(c, e, l, at+l.header); err != nil {
				return err
			}
		}
		at += l.size()
	}
	c.set = w.intern(list)
	return nil
}

// names reads the kernel names of an entry.
func (w *walker) names(c *container, e Entry, l layout, at int64) error {
	from := int32(len(w.hashes))
	b, err := w.bytes(at, int(min(l.stored, limitOf(e))))
	if err != nil {
		return err
	}
	c.named = w.payload(e, l, b, &w.plain)
	if c.from == c.to {
		c.from = from
	}
	c.to = int32(len(w.hashes))
	return nil
}

// bytes returns n bytes of the file, fewer at its end.
func (w *walker) bytes(at int64, n int) ([]byte, error) {
	if at < w.at || at+int64(n) > w.at+int64(len(w.buf)) {
		if cap(w.buf) < n {
			w.buf = make([]byte, max(n, 8<<10))
		}
		w.buf = w.buf[:max(n, 4<<10)]
		m, err := w.r.ReadAt(w.buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		w.buf, w.at = w.buf[:m], at
	}
	b := w.buf[at-w.at:]
	return b[:min(len(b), n)], nil
}
