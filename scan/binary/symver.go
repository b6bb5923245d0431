package binary

// Bounds of the tables of symbol versions.
const (
	maxVersionTable = 256 << 10 // bytes
	maxVersions     = 4096      // names of one file
)

// LibraryVersions are the symbol versions that a file needs of a library, such
// as GLIBC_2.34 of libc.so.6.
type LibraryVersions struct {
	Library  string
	Versions []string
}

// versionTable is where a table of symbol versions lies in the file; its size
// is not known, only a bound.
func (d dynamic) versionTable(addr, count uint64, segs []segment, size int64) extent {
	if addr == 0 || count == 0 {
		return extent{}
	}
	off, ok := fileOffset(segs, addr)
	if !ok {
		return extent{}
	}
	e, _ := clip(off, maxVersionTable, size, maxVersionTable)
	return e
}

// needs reads the table of needed versions (DT_VERNEED).
func (f *File) needs(h header, d dynamic, b []byte, str func(uint64) string) {
	left := maxVersions
	for n := uint64(0); n < d.verneednum && len(b) >= 16; n++ {
		count, file, aux, next := h.order.Uint16(b[2:]), h.order.Uint32(b[4:]), h.order.Uint32(b[8:]), h.order.Uint32(b[12:])
		v := LibraryVersions{Library: str(uint64(file))}
		for at := b; count > 0 && left > 0 && uint64(aux)+16 <= uint64(len(at)); count, left = count-1, left-1 {
			at = at[aux:]
			if name := str(uint64(h.order.Uint32(at[8:]))); name != "" {
				v.Versions = append(v.Versions, name)
			}
			if aux = h.order.Uint32(at[12:]); aux == 0 {
				break
			}
		}
		if v.Library != "" {
			f.NeedsVersions = append(f.NeedsVersions, v)
		}
		if next == 0 || uint64(next) >= uint64(len(b)) || left == 0 {
			return
		}
		b = b[next:]
	}
}

// provides reads the table of versions that the file defines (DT_VERDEF); that
// of the file itself is left out.
func (f *File) provides(h header, d dynamic, b []byte, str func(uint64) string) {
	const base = 1
	for n := uint64(0); n < min(d.verdefnum, maxVersions) && len(b) >= 20; n++ {
		flags, aux, next := h.order.Uint16(b[2:]), h.order.Uint32(b[12:]), h.order.Uint32(b[16:])
		if flags&base == 0 && uint64(aux)+8 <= uint64(len(b)) {
			if name := str(uint64(h.order.Uint32(b[aux:]))); name != "" {
				f.Provides = append(f.Provides, name)
			}
		}
		if next == 0 || uint64(next) >= uint64(len(b)) {
			return
		}
		b = b[next:]
	}
}
