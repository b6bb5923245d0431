package layers

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/s2"
)

// Bounds of a block that comes from outside. It is closed by the entry that
// fills it, and a path may be longer than any name of a tar: links of
// directories make it longer.
const (
	maxStoredPath = (maxLinkHops + 1) * maxPathLength
	maxRaw        = blockSize + 2*maxStoredPath + 64
)

// blockChecker checks the blocks of an index that comes from outside, so that
// decoder, which trusts them, can read them. It holds that paths are sorted.
type blockChecker struct {
	buf []byte
	// last is the path of the last entry, lastSeq its place.
	last    []byte
	lastSeq int64
	count   int
}

// block checks the next block.
func (c *blockChecker) block(first, data []byte) bool {
	if n, err := s2.DecodedLen(data); err != nil || n == 0 || n > maxRaw || len(first) > maxStoredPath {
		return false
	}
	raw, err := s2.Decode(c.buf[:cap(c.buf)], data)
	if err != nil {
		return false
	}
	c.buf = raw
	// A path that goes on from the block before may be its last one, and is
	// then in order with it.
	before, seq := bytes.Clone(c.last), c.lastSeq
	e := entryChecker{raw: raw}
	for i := 0; len(e.raw) > 0; i++ {
		if !e.next() || i == 0 && c.count > 0 && !inOrder(before, seq, e.path, e.seq) {
			return false
		}
		if i == 0 && (bytes.Compare(before, first) > 0 || bytes.Compare(first, e.path) > 0) {
			return false
		}
		c.count++
	}
	c.last, c.lastSeq = append(c.last[:0], e.path...), e.seq
	return true
}

func inOrder(a []byte, aSeq int64, b []byte, bSeq int64) bool {
	n := bytes.Compare(a, b)
	return n < 0 || n == 0 && aSeq < bSeq
}

// entryChecker is decoder for bytes that are not trusted.
type entryChecker struct {
	raw        []byte
	path, link []byte
	seq        int64
	names      int
	begun      bool
}

func (e *entryChecker) next() bool {
	prevSeq := e.seq
	shared, suffix, ok := e.name(e.path)
	if !ok || len(e.raw) < 1 {
		return false
	}
	// Of two paths with the same beginning, what follows decides.
	order := bytes.Compare(e.path[shared:], suffix)
	e.path = append(e.path[:shared], suffix...)
	typ := Type(e.raw[0])
	e.raw = e.raw[1:]
	delta, n := binary.Varint(e.raw)
	if n <= 0 || delta > math.MaxUint32 || delta < -math.MaxUint32 {
		return false
	}
	e.raw = e.raw[n:]
	e.seq += delta
	if e.seq < 1 || e.seq > math.MaxUint32 {
		return false
	}
	if e.begun && (order > 0 || order == 0 && e.seq <= prevSeq) {
		return false
	}
	e.begun = true
	switch typ {
	case Dir, Regular, Other, Whiteout, Opaque:
	case Symlink:
		shared, suffix, ok := e.name(e.link)
		if !ok {
			return false
		}
		e.link = append(e.link[:shared], suffix...)
		e.names += len(e.link)
	default:
		return false
	}
	e.names += len(e.path)
	return e.names <= blockNames+2*maxStoredPath
}

// name reads how many bytes a name shares with the one before it, and the
// others.
func (e *entryChecker) name(before []byte) (int, []byte, bool) {
	r := encodedReader{b: e.raw}
	shared := r.uvarint()
	suffix := r.bytes()
	if r.bad || shared > uint64(len(before)) || shared+uint64(len(suffix)) > maxStoredPath {
		return 0, nil, false
	}
	e.raw = r.b
	return int(shared), suffix, true
}
