package layers

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

// Bounds of a block. The names of a block are decoded together, and take far
// more memory than it does where they are long and alike.
const (
	blockSize  = 16 << 10  // bytes of a block before compression
	blockNames = 160 << 10 // bytes of its names and link targets, decoded
)

// blockOverhead is what a block takes in memory beside its bytes.
const blockOverhead = 48

// encoder writes sorted entries into blocks.
type encoder struct {
	index Index
	raw   []byte
	names int
	// first is what tells the block from the one before it, prev the last path,
	// link the last link target.
	first string
	prev  string
	link  string
	seq   int64
}

func (w *encoder) add(e *Entry) {
	shared := sharedPrefix(w.prev, e.Path)
	if len(w.raw) == 0 {
		// The shortest prefix that comes after the block before is enough to
		// find it.
		w.first = string([]byte(e.Path[:min(shared+1, len(e.Path))]))
		shared, w.link, w.seq = 0, "", 0
	}
	w.raw = binary.AppendUvarint(w.raw, uint64(shared))
	w.raw = binary.AppendUvarint(w.raw, uint64(len(e.Path)-shared))
	w.raw = append(w.raw, e.Path[shared:]...)
	w.raw = append(w.raw, byte(e.Type))
	w.raw = binary.AppendVarint(w.raw, int64(e.seq)-w.seq)
	if e.Type == Symlink {
		n := sharedPrefix(w.link, e.Link)
		w.raw = binary.AppendUvarint(w.raw, uint64(n))
		w.raw = binary.AppendUvarint(w.raw, uint64(len(e.Link)-n))
		w.raw = append(w.raw, e.Link[n:]...)
		w.link = e.Link
	}
	w.prev, w.seq = e.Path, int64(e.seq)
	w.index.count++
	w.names += len(e.Path) + len(e.Link)
	if len(w.raw) >= blockSize || w.names >= blockNames {
		w.flush()
	}
}

// sharedPrefix is how many bytes two texts begin with alike.
func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (w *encoder) flush() {
	if len(w.raw) == 0 {
		return
	}
	data := s2.EncodeBetter(nil, w.raw)
	data = append(make([]byte, 0, len(data)), data...) // without spare capacity
	w.index.blocks = append(w.index.blocks, block{first: w.first, data: data})
	w.index.size += len(data) + len(w.first) + blockOverhead
	w.raw, w.names = w.raw[:0], 0
}

func (w *encoder) done() *Index {
	w.flush()
	w.raw = nil
	return &w.index
}

// inflateBlock decompresses a block, into buf where it fits.
func inflateBlock(buf, data []byte) []byte {
	raw, err := s2.Decode(buf[:cap(buf)], data)
	if err != nil {
		panic(err) // our own bytes, or checked by blockChecker
	}
	return raw
}

// decoder reads what encoder.add wrote, an entry at a time.
type decoder struct {
	buf, raw   []byte
	prev, link string
	seq        int64
}

func (d *decoder) reset(raw []byte) { *d = decoder{buf: raw, raw: raw} }

func (d *decoder) uvarint() int {
	v, n := binary.Uvarint(d.raw)
	d.raw = d.raw[n:]
	return int(v)
}

func (d *decoder) next(e *Entry) bool {
	if len(d.raw) == 0 {
		return false
	}
	shared := d.uvarint()
	n := d.uvarint()
	e.Path, e.Link = d.prev[:shared]+string(d.raw[:n]), ""
	d.raw = d.raw[n:]
	e.Type = Type(d.raw[0])
	d.raw = d.raw[1:]
	delta, m := binary.Varint(d.raw)
	d.raw = d.raw[m:]
	d.seq += delta
	e.seq = uint32(d.seq)
	if e.Type == Symlink {
		shared := d.uvarint()
		n := d.uvarint()
		e.Link = d.link[:shared] + string(d.raw[:n])
		d.raw, d.link = d.raw[n:], e.Link
	}
	d.prev = e.Path
	return true
}

// decodeBlock reads all entries of a block.
func decodeBlock(data []byte) []Entry {
	var d decoder
	d.reset(inflateBlock(nil, data))
	var es []Entry
	for e := (Entry{}); d.next(&e); {
		es = append(es, e)
	}
	return es
}
