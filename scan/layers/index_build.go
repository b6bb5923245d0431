package layers

import (
	"container/heap"
	"slices"
	"strings"
)

// Runs of this many entries, or bytes of their names, are sorted in memory.
const (
	runEntries = 1 << 16
	runBytes   = 4 << 20
)

// builder makes an index of paths that come in any order, in memory that does
// not grow with their number beyond what the index itself takes.
type builder struct {
	pending []Entry
	bytes   int
	runs    []*Index
	seq     uint32
	links   linkSet
}

// add takes one entry. Its path must be canonical (see builder.canonical).
func (b *builder) add(path string, typ Type, link string) {
	b.seq++
	b.pending = append(b.pending, Entry{Path: path, Type: typ, Link: link, seq: b.seq})
	b.bytes += len(path) + len(link)
	switch typ {
	case Symlink:
		b.links.removeBelow(path)
		b.links.add(path, link)
	case Whiteout, Opaque:
	case Dir:
		b.links.remove(path)
	default:
		b.links.remove(path)
		b.links.removeBelow(path)
	}
	if len(b.pending) >= runEntries || b.bytes >= runBytes {
		b.run()
	}
}

// size is what the index takes so far, in bytes.
func (b *builder) size() int {
	n := 0
	for _, r := range b.runs {
		n += r.size
	}
	return n
}

// run sorts what is pending into a run of its own.
func (b *builder) run() {
	if len(b.pending) == 0 {
		return
	}
	slices.SortFunc(b.pending, compareEntries)
	var w encoder
	for _, e := range b.pending {
		w.add(e)
	}
	b.runs = append(b.runs, w.done())
	clear(b.pending)
	b.pending, b.bytes = b.pending[:0], 0
}

func compareEntries(a, b Entry) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return int(int64(a.seq) - int64(b.seq))
}

// index merges the runs.
func (b *builder) index() *Index {
	b.run()
	b.pending = nil
	switch len(b.runs) {
	case 0:
		return &Index{}
	case 1:
		return b.runs[0]
	}
	var h cursors
	for _, r := range b.runs {
		c := &cursor{run: r}
		if c.next() {
			h = append(h, c)
		}
	}
	b.runs = nil
	heap.Init(&h)
	var w encoder
	for len(h) > 0 {
		w.add(h[0].entry)
		if h[0].next() {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return w.done()
}

// cursor reads a run once, letting go of each block that it has read.
type cursor struct {
	run     *Index
	block   int
	entries []Entry
	entry   Entry
}

func (c *cursor) next() bool {
	for len(c.entries) == 0 {
		if c.block == len(c.run.blocks) {
			return false
		}
		c.entries = decodeBlock(c.run.blocks[c.block].data)
		c.run.blocks[c.block].data = nil
		c.block++
	}
	c.entry, c.entries = c.entries[0], c.entries[1:]
	return true
}

type cursors []*cursor

func (h cursors) Len() int           { return len(h) }
func (h cursors) Less(i, j int) bool { return compareEntries(h[i].entry, h[j].entry) < 0 }
func (h cursors) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(x any)        { *h = append(*h, x.(*cursor)) }
func (h *cursors) Pop() any {
	old := *h
	c := old[len(old)-1]
	*h = old[:len(old)-1]
	return c
}
