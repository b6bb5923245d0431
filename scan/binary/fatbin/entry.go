// Package fatbin reads CUDA's device code: the containers (fatbins) that nvcc
// puts into libraries and programs, the cubins and PTX inside, and those that
// stand alone. The layout is no public format; docs/fatbin.md says where each
// part of it is known from.
//
// Sizes in headers are claims. A header that stands where none belongs must
// neither hide a real one nor take memory or time out of proportion.
package fatbin

import "encoding/binary"

// Kind is the kind of an entry, as its header has it.
type Kind uint16

// Kinds of entries.
const (
	PTX    Kind = 1
	Cubin  Kind = 2
	OldELF Kind = 4    // a cubin of old toolkits
	LTO    Kind = 8    // LTO IR, which no driver runs
	Merc   Kind = 0x10 // a second kind of ELF (Mercury)
)

// Compression is how an entry is compressed.
type Compression uint8

// Compressions.
const (
	Plain   Compression = iota
	Old                 // flag 0x1000, of old toolkits
	LZ4                 // flag 0x2000
	Zstd                // flag 0x8000; drivers before CUDA 12.4 cannot read it
	Unknown             // sizes that say compressed, and no flag that says how
)

// Entry is what the header of one entry says. It is comparable.
type Entry struct {
	Kind Kind
	// SM is the compute capability as two or three digits: 90 is 9.0, 120 is
	// 12.0.
	SM int
	// Target is 'a' for an architecture-specific target (sm_90a), 'f' for one
	// of a family (sm_100f), else 0.
	Target byte
	// Major and Minor are the PTX ISA version of PTX; of other kinds a version
	// of the format.
	Major, Minor int
	Compression  Compression
	// Bits is 64, or 32 for code of old 32-bit programs.
	Bits int
	// Debug says that it was compiled for debugging (-G).
	Debug bool
}

// Sizes of headers in bytes.
const (
	containerHeader = 16
	entryHeader     = 64
	// maxEntryHeader is far above the 128 that were seen.
	maxEntryHeader = 4096
)

// word is the first word of each container: magic, version 1, header size 16.
const word = 0x0010_0001_BA55_ED50

// Bits of an entry's flags.
const (
	flag64     = 0x1
	flagDebug  = 0x2
	flagOld    = 0x1000
	flagLZ4    = 0x2000
	flagZstd   = 0x8000
	flagArch   = 0x100000
	flagFamily = 0x200000
)

// layout is where the parts of an entry lie.
type layout struct {
	header, stored, compressed int64
	uncompressed               uint64
}

// size is that of the whole entry.
func (l layout) size() int64 { return l.header + l.stored }

// parseEntry reads the header of an entry that has no more than left bytes.
func parseEntry(b []byte, left int64) (Entry, layout, bool) {
	if len(b) < entryHeader {
		return Entry{}, layout{}, false
	}
	le := binary.LittleEndian
	header, stored := int64(le.Uint32(b[4:])), le.Uint64(b[8:])
	if le.Uint16(b[2:]) != 0x0101 || header < entryHeader || header > maxEntryHeader || header > left || stored > uint64(left-header) {
		return Entry{}, layout{}, false
	}
	l := layout{
		header: header, stored: int64(stored), compressed: int64(le.Uint32(b[0x10:])),
		uncompressed: le.Uint64(b[0x38:]),
	}
	flags := le.Uint64(b[0x28:])
	e := Entry{
		Kind: Kind(le.Uint16(b)), SM: int(le.Uint32(b[0x1c:])), Major: int(le.Uint16(b[0x1a:])), Minor: int(le.Uint16(b[0x18:])),
		Bits: 32, Debug: flags&flagDebug != 0,
	}
	if e.SM < 0 || e.SM > 9999 || l.compressed > l.stored {
		return Entry{}, layout{}, false
	}
	if flags&flag64 != 0 {
		e.Bits = 64
	}
	switch {
	case flags&flagArch != 0:
		e.Target = 'a'
	case flags&flagFamily != 0:
		e.Target = 'f'
	}
	switch {
	case l.compressed == 0:
	case flags&flagZstd != 0:
		e.Compression = Zstd
	case flags&flagLZ4 != 0:
		e.Compression = LZ4
	case flags&flagOld != 0:
		e.Compression = Old
	case l.uncompressed != 0:
		e.Compression = Unknown
	}
	return e, l, true
}

// parseContainer reads the header of a container of which no more than left
// bytes can be there, the header not counted. It returns the size of the
// entries in bytes.
func parseContainer(b []byte, left int64) (int64, bool) {
	if len(b) < containerHeader || binary.LittleEndian.Uint64(b) != word {
		return 0, false
	}
	n := binary.LittleEndian.Uint64(b[8:])
	if n > uint64(max(left, 0)) || n%8 != 0 {
		return 0, false
	}
	return int64(n), true
}
