package layers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/s2"
)

// Version is that of what [Walk] finds and of how [Facts.Encode] writes it. It
// goes up with every change of either: facts that were kept are found by it.
const Version = 3

// ErrEncoded says that bytes are no facts as [Facts.Encode] writes them.
var ErrEncoded = errors.New("not the facts of a layer")

// maxEncoded bounds the facts without their index, in bytes.
const maxEncoded = 64 << 20

// Encode writes the facts for [Decode]. The error is the writer's, or says that
// they are too many to be kept.
func (f *Facts) Encode(w io.Writer) error {
	plain := *f
	plain.Index = nil
	// CBOR keeps names that are no valid UTF-8 as they are; JSON does not.
	raw, err := cbor.Marshal(&plain)
	if err != nil {
		return err
	}
	if len(raw) > maxEncoded || !decodedSize(raw) {
		return fmt.Errorf("the facts of the layer, %d bytes, are more than are kept", len(raw))
	}
	e := &encodedWriter{w: w}
	e.bytes(s2.EncodeBetter(nil, raw))
	e.uvarint(f.Index.count)
	e.uvarint(len(f.Index.blocks))
	for i := range f.Index.blocks {
		e.bytes([]byte(f.Index.blocks[i].first))
		e.bytes(f.Index.blocks[i].data)
	}
	return e.err
}

// encodedWriter writes what encodedReader reads, until an error.
type encodedWriter struct {
	w   io.Writer
	buf []byte
	err error
}

func (e *encodedWriter) write(b []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

func (e *encodedWriter) uvarint(n int) {
	e.buf = binary.AppendUvarint(e.buf[:0], uint64(n))
	e.write(e.buf)
}

func (e *encodedWriter) bytes(b []byte) {
	e.uvarint(len(b))
	e.write(b)
}

// Decode reads what Encode wrote. The index goes on using b. Bytes that are
// something else, or more than the limits allow, are an error that wraps
// [ErrEncoded]: what is decoded is safe to use, whoever wrote it.
func Decode(b []byte, l Limits) (*Facts, error) {
	r := &encodedReader{b: b}
	f, err := decodeFacts(r.bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoded, err)
	}
	count, blocks := r.uvarint(), r.uvarint()
	if r.bad || count > uint64(l.Entries) || blocks > uint64(len(b)) {
		return nil, fmt.Errorf("%w: a bad header", ErrEncoded)
	}
	x := &Index{count: int(count)}
	var c blockChecker
	for range blocks {
		first, data := r.bytes(), r.bytes()
		if r.bad || !c.block(first, data) {
			return nil, fmt.Errorf("%w: a bad block of the index", ErrEncoded)
		}
		x.blocks = append(x.blocks, block{first: string(first), data: data})
		x.size += len(data) + len(first) + blockOverhead
	}
	if len(r.b) > 0 || c.count != x.count {
		return nil, fmt.Errorf("%w: %d entries of %d, %d bytes behind them", ErrEncoded, c.count, x.count, len(r.b))
	}
	f.Index = x
	return f, nil
}

// decodeFacts decodes all but the index.
func decodeFacts(data []byte) (*Facts, error) {
	n, err := s2.DecodedLen(data)
	if err != nil {
		return nil, err
	}
	if n > maxEncoded {
		return nil, fmt.Errorf("%d bytes of facts", n)
	}
	raw, err := s2.Decode(nil, data)
	if err != nil {
		return nil, err
	}
	if !decodedSize(raw) {
		return nil, errors.New("more facts than are kept")
	}
	dec, err := cbor.DecOptions{
		UTF8: cbor.UTF8DecodeInvalid, DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden,
		TagsMd: cbor.TagsForbidden, MaxNestedLevels: 8, MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 20,
	}.DecMode()
	if err != nil {
		return nil, err
	}
	f := &Facts{}
	if err := dec.Unmarshal(raw, f); err != nil {
		return nil, err
	}
	if f.Index != nil || f.Entries < 0 || f.Size < 0 {
		return nil, errors.New("values that no layer has")
	}
	return f, nil
}

// encodedReader takes apart what encodedWriter wrote.
type encodedReader struct {
	b   []byte
	bad bool
}

func (r *encodedReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *encodedReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	data := r.b[:n:n]
	r.b = r.b[n:]
	return data
}
