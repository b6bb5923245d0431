package binary

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

// Options says how a file is read.
type Options struct {
	// Head is how many bytes of the file's head a stream keeps, 8 MiB if 0.
	// The dynamic strings stand there, long before .dynamic (1 MB against
	// 109 MB in a libLLVM).
	Head int
	// Versions asks for the RM version strings if it accepts the SONAME (empty
	// where there is none). Streams ask before the SONAME is known and drop
	// the answer later.
	Versions func(soname string) bool
	// Code asks for the device code. A stream is then read to its end.
	Code bool
	// Library asks, together with Code, for the names of libraries in the data of
	// the file that it accepts: programs open some by themselves. Marks are other
	// texts to be looked for.
	Library func(name string) bool
	Marks   [][]byte
	// Hints are strings of which one occurs in the head of each file that
	// Versions accepts; a stream without any of them is not searched. Empty:
	// every stream is.
	Hints [][]byte
}

func (o Options) head() int {
	if o.Head > 0 {
		return o.Head
	}
	return defaultHead
}

var (
	heads  = sync.Pool{New: func() any { b := make([]byte, 0, 1<<20); return &b }}
	chunks = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}
)

// Read reads a file of the given size in bytes as a stream. It stops as soon
// as it knows all that was asked for. The error is [ErrNotELF], or that of r.
func Read(r io.Reader, size int64, o Options) (*File, error) {
	hp := heads.Get().(*[]byte)
	defer func() {
		if cap(*hp) <= 16<<20 {
			heads.Put(hp)
		}
	}()
	s := &stream{r: r, size: size, o: o, head: (*hp)[:0]}
	f, err := s.read()
	*hp = s.head[:0]
	return f, err
}

// stream is the state of one pass.
type stream struct {
	r    io.Reader
	size int64
	o    Options
	// head are the first bytes, pos is where r stands.
	head []byte
	pos  int64
	rm   *rmScanner
	// code searches for device code, tail keeps the section table.
	code *fatbin.Scanner
	tail tail
	text *textScanner
}

func (s *stream) read() (*File, error) {
	if err := s.fillHead(headerSize); err != nil {
		return nil, err
	}
	h, ok := parseHeader(s.head)
	if !ok {
		return nil, ErrNotELF
	}
	f := newFile(h)
	if err := s.segments(f, h); err != nil {
		return nil, err
	}
	if !s.o.Code || !h.codeMachine() {
		return f, nil
	}
	if h.machine == emCUDA {
		if err := s.fillHead(fatbin.HeadBytes); err != nil {
			return nil, err
		}
		f.Code = fatbin.Alone(s.head)
		return f, nil
	}
	if s.code == nil {
		s.startCode(h)
	}
	err := s.endCode(f, h)
	scanners.Put(s.code)
	return f, err
}

// segments reads the program headers and what they lead to.
func (s *stream) segments(f *File, h header) error {
	end, ok := h.segmentsEnd(s.size)
	if !ok {
		f.Incomplete = "the program header table lies outside the file"
		return nil
	}
	if end > int64(s.o.head()) {
		f.Incomplete = "the program header table lies behind the head that is kept"
		return nil
	}
	if err := s.fillHead(int(end)); err != nil {
		return err
	}
	if int64(len(s.head)) < end {
		f.Incomplete = "the file is cut off"
		return nil
	}
	segs := h.parseSegments(s.head[h.phoff:end])
	return s.follow(f, h, segs)
}

// follow reads on to .dynamic and its strings, wherever they stand.
func (s *stream) follow(f *File, h header, segs []segment) error {
	// Where these lie is known now, and patchelf moves them in any order.
	interp, dyn := &part{}, &part{}
	if e, ok := find(segs, ptInterp, s.size, maxInterp); ok {
		interp.extent = e
	}
	if e, ok := find(segs, ptDynamic, s.size, maxDynamic); ok {
		dyn.extent = e
	}
	parts := []*part{interp}
	for _, n := range notesOf(segs) {
		if e, ok := clip(n.offset, n.filesz, s.size, maxNotes); ok {
			parts = append(parts, &part{extent: e})
		}
	}
	// What .dynamic leads to may lie between it and those behind it.
	first, later := []*part{dyn}, []*part{}
	for _, p := range parts {
		if dyn.size() > 0 && p.off > dyn.off && p.end > int64(s.o.head()) {
			later = append(later, p)
		} else {
			first = append(first, p)
		}
	}
	if err := s.getAll(first); err != nil {
		return err
	}
	if dyn.size() > 0 {
		if err := s.link(f, h, segs, dyn.b, later); err != nil {
			return err
		}
	}
	if err := s.getAll(later); err != nil { // where .dynamic led to nothing
		return err
	}
	f.Interp = cString(interp.b)
	for _, n := range parts[1:] {
		f.buildID(h, n.b)
	}
	if s.o.Versions == nil || !s.o.Versions(f.SONAME) {
		return nil
	}
	if err := s.startVersions(); err != nil || s.rm == nil {
		return err
	}
	if s.o.Code && s.code == nil && h.codeMachine() {
		s.startCode(h)
	}
	if err := s.advance(s.size); err != nil {
		return err
	}
	f.RMVersions = s.rm.found
	return nil
}

