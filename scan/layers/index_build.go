package layers

import (
	"container/heap"
	"slices"
	"strings"
)

// Runs of this many entries, or bytes of their names, are sorted in memory.
const (
	runEntries = 1 << 15
	runBytes   = 2 << 20
)

// maxRuns is how many runs of one level are kept before they are merged into
// one of the next.
const maxRuns = 16

// builder makes an index of paths that come in any order, in memory that does
// not grow with their number beyond what the index itself takes.
type builder struct {
	pending []Entry
	bytes   int
	// recent tells the last node of each path among those pending, once links
	// are looked for in the index.
	recent map[string]int
	// runs are sorted runs, each level's at most maxRuns, those of higher
	// levels first.
	runs []run
	// size is what the runs take, in bytes.
	size  int
	seq   uint32
	links linkSet
}

// run is a sorted part of an index.
type run struct {
	*Index
	level int
}

// add takes one entry. Its path must be canonical (see builder.canonical).
func (b *builder) add(path string, typ Type, link string) {
	b.seq++
	b.pending = append(b.pending, Entry{Path: path, Type: typ, Link: link, seq: b.seq})
	b.bytes += len(path) + len(link)
	switch typ {
	case Symlink:
		b.links.removeBelow(path, b.seq)
		b.links.add(path, link)
	case Whiteout, Opaque:
	case Dir:
		b.links.remove(path)
	default:
		b.links.remove(path)
		b.links.removeBelow(path, b.seq)
	}
	if b.links.gone != nil && typ != Whiteout && typ != Opaque {
		b.note(path)
	}
	if len(b.pending) >= runEntries || b.bytes >= runBytes {
		b.flush()
	}
}

// note tells recent of the entry that came last, and of all that are pending
// when it is the first.
func (b *builder) note(path string) {
	if b.recent == nil {
		b.recent = make(map[string]int)
		for i, e := range b.pending {
			if e.Type != Whiteout && e.Type != Opaque {
				b.recent[e.Path] = i
			}
		}
	}
	b.recent[path] = len(b.pending) - 1
}

// flush sorts what is pending into a run of its own.
func (b *builder) flush() {
	if len(b.pending) == 0 {
		return
	}
	slices.SortFunc(b.pending, compareEntries)
	var w encoder
	for i := range b.pending {
		w.add(&b.pending[i])
	}
	b.push(run{w.done(), 0})
	clear(b.pending)
	clear(b.recent)
	b.pending, b.bytes = b.pending[:0], 0
}

// push takes a run, and merges those of one level when there are many.
func (b *builder) push(r run) {
	b.runs = append(b.runs, r)
	b.size += r.size
	n := 0
	for i := len(b.runs) - 1; i >= 0 && b.runs[i].level == r.level; i-- {
		n++
	}
	if n < maxRuns {
		return
	}
	last := b.runs[len(b.runs)-n:]
	for _, x := range last {
		b.size -= x.size
	}
	merged := merge(last)
	clear(last)
	b.runs = b.runs[:len(b.runs)-n]
	b.push(run{merged, r.level + 1})
}

func compareEntries(a, b Entry) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	return int(int64(a.seq) - int64(b.seq))
}

// index merges the runs. It is the last that a builder does.
func (b *builder) index() *Index {
	b.flush()
	// What is not needed any more is let go of before the runs are there twice.
	b.pending, b.recent, b.links = nil, nil, linkSet{}
	runs := b.runs
	b.runs = nil
	switch len(runs) {
	case 0:
		return &Index{}
	case 1:
		return runs[0].Index
	}
	return merge(runs)
}

// merge makes one index of sorted runs, which are empty afterwards.
func merge(runs []run) *Index {
	var h cursors
	for _, r := range runs {
		c := &cursor{run: r.Index}
		if c.next() {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	var w encoder
	for len(h) > 0 {
		w.add(&h[0].entry)
		if h[0].next() {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	return w.done()
}

// cursor reads a run once, an entry at a time, letting go of each block that
// it has read.
type cursor struct {
	run   *Index
	block int
	d     decoder
	entry Entry
}

func (c *cursor) next() bool {
	for !c.d.next(&c.entry) {
		if c.block == len(c.run.blocks) {
			return false
		}
		c.d.reset(inflateBlock(c.d.buf, c.run.blocks[c.block].data))
		c.run.blocks[c.block].data = nil
		c.block++
	}
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
