package binary

import (
	"encoding/hex"
	"strings"
)

const (
	ptNote   = 4
	maxNotes = 64 << 10 // bytes of notes that are read
	// fwdCompat is the section in which libcuda of cuda-compat says which
	// drivers and GPUs it is for (NVIDIA's container toolkit reads it).
	fwdCompat = ".note.cuda.fwd_compatibility"
)

// notesOf are the first segments of notes: real files have two or three.
func notesOf(segs []segment) []segment {
	var list []segment
	for _, s := range segs {
		if s.typ == ptNote && len(list) < 16 {
			list = append(list, s)
		}
	}
	return list
}

// buildID finds GNU's build ID among notes.
func (f *File) buildID(h header, b []byte) {
	const gnuBuildID = 3
	h.notes(b, func(owner string, typ uint32, desc []byte) {
		if owner == "GNU" && typ == gnuBuildID && len(desc) <= 64 {
			f.BuildID = hex.EncodeToString(desc)
		}
	})
}

// compat finds what cuda-compat says of itself.
func (f *File) compat(h header, b []byte) {
	h.notes(b, func(owner string, _ uint32, desc []byte) {
		if owner == "NVIDIA Corporation" {
			f.FwdCompat = strings.TrimRight(string(desc), "\x00")
		}
	})
}

// notes calls yield for each note.
func (h header) notes(b []byte, yield func(owner string, typ uint32, desc []byte)) {
	for len(b) >= 12 {
		name, desc, typ := uint64(h.order.Uint32(b)), uint64(h.order.Uint32(b[4:])), h.order.Uint32(b[8:])
		b = b[12:]
		descAt := (name + 3) &^ 3
		if name > uint64(len(b)) || descAt > uint64(len(b)) || desc > uint64(len(b))-descAt {
			return
		}
		yield(cString(b[:name]), typ, b[descAt:descAt+desc])
		b = b[min(uint64(len(b)), descAt+(desc+3)&^3):]
	}
}
