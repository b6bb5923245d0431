package fatbin

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
)

// Bounds of the search for kernel names in one entry.
const (
	headBytes  = 64 << 10  // of the payload, decompressed
	headStored = 136 << 10 // of the payload as stored: a block of zstd
	maxNames   = 4096
)

// kernels yields the names of the kernels of a cubin, of which head are the
// first bytes. It is false where they are not all there.
//
// ptxas writes the names of sections right behind the header, and each kernel
// has a section .nv.constant0.NAME.
func kernels(head []byte, yield func(name []byte)) bool {
	const names = 64
	if len(head) < names+2 || string(head[:4]) != "\x7fELF" || head[4] != 2 || binary.LittleEndian.Uint16(head[18:]) != 190 {
		return false
	}
	rest, ok := bytes.CutPrefix(head[names:], []byte("\x00.shstrtab\x00"))
	for n := 0; ok && n < maxNames; n++ {
		name, after, whole := bytes.Cut(rest, []byte{0})
		if !whole {
			return false
		}
		if len(name) == 0 || name[0] != '.' {
			return true // the next table begins
		}
		if k, is := bytes.CutPrefix(name, []byte(".nv.constant0.")); is && len(k) > 0 {
			yield(k)
		}
		rest = after
	}
	return false
}

// entries yields the names of the kernels of PTX, of which text may be cut off.
func entries(text []byte, yield func(name []byte)) {
	for n := 0; n < maxNames; n++ {
		_, rest, ok := bytes.Cut(text, []byte(".entry "))
		if !ok {
			return
		}
		end := bytes.IndexAny(rest, "(\n{ \t")
		if end < 0 {
			return
		}
		if end > 0 {
			yield(rest[:end])
		}
		text = rest[end:]
	}
}

// hash is that of a kernel's name.
func hash(name []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(name) // never fails
	return h.Sum64()
}
