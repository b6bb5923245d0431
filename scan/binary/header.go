package binary

import (
	stdbinary "encoding/binary"
	"strconv"
)

// Bounds on what is believed of a header. They are far above what linkers
// write and keep memory small.
const (
	headerSize   = 64        // of an ELF64 header
	maxSegments  = 4096      // program headers
	maxDynamic   = 256 << 10 // bytes of .dynamic
	maxString    = 4096      // bytes of one dynamic string (PATH_MAX)
	maxNeeded    = 4096      // DT_NEEDED entries
	maxInterp    = 4096      // bytes of PT_INTERP
	maxStrings   = 64 << 20  // bytes of .dynstr that a header may claim
	defaultHead  = 8 << 20   // bytes of the file's head that a stream keeps
	maxRMStrings = 64        // distinct RM version strings
)

const (
	ptLoad    = 1
	ptDynamic = 2
	ptInterp  = 3

	dtNeeded  = 1
	dtStrtab  = 5
	dtStrsz   = 10
	dtSoname  = 14
	dtRpath   = 15
	dtRunpath = 29

	dtVerdef     = 0x6ffffffc
	dtVerdefnum  = 0x6ffffffd
	dtVerneed    = 0x6ffffffe
	dtVerneednum = 0x6fffffff
)

// emCUDA is the machine of cubins.
const emCUDA = 190

// machines are the names of the machines that containers run on.
var machines = map[uint16]string{
	3: "i386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm",
	62: "x86_64", 183: "aarch64", 190: "cuda", 224: "amdgpu", 243: "riscv64",
	247: "bpf", 258: "loongarch64",
}

// header is the part of the ELF header that the reader uses.
type header struct {
	order     stdbinary.ByteOrder
	is64      bool
	typ       uint16
	machine   uint16
	phoff     uint64
	phentsize int
	phnum     int
	shoff     uint64
	shentsize int
	shnum     int
	shstrndx  int
}

// segment is a program header. filesz and offset are not yet checked.
type segment struct {
	typ                   uint32
	offset, vaddr, filesz uint64
}

func parseHeader(b []byte) (header, bool) {
	var h header
	if len(b) < 52 || string(b[:4]) != "\x7fELF" || b[6] != 1 {
		return h, false
	}
	switch b[5] {
	case 1:
		h.order = stdbinary.LittleEndian
	case 2:
		h.order = stdbinary.BigEndian
	default:
		return h, false
	}
	switch b[4] {
	case 1:
	case 2:
		h.is64 = true
	default:
		return h, false
	}
	h.typ = h.order.Uint16(b[16:])
	h.machine = h.order.Uint16(b[18:])
	if h.is64 {
		if len(b) < headerSize {
			return h, false
		}
		h.phoff = h.order.Uint64(b[32:])
		h.phentsize = int(h.order.Uint16(b[54:]))
		h.phnum = int(h.order.Uint16(b[56:]))
		h.shoff = h.order.Uint64(b[40:])
		h.shentsize, h.shnum, h.shstrndx = int(h.order.Uint16(b[58:])), int(h.order.Uint16(b[60:])), int(h.order.Uint16(b[62:]))
		return h, true
	}
	h.phoff = uint64(h.order.Uint32(b[28:]))
	h.phentsize = int(h.order.Uint16(b[42:]))
	h.phnum = int(h.order.Uint16(b[44:]))
	h.shoff = uint64(h.order.Uint32(b[32:]))
	h.shentsize, h.shnum, h.shstrndx = int(h.order.Uint16(b[46:])), int(h.order.Uint16(b[48:])), int(h.order.Uint16(b[50:]))
	return h, true
}

// minSegment is the size of a program header.
func (h header) minSegment() int {
	if h.is64 {
		return 56
	}
	return 32
}

// segmentsEnd is the end of the program header table, false if the header's
// claim is not believable.
func (h header) segmentsEnd(size int64) (int64, bool) {
	if h.phnum > maxSegments || (h.phnum > 0 && h.phentsize < h.minSegment()) {
		return 0, false
	}
	n := int64(h.phnum) * int64(h.phentsize)
	if h.phoff > uint64(size) || int64(h.phoff)+n > size {
		return 0, false
	}
	return int64(h.phoff) + n, true
}

// parseSegments reads the program header table b.
func (h header) parseSegments(b []byte) []segment {
	segs := make([]segment, 0, h.phnum)
	for i := 0; i < h.phnum; i++ {
		p := b[i*h.phentsize:]
		s := segment{typ: h.order.Uint32(p)}
		if h.is64 {
			s.offset, s.vaddr, s.filesz = h.order.Uint64(p[8:]), h.order.Uint64(p[16:]), h.order.Uint64(p[32:])
		} else {
			s.offset, s.vaddr, s.filesz = uint64(h.order.Uint32(p[4:])), uint64(h.order.Uint32(p[8:])), uint64(h.order.Uint32(p[16:]))
		}
		segs = append(segs, s)
	}
	return segs
}

func machineName(m uint16) string {
	if n, ok := machines[m]; ok {
		return n
	}
	return "EM_" + strconv.Itoa(int(m))
}

// extent is a range of the file.
type extent struct{ off, end int64 }

func (e extent) size() int64 { return e.end - e.off }

// find returns the first segment of a type, clipped to the file.
func find(segs []segment, typ uint32, size, limit int64) (extent, bool) {
	for _, s := range segs {
		if s.typ == typ {
			return clip(s.offset, s.filesz, size, limit)
		}
	}
	return extent{}, false
}

// clip bounds a claimed range to the file and to limit bytes.
func clip(off, n uint64, size, limit int64) (extent, bool) {
	if off >= uint64(size) || n == 0 {
		return extent{}, false
	}
	if n > uint64(size)-off {
		n = uint64(size) - off
	}
	if n > uint64(limit) {
		n = uint64(limit)
	}
	return extent{int64(off), int64(off) + int64(n)}, true
}

// fileOffset maps a virtual address to its place in the file.
func fileOffset(segs []segment, vaddr uint64) (uint64, bool) {
	for _, s := range segs {
		if s.typ == ptLoad && vaddr >= s.vaddr && vaddr-s.vaddr < s.filesz {
			return s.offset + (vaddr - s.vaddr), true
		}
	}
	return 0, false
}
