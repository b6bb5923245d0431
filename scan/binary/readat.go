package binary

import (
	"errors"
	"fmt"
	"io"

	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

// ReadAt reads a file of the given size in bytes by position: only the
// headers, .dynamic and its strings, and all of the file only where version
// strings are asked for. The error is [ErrNotELF], or that of r.
func ReadAt(r io.ReaderAt, size int64, o Options) (*File, error) {
	at := func(e extent) ([]byte, error) {
		b := make([]byte, e.size())
		n, err := r.ReadAt(b, e.off)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading an ELF file at byte %d: %w", e.off, err)
		}
		return b[:n], nil
	}
	b, err := at(extent{0, min(size, headerSize)})
	if err != nil {
		return nil, err
	}
	h, ok := parseHeader(b)
	if !ok {
		return nil, ErrNotELF
	}
	f := newFile(h)
	switch {
	case !o.Code || !h.codeMachine():
	case h.machine == emCUDA:
		if b, err = at(extent{0, min(size, fatbin.HeadBytes)}); err != nil {
			return nil, err
		}
		f.Code = fatbin.Alone(b)
	default:
		if err := f.codeAt(r, h, size, o, at); err != nil {
			return nil, err
		}
	}
	end, ok := h.segmentsEnd(size)
	if !ok {
		f.Incomplete = "the program header table lies outside the file"
		return f, nil
	}
	table, err := at(extent{int64(h.phoff), end})
	if err != nil {
		return nil, err
	}
	if len(table) < h.phnum*h.phentsize {
		f.Incomplete = "the file is cut off"
		return f, nil
	}
	segs := h.parseSegments(table)
	if in, ok := find(segs, ptInterp, size, maxInterp); ok {
		if b, err = at(in); err != nil {
			return nil, err
		}
		f.Interp = cString(b)
	}
	for _, n := range notesOf(segs) {
		if e, ok := clip(n.offset, n.filesz, size, maxNotes); ok {
			if b, err = at(e); err != nil {
				return nil, err
			}
			f.buildID(h, b)
		}
	}
	if dyn, ok := find(segs, ptDynamic, size, maxDynamic); ok {
		if b, err = at(dyn); err != nil {
			return nil, err
		}
		if err := f.linkAt(h, h.parseDynamic(b), segs, size, at); err != nil {
			return nil, err
		}
	}
	if o.Versions == nil || !o.Versions(f.SONAME) {
		return f, nil
	}
	s := &stream{r: io.NewSectionReader(r, 0, size), size: size, rm: &rmScanner{}}
	if err := s.advance(size); err != nil {
		return nil, err
	}
	f.RMVersions = s.rm.found
	return f, nil
}

// linkAt looks the names of .dynamic up, each string by itself.
func (f *File) linkAt(h header, d dynamic, segs []segment, size int64, at func(extent) ([]byte, error)) error {
	if !d.ended {
		f.Incomplete = noEnd
	}
	if !d.names() {
		return nil
	}
	tab, ok := d.strings(segs, size)
	if !ok {
		f.Incomplete = "the dynamic string table lies outside the file"
		return nil
	}
	var tables [2][]byte
	for i, e := range []extent{d.versionTable(d.verneed, d.verneednum, segs, size), d.versionTable(d.verdef, d.verdefnum, segs, size)} {
		if e.size() > 0 {
			b, err := at(e)
			if err != nil {
				return err
			}
			tables[i] = b
		}
	}
	var failed error
	f.fill(h, d, tables[0], tables[1], func(off uint64) []byte {
		if off >= uint64(tab.size()) {
			return nil
		}
		from := tab.off + int64(off)
		b, err := at(extent{from, min(from+maxString, tab.end)})
		if err != nil {
			failed = err
		}
		return b
	})
	return failed
}
