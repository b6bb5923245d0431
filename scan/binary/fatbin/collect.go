package fatbin

import (
	"encoding/binary"
	"slices"
)

// container is one that was read to its end, or to where it breaks.
type container struct {
	// pos is its place in the file, end that of what follows.
	pos, end int64
	// next is the place of the first word behind it that is not zero, -1 if
	// that is not known.
	next int64
	// set is the index of its entries.
	set int32
	// from and to bound its kernels' hashes.
	from, to int32
	// named says that all kernel names of one of its entries are known.
	named bool
	// broken says that an entry could not be read.
	broken bool
}

// bare is a cubin outside of containers, or in one.
type bare struct {
	pos   int64
	entry Entry
}

// collector keeps what is found in one file, in bounded memory.
type collector struct {
	containers []container
	bares      []bare
	sets       [][]Entry
	ids        map[string]int32
	hashes     []uint64
	samples    map[uint64]string
	key        []byte
	toolkits   []string
	incomplete string
}

func (c *collector) limit(what string) {
	if c.incomplete == "" {
		c.incomplete = what
	}
}

// intern returns the index of a set of entries, which it sorts.
func (c *collector) intern(entries []Entry) int32 {
	sortEntries(entries)
	b := c.key[:0]
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e.Kind))
		b = binary.LittleEndian.AppendUint16(b, uint16(e.SM))
		b = binary.LittleEndian.AppendUint16(b, uint16(e.Major))
		b = binary.LittleEndian.AppendUint16(b, uint16(e.Minor))
		debug := byte(0)
		if e.Debug {
			debug = 1
		}
		b = append(b, e.Target, byte(e.Compression), byte(e.Bits), debug)
	}
	c.key = b
	if id, ok := c.ids[string(b)]; ok {
		return id
	}
	if len(c.sets) >= maxSets {
		c.limit("more different containers than are kept")
		return -1
	}
	if c.ids == nil {
		c.ids = map[string]int32{}
	}
	id := int32(len(c.sets))
	c.ids[string(b)] = id
	c.sets = append(c.sets, slices.Clone(entries))
	return id
}

// name notes a kernel of the container that is being read.
func (c *collector) name(k []byte) {
	if len(c.hashes) >= maxKernels {
		c.limit("more kernels than are kept")
		return
	}
	h := hash(k)
	c.hashes = append(c.hashes, h)
	if len(c.samples) < maxSets {
		if c.samples == nil {
			c.samples = map[uint64]string{}
		}
		if _, ok := c.samples[h]; !ok {
			c.samples[h] = string(k[:min(len(k), maxSample)])
		}
	}
}

// made notes a toolkit that made a cubin.
func (c *collector) made(release string) {
	if !slices.Contains(c.toolkits, release) && len(c.toolkits) < maxToolkits {
		c.toolkits = append(c.toolkits, release)
	}
}

// payload reads the kernel names of an entry, of whose payload head are the
// first bytes as stored. It says whether they are all there.
func (c *collector) payload(e Entry, l layout, head []byte, buf *[]byte) bool {
	plain, whole := head, int64(len(head)) >= l.stored
	switch e.Compression {
	case Plain:
	case LZ4, Zstd:
		if *buf == nil {
			*buf = make([]byte, 0, headBytes)
		}
		stored := head[:min(int64(len(head)), l.compressed)]
		if e.Compression == LZ4 {
			plain = lz4Head((*buf)[:0], stored)
		} else {
			plain = zstdHead((*buf)[:0], stored)
		}
		whole = uint64(len(plain)) >= l.uncompressed
	default:
		return false
	}
	switch e.Kind {
	case Cubin:
		if t, ok := tkinfo(plain); ok && t.release != "" {
			c.made(t.release)
		}
		return kernels(plain, c.name)
	case PTX:
		entries(plain, c.name)
		return whole
	}
	return false
}

// wanted says whether an entry has kernel names to be read.
func wanted(e Entry) bool { return e.Kind == Cubin || e.Kind == PTX }

// parseCubin reads the header of a cubin that stands by itself.
func parseCubin(b []byte) (Entry, bool) {
	if len(b) < 64 || string(b[:4]) != "\x7fELF" || b[4] != 2 || b[5] != 1 || binary.LittleEndian.Uint16(b[18:]) != 190 {
		return Entry{}, false
	}
	flags := binary.LittleEndian.Uint32(b[48:])
	e := Entry{Kind: Cubin, Bits: 64, Major: 1, Minor: int(b[8])}
	if b[8] >= 8 || b[7] == 0x41 {
		e.SM = int(flags >> 8 & 0xff)
	} else {
		e.SM = int(flags & 0xff)
		if flags&0x800 != 0 {
			e.Target = 'a'
		}
	}
	return e, e.SM >= 10
}
