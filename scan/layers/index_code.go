package layers

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

// encoder writes sorted entries into blocks.
type encoder struct {
	index Index
	raw   []byte
	first string
	prev  string
	seq   int64
}

func (w *encoder) add(e Entry) {
	if len(w.raw) == 0 {
		w.first, w.prev, w.seq = e.Path, "", 0
	}
	shared := 0
	for shared < len(w.prev) && shared < len(e.Path) && w.prev[shared] == e.Path[shared] {
		shared++
	}
	w.raw = binary.AppendUvarint(w.raw, uint64(shared))
	w.raw = binary.AppendUvarint(w.raw, uint64(len(e.Path)-shared))
	w.raw = append(w.raw, e.Path[shared:]...)
	w.raw = append(w.raw, byte(e.Type))
	w.raw = binary.AppendVarint(w.raw, int64(e.seq)-w.seq)
	if e.Type == Symlink {
		w.raw = binary.AppendUvarint(w.raw, uint64(len(e.Link)))
		w.raw = append(w.raw, e.Link...)
	}
	w.prev, w.seq = e.Path, int64(e.seq)
	w.index.count++
	if len(w.raw) >= blockSize {
		w.flush()
	}
}

func (w *encoder) flush() {
	if len(w.raw) == 0 {
		return
	}
	data := s2.EncodeBetter(nil, w.raw)
	data = append(make([]byte, 0, len(data)), data...) // without spare capacity
	w.index.blocks = append(w.index.blocks, block{first: w.first, data: data})
	w.index.size += len(data) + len(w.first) + 48
	w.raw = w.raw[:0]
}

func (w *encoder) done() *Index {
	w.flush()
	w.raw = nil
	return &w.index
}

// decodeEntries reads what encoder.add wrote.
func decodeEntries(raw []byte) []Entry {
	var es []Entry
	prev, seq := "", int64(0)
	uvarint := func() int {
		v, n := binary.Uvarint(raw)
		raw = raw[n:]
		return int(v)
	}
	for len(raw) > 0 {
		shared := uvarint()
		n := uvarint()
		path := prev[:shared] + string(raw[:n])
		raw = raw[n:]
		e := Entry{Path: path, Type: Type(raw[0])}
		raw = raw[1:]
		d, m := binary.Varint(raw)
		raw = raw[m:]
		seq += d
		e.seq = uint32(seq)
		if e.Type == Symlink {
			n := uvarint()
			e.Link = string(raw[:n])
			raw = raw[n:]
		}
		es = append(es, e)
		prev = path
	}
	return es
}
