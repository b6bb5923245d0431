package testimage

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
)

// Code is one entry of a container of device code, to be built without CUDA's
// tools. Cubins hold nothing but the names of their kernels.
type Code struct {
	// Kind is 1 for PTX, 2 for a cubin, 8 for LTO IR.
	Kind int
	// SM is the compute capability as digits, Target 'a', 'f' or 0.
	SM     int
	Target byte
	// Major and Minor are the PTX ISA version.
	Major, Minor int
	// Zstd and LZ4 compress it.
	Zstd, LZ4 bool
	// Kernels are the names of its kernels.
	Kernels []string
	// Payload replaces what would be built.
	Payload []byte
	// Header is the size of the header, 64 if 0.
	Header int
}

// Fatbin builds a container.
func Fatbin(entries ...Code) []byte {
	le := binary.LittleEndian
	out := le.AppendUint64(nil, 0x00100001BA55ED50)
	out = le.AppendUint64(out, 0)
	for _, e := range entries {
		out = append(out, e.bytes()...)
	}
	le.PutUint64(out[8:], uint64(len(out)-16))
	return out
}

func (c Code) bytes() []byte {
	le := binary.LittleEndian
	payload := c.Payload
	if payload == nil {
		payload = c.payload()
	}
	plain := len(payload)
	flags := uint64(0x11)
	switch {
	case c.Zstd:
		w, err := zstd.NewWriter(nil)
		must(err)
		payload = w.EncodeAll(payload, nil)
		flags |= 0x8000
	case c.LZ4:
		payload = lz4(payload)
		flags |= 0x2000
	}
	switch c.Target {
	case 'a':
		flags |= 0x100000
	case 'f':
		flags |= 0x200000
	}
	h := make([]byte, max(c.Header, 64))
	le.PutUint16(h, uint16(c.Kind))
	le.PutUint16(h[2:], 0x0101)
	le.PutUint32(h[4:], uint32(len(h)))
	le.PutUint32(h[0x1c:], uint32(c.SM))
	le.PutUint16(h[0x18:], uint16(c.Minor))
	le.PutUint16(h[0x1a:], uint16(c.Major))
	le.PutUint64(h[0x28:], flags)
	if c.Zstd || c.LZ4 {
		le.PutUint32(h[0x10:], uint32(len(payload)))
		le.PutUint64(h[0x38:], uint64(plain))
	}
	payload = append(payload, make([]byte, (8-len(payload)%8)%8)...)
	le.PutUint64(h[8:], uint64(len(payload)))
	return append(h, payload...)
}

func (c Code) payload() []byte {
	if c.Kind != 2 {
		text := "//\n.version 8.0\n.target sm_80\n"
		for _, k := range c.Kernels {
			text += ".visible .entry " + k + "(\n)\n{ret;}\n"
		}
		return []byte(text)
	}
	return Cubin(c.SM, c.Kernels...)
}

// Cubin builds the beginning of a cubin of the old ABI.
func Cubin(sm int, kernels ...string) []byte {
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01\x33\x07")
	le := binary.LittleEndian
	le.PutUint16(b[16:], 2)
	le.PutUint16(b[18:], 190)
	le.PutUint32(b[48:], uint32(sm)<<16|0x500|uint32(sm))
	b = append(b, "\x00.shstrtab\x00.strtab\x00.symtab\x00"...)
	for _, k := range kernels {
		b = append(b, ".nv.info."+k+"\x00.text."+k+"\x00.nv.constant0."+k+"\x00"...)
	}
	return append(b, "\x00.shstrtab\x00"...)
}

// lz4 writes a block of literals alone.
func lz4(b []byte) []byte {
	n := len(b)
	if n < 15 {
		return append([]byte{byte(n << 4)}, b...)
	}
	out := []byte{0xf0}
	for n -= 15; n >= 255; n -= 255 {
		out = append(out, 255)
	}
	return append(append(out, byte(n)), b...)
}
