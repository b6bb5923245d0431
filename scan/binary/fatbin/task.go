package fatbin

import "encoding/binary"

// do is what a task waits to do.
type do uint8

const (
	doEntry do = iota // read the header of an entry
	doHead            // take the first bytes of its payload
	doGap             // find what follows the container
	doCubin           // read the header of a cubin
)

// task waits for bytes of the file: need of them from at on.
type task struct {
	at   int64
	need int
	do   do

	container int32
	entries   []Entry
	// e and l are the entry whose payload is taken, head what there is of it
	// and want how much.
	e    Entry
	l    layout
	head []byte
	want int
}

// entry makes a task wait for the entry at a place, or for what follows the
// container that ends there.
func (t *task) entry(at, end int64) {
	t.do, t.at, t.need = doEntry, at, entryHeader
	if at >= end {
		t.do, t.need = doGap, 8
	}
}

// run does a task whose bytes are in the window w. It is false when the task is done for good.
func (s *Scanner) run(t *task, w []byte) bool {
	b := w[t.at-s.start:]
	switch t.do {
	case doCubin:
		if e, ok := parseCubin(b); ok {
			s.bares = append(s.bares, bare{t.at, e})
		}
		return false
	case doEntry:
		return s.readEntry(t, b)
	case doHead:
		return s.readHead(t, b)
	}
	return s.readGap(t, b)
}

func (s *Scanner) readEntry(t *task, b []byte) bool {
	c := &s.containers[t.container]
	e, l, ok := parseEntry(b, c.end-t.at)
	if !ok || len(t.entries) >= maxEntries {
		c.broken = true
		s.closed(t, c)
		t.entry(c.end, c.end)
		return true
	}
	t.entries = append(t.entries, e)
	if wanted(e) && !c.named && l.stored > 0 && s.captures < maxCaptures {
		s.captures++
		t.e, t.l, t.want = e, l, int(min(l.stored, limitOf(e)))
		t.do, t.at, t.need, t.head = doHead, t.at+l.header, 1, t.head[:0]
		return true
	}
	s.advance(t, c, t.at+l.size())
	return true
}

// limitOf is how many stored bytes are enough for the names of an entry.
func limitOf(e Entry) int64 {
	if e.Compression == Zstd {
		return headStored
	}
	return headBytes
}

// advance goes on to the next entry.
func (s *Scanner) advance(t *task, c *container, at int64) {
	if at >= c.end {
		s.closed(t, c)
	}
	t.entry(at, c.end)
}

func (s *Scanner) readHead(t *task, b []byte) bool {
	c := &s.containers[t.container]
	n := min(len(b), t.want-len(t.head))
	head := b[:n]
	if n < t.want { // it lies across windows
		t.head = append(t.head, b[:n]...)
		if head = t.head; len(head) < t.want {
			t.at += int64(n)
			return true
		}
	}
	s.captures--
	from := int32(len(s.hashes))
	c.named = s.payload(t.e, t.l, head, &s.plain)
	if c.from == c.to {
		c.from = from
	}
	c.to = int32(len(s.hashes))
	payload := t.at + int64(n) - int64(t.want)
	s.advance(t, c, payload+t.l.stored)
	return true
}

// closed notes the entries of a container that was read.
func (s *Scanner) closed(t *task, c *container) {
	c.set = s.intern(t.entries)
	t.entries, t.head = nil, nil
}

// readGap skips the zeros behind a container.
func (s *Scanner) readGap(t *task, b []byte) bool {
	c := &s.containers[t.container]
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:]) != 0 {
			c.next = t.at + int64(i)
			return false
		}
	}
	t.at += int64(i)
	return true
}

// tasks are sorted by what they wait for.
type tasks []*task

func (h tasks) Len() int { return len(h) }
func (h tasks) Less(i, j int) bool {
	return h[i].at+int64(h[i].need) < h[j].at+int64(h[j].need)
}
func (h tasks) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *tasks) Push(x any)   { *h = append(*h, x.(*task)) }
func (h *tasks) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return t
}