// link reads the strings that .dynamic, b, names, and with them the other parts
// that lie behind it.
func (s *stream) link(f *File, h header, segs []segment, b []byte, later []*part) error {
	if b == nil {
		f.Incomplete = "the dynamic section was passed before it was known"
		return nil
	}
	d := h.parseDynamic(b)
	if !d.ended {
		f.Incomplete = noEnd
	}
	if !d.names() {
		return nil
	}
	tab, ok := d.strings(segs, s.size)
	if !ok {
		f.Incomplete = "the dynamic string table lies outside the file"
		return nil
	}
	// Mostly all of them stand in the head, but patchelf moves them to the end
	// of the file.
	parts := []*part{
		{extent: tab},
		{extent: d.versionTable(d.verneed, d.verneednum, segs, s.size)},
		{extent: d.versionTable(d.verdef, d.verdefnum, segs, s.size)},
	}
	if err := s.getAll(append(parts, later...)); err != nil {
		return err
	}
	for _, p := range parts {
		f.NoVersions = f.NoVersions || p.b == nil && p.size() > 0 && p != parts[0]
	}
	strs := parts[0].b
	f.fill(h, d, parts[1].b, parts[2].b, func(off uint64) []byte {
		if off >= uint64(len(strs)) {
			return nil
		}
		return strs[off:min(off+maxString, uint64(len(strs)))]
	})
	return nil
}

// part is a range of the file with its bytes, nil for one in the head.
type part struct {
	extent
	b []byte
}

// getAll reads parts in the order of the file. Those that the stream has passed
// are nil.
func (s *stream) getAll(parts []*part) error {
	order := slices.Clone(parts)
	slices.SortFunc(order, func(a, b *part) int { return cmp.Compare(a.off, b.off) })
	for _, p := range order {
		if err := s.get(p); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if p.b == nil && p.size() > 0 && p.off < int64(len(s.head)) {
			p.b = s.head[p.off:min(p.end, int64(len(s.head)))]
		}
	}
	return nil
}

// get reads on to a part, or has the head reach over it.
func (s *stream) get(p *part) error {
	if p.size() == 0 || p.b != nil {
		return nil
	}
	if p.off < int64(s.o.head()) {
		if err := s.fillHead(int(min(p.end, int64(s.o.head())))); err != nil {
			return err
		}
	}
	if p.off < int64(len(s.head)) || p.off < s.pos {
		return nil
	}
	b, err := s.bytes(p.extent)
	p.b = b
	return err
}

// bytes returns a range of the file: from the head, or by reading on to it.
// It is nil where the stream has passed the range already.
func (s *stream) bytes(e extent) ([]byte, error) {
	if e.end <= int64(s.o.head()) {
		if err := s.fillHead(int(e.end)); err != nil {
			return nil, err
		}
		if int64(len(s.head)) <= e.off {
			return nil, nil
		}
		return s.head[e.off:min(e.end, int64(len(s.head)))], nil
	}
	if err := s.fillHead(s.o.head()); err != nil {
		return nil, err
	}
	if e.off < s.pos {
		return nil, nil
	}
	if err := s.startVersions(); err != nil {
		return nil, err
	}
	if h, ok := parseHeader(s.head); s.o.Code && s.code == nil && ok && h.codeMachine() {
		s.startCode(h)
	}
	if err := s.advance(e.off); err != nil {
		return nil, err
	}
	b := make([]byte, e.size())
	n, err := io.ReadFull(s.r, b)
	b = b[:n]
	s.seen(b)
	if s.code != nil {
		_, _ = s.code.Write(b) // never fails
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading an ELF file at byte %d: %w", s.pos, err)
	}
	return b, nil
}

// startVersions begins the search for version strings, if the head gives
// reason to; the head must be whole.
func (s *stream) startVersions() error {
	if s.rm != nil || s.o.Versions == nil {
		return nil
	}
	if err := s.fillHead(s.o.head()); err != nil {
		return err
	}
	hinted := len(s.o.Hints) == 0
	for _, h := range s.o.Hints {
		hinted = hinted || bytes.Contains(s.head, h)
	}
	if !hinted {
		return nil
	}
	s.rm = &rmScanner{}
	s.rm.write(s.head)
	return nil
}

// fillHead reads until the head holds n bytes or the file ends.
func (s *stream) fillHead(n int) error {
	n = int(min(int64(n), s.size))
	if len(s.head) >= n || s.pos > int64(len(s.head)) {
		return nil
	}
	if cap(s.head) < n {
		grown := make([]byte, len(s.head), max(n, min(2*cap(s.head), s.o.head())))
		copy(grown, s.head)
		s.head = grown
	}
	m, err := io.ReadFull(s.r, s.head[len(s.head):n])
	s.head = s.head[:len(s.head)+m]
	s.pos += int64(m)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading an ELF file at byte %d: %w", s.pos, err)
	}
	return nil
}

// advance reads on to a position of the file.
func (s *stream) advance(to int64) error {
	bp := chunks.Get().(*[]byte)
	defer chunks.Put(bp)
	for s.pos < to {
		b := *bp
		if s.code != nil {
			b = s.code.Next()
		}
		b = b[:min(int64(len(b)), to-s.pos)]
		n, err := io.ReadFull(s.r, b)
		s.seen(b[:n])
		if s.code != nil {
			s.code.Commit(n)
		}
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("reading an ELF file at byte %d: %w", s.pos, err)
		}
	}
	return nil
}

// seen takes the next bytes of the file.
func (s *stream) seen(b []byte) {
	if s.rm != nil {
		s.rm.write(b)
	}
	if s.text != nil && !s.code.InPayload(len(b)) {
		s.text.write(b, s.pos)
	}
	s.tail.take(s.pos, b)
	s.pos += int64(len(b))
}

func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
