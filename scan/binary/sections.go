package binary

import (
	"bytes"

	"github.com/gpulint/gpulint/scan/binary/fatbin"
)

// Bounds of the section table.
const (
	maxSections     = 8192
	maxSectionNames = 1 << 20
	// beforeTable is how many bytes before the section table a stream keeps:
	// linkers put the sections' names there.
	beforeTable = 64 << 10
)

const (
	shtNull     = 0
	shtNobits   = 8
	shtProgbits = 1
	shfAlloc    = 2
	shfExec     = 4
)

// codeMachine says whether a file can hold device code that CUDA uses.
func (h header) codeMachine() bool { return h.is64 && h.order.Uint16([]byte{1, 0}) == 1 }

// table is where the section table lies; it is false where there is none, or
// none that can be believed.
func (h header) table(size int64) (extent, bool) {
	const entry = 64
	n := int64(h.shnum) * int64(h.shentsize)
	if !h.is64 || h.shoff == 0 || h.shnum == 0 || h.shnum > maxSections || h.shentsize < entry || h.shstrndx >= h.shnum ||
		h.shoff > uint64(size) || n > size-int64(h.shoff) {
		return extent{}, false
	}
	return extent{int64(h.shoff), int64(h.shoff) + n}, true
}

// names is where the names of the sections of a table lie.
func (h header) names(table []byte, size int64) (extent, bool) {
	s := table[h.shstrndx*h.shentsize:]
	return clip(h.order.Uint64(s[24:]), h.order.Uint64(s[32:]), size, maxSectionNames)
}

// sections reads the sections that hold bytes.
func (h header) sections(table, names []byte, size int64) []fatbin.Section {
	list := make([]fatbin.Section, 0, h.shnum)
	for i := range h.shnum {
		s := table[i*h.shentsize:]
		if t := h.order.Uint32(s[4:]); t == shtNull || t == shtNobits {
			continue
		}
		e, ok := clip(h.order.Uint64(s[24:]), h.order.Uint64(s[32:]), size, size)
		if !ok {
			continue
		}
		flags := h.order.Uint64(s[8:])
		sec := fatbin.Section{
			Off: e.off, End: e.end,
			Data: h.order.Uint32(s[4:]) == shtProgbits && flags&shfAlloc != 0 && flags&shfExec == 0,
		}
		if n := h.order.Uint32(s); int64(n) < int64(len(names)) {
			name := names[n:]
			if i := bytes.IndexByte(name, 0); i >= 0 {
				sec.Name = string(name[:min(i, 64)])
			}
		}
		list = append(list, sec)
	}
	return list
}

// Why the sections of a file are not known.
const (
	noSections  = "there is no section table that says what is code of the GPU"
	farSections = "the names of the sections lie where a stream does not keep them"
)

// tail keeps a part of a stream that is wanted later.
type tail struct {
	extent
	b []byte
}

// take takes what it wants of bytes of the file.
func (t *tail) take(pos int64, b []byte) {
	from, to := max(t.off+int64(len(t.b)), pos), min(t.end, pos+int64(len(b)))
	if from == t.off+int64(len(t.b)) && from < to {
		t.b = append(t.b, b[from-pos:to-pos]...)
	}
}

// part is what it has of a range of the file, nil if not all of it.
func (t *tail) part(e extent) []byte {
	if e.off < t.off || e.end > t.off+int64(len(t.b)) {
		return nil
	}
	return t.b[e.off-t.off : e.end-t.off]
}
