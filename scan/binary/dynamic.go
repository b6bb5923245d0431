package binary

import "bytes"

// dynamic is what .dynamic says: offsets into the string table.
type dynamic struct {
	needed                 []uint64
	soname, rpath, runpath uint64
	strtab, strsz          uint64
	hasStrtab              bool
	verneed, verneednum    uint64
	verdef, verdefnum      uint64
	// ended says that the entry was there that ends the section.
	ended bool
}

// parseDynamic reads the entries of .dynamic.
func (h header) parseDynamic(b []byte) dynamic {
	var d dynamic
	step := 8
	if h.is64 {
		step = 16
	}
	for ; len(b) >= step; b = b[step:] {
		var tag, val uint64
		if h.is64 {
			tag, val = h.order.Uint64(b), h.order.Uint64(b[8:])
		} else {
			tag, val = uint64(h.order.Uint32(b)), uint64(h.order.Uint32(b[4:]))
		}
		switch tag {
		case 0:
			d.ended = true
			return d
		case dtNeeded:
			if len(d.needed) < maxNeeded {
				d.needed = append(d.needed, val)
			}
		case dtSoname:
			d.soname = val
		case dtRpath:
			d.rpath = val
		case dtRunpath:
			d.runpath = val
		case dtStrtab:
			d.strtab, d.hasStrtab = val, true
		case dtStrsz:
			d.strsz = val
		case dtVerneed:
			d.verneed = val
		case dtVerneednum:
			d.verneednum = val
		case dtVerdef:
			d.verdef = val
		case dtVerdefnum:
			d.verdefnum = val
		}
	}
	return d
}

// noEnd is said of a section whose end was not read.
const noEnd = "the dynamic section is cut off"

// names says whether any string has to be looked up.
func (d dynamic) names() bool {
	return len(d.needed) > 0 || d.soname > 0 || d.rpath > 0 || d.runpath > 0 || d.verneednum > 0 || d.verdefnum > 0
}

// strings is where the string table lies in the file.
func (d dynamic) strings(segs []segment, size int64) (extent, bool) {
	if !d.hasStrtab {
		return extent{}, false
	}
	off, ok := fileOffset(segs, d.strtab)
	if !ok {
		return extent{}, false
	}
	return clip(off, d.strsz, size, maxStrings)
}

// fill takes the names out of the string table, of which at gives the bytes
// from an offset on (at most maxString of them, nil if they are not there).
// needs and defs are the tables of symbol versions.
func (f *File) fill(h header, d dynamic, needs, defs []byte, at func(off uint64) []byte) {
	str := func(off uint64) string {
		if off == 0 {
			return ""
		}
		b := at(off)
		if b == nil {
			f.Incomplete = "a dynamic string lies outside what was read"
			return ""
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(b[:i])
		}
		f.Incomplete = "a dynamic string is longer than 4096 bytes or cut off"
		return ""
	}
	f.SONAME, f.RPATH, f.RUNPATH = str(d.soname), str(d.rpath), str(d.runpath)
	for _, n := range d.needed {
		if s := str(n); s != "" {
			f.Needed = append(f.Needed, s)
		}
	}
	f.needs(h, d, needs, str)
	f.provides(h, d, defs, str)
}
