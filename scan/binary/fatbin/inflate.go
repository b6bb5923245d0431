package fatbin

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// lz4Head decodes the beginning of an LZ4 block into dst, as far as it goes.
// It never writes behind dst nor reads behind src, whatever they hold.
func lz4Head(dst, src []byte) []byte {
	out := dst[:0]
	room := cap(dst)
	length := func(n int) (int, bool) {
		if n != 15 {
			return n, true
		}
		for {
			if len(src) == 0 || n > headBytes {
				return 0, false
			}
			c := src[0]
			src = src[1:]
			n += int(c)
			if c != 255 {
				return n, true
			}
		}
	}
	for len(src) > 0 && len(out) < room {
		token := src[0]
		src = src[1:]
		n, ok := length(int(token >> 4))
		if !ok {
			return out
		}
		n = min(n, len(src))
		m := min(n, room-len(out))
		out = append(out, src[:m]...)
		src = src[n:]
		if len(src) < 2 || m < n {
			return out
		}
		offset := int(src[0]) | int(src[1])<<8
		src = src[2:]
		if n, ok = length(int(token & 15)); !ok || offset == 0 || offset > len(out) {
			return out
		}
		for n = min(n+4, room-len(out)); n > 0; {
			// What is copied may repeat itself: each round doubles it.
			m := min(n, offset)
			from := len(out) - offset
			out = append(out, out[from:from+m]...)
			n -= m
			offset += m
		}
	}
	return out
}

var zstdReaders = sync.Pool{New: func() any {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderMaxWindow(8<<20), zstd.IgnoreChecksum(true))
	if err != nil {
		panic(err) // the options are constant
	}
	return r
}}

// zstdHead decodes the beginning of a zstd frame into dst, as far as it goes.
func zstdHead(dst, src []byte) []byte {
	r := zstdReaders.Get().(*zstd.Decoder)
	defer zstdReaders.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return dst[:0]
	}
	out := dst[:cap(dst)]
	n, _ := io.ReadFull(r, out) // what is cut off ends in an error
	_ = r.Reset(nil)            // lets go of src
	return out[:n]
}
