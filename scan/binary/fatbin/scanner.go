package fatbin

import (
	"container/heap"
	"encoding/binary"
)

const (
	// chunk is how many bytes are looked at together, carry how many of those
	// before are kept, for headers that lie across.
	chunk = 512 << 10
	carry = 512
	// maxActive bounds the containers that are open at once, maxCaptures those
	// whose payload is being kept.
	maxActive   = 1 << 16
	maxCaptures = 16
	maxBares    = 1 << 16
)

// cubinWord and cubinMask find the headers of cubins: their eighth byte tells
// the ABI.
const (
	cubinWord = 0x00_01_01_02_46_4C_45_7F
	cubinMask = 0x00_FF_FF_FF_FF_FF_FF_FF
)

// Scanner finds the device code of a file that comes as a stream, from its
// first byte on.
//
// Each header of a container is noted as it goes by, also in what another one
// claims to be its payload. Which of them count is known at the end, when the
// sections are: see [Scanner.Finish].
type Scanner struct {
	collector
	size int64
	// buf holds the file from start on, n bytes of it.
	buf   []byte
	start int64
	n     int
	// searched is the place of the next word that was not looked at.
	searched int64
	tasks    tasks
	captures int
	plain    []byte
	watch    func(b []byte, pos int64)
}

// NewScanner makes a scanner of a file of a size in bytes.
func NewScanner(size int64) *Scanner {
	return &Scanner{size: size, buf: make([]byte, carry+8+chunk)}
}

// Reset makes a scanner fit for another file.
func (s *Scanner) Reset(size int64) {
	*s = Scanner{size: size, buf: s.buf, plain: s.plain, collector: collector{
		containers: s.containers[:0], bares: s.bares[:0], hashes: s.hashes[:0], key: s.key,
	}}
}

// Next returns room for bytes of the file, 256 KiB of it. What is read into it
// is given to Commit.
func (s *Scanner) Next() []byte { return s.buf[s.n : s.n+chunk] }

// Commit takes the first n bytes of what Next returned.
func (s *Scanner) Commit(n int) {
	s.n += n
	s.process()
}

// InPayload says whether the next n bytes are all of the payload of one entry,
// by what its header says.
func (s *Scanner) InPayload(n int) bool {
	return len(s.tasks) > 0 && s.tasks[0].do == doEntry && s.tasks[0].at > s.start+int64(s.n+n)
}

// jump goes on at another place of the file, behind all that was read.
func (s *Scanner) jump(to int64) {
	s.start, s.n, s.searched = to&^7, 0, to&^7
}

// Write takes bytes of the file. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := copy(s.Next(), rest)
		s.Commit(n)
		rest = rest[n:]
	}
	return len(p), nil
}

// process looks at what is new in the buffer.
func (s *Scanner) process() {
	w, end := s.buf[:s.n], s.start+int64(s.n)
	s.search(w)
	for len(s.tasks) > 0 && s.tasks[0].at+int64(s.tasks[0].need) <= end {
		t := s.tasks[0]
		if s.run(t, w) {
			heap.Fix(&s.tasks, 0)
		} else {
			heap.Pop(&s.tasks)
		}
	}
	// The start stays at a multiple of 8.
	if drop := (s.n - carry) &^ 7; drop > 0 {
		copy(s.buf, s.buf[drop:s.n])
		s.n -= drop
		s.start += int64(drop)
	}
}

// search looks for headers of containers and cubins among the words that are
// new.
func (s *Scanner) search(w []byte) {
	i := int(s.searched - s.start)
	for ; i+64+8 <= len(w); i += 64 {
		b := (*[64]byte)(w[i:])
		le := binary.LittleEndian
		v0, v1, v2, v3 := le.Uint64(b[0:]), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
		v4, v5, v6, v7 := le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:]), le.Uint64(b[56:])
		if v0 == word || v1 == word || v2 == word || v3 == word || v4 == word || v5 == word || v6 == word || v7 == word ||
			v0&cubinMask == cubinWord || v1&cubinMask == cubinWord || v2&cubinMask == cubinWord || v3&cubinMask == cubinWord ||
			v4&cubinMask == cubinWord || v5&cubinMask == cubinWord || v6&cubinMask == cubinWord || v7&cubinMask == cubinWord {
			for j := 0; j < 64; j += 8 {
				s.match(w, i+j)
			}
		}
	}
	for ; i+containerHeader <= len(w); i += 8 {
		s.match(w, i)
	}
	s.searched = s.start + int64(i)
}

// match begins a task where a header stands.
func (s *Scanner) match(w []byte, i int) {
	pos := s.start + int64(i)
	switch v := binary.LittleEndian.Uint64(w[i:]); {
	case v == word:
		n, ok := parseContainer(w[i:min(len(w), i+containerHeader)], s.size-pos-containerHeader)
		if !ok {
			return
		}
		if len(s.tasks) >= maxActive || len(s.containers) >= maxContainers {
			s.limit("more headers of containers than are kept")
			return
		}
		c := container{pos: pos, end: pos + containerHeader + n, next: -1, set: -1}
		if n == 0 {
			c.set = s.intern(nil)
		}
		s.containers = append(s.containers, c)
		t := &task{container: int32(len(s.containers) - 1)}
		t.entry(pos+containerHeader, pos+containerHeader+n)
		heap.Push(&s.tasks, t)
	case v&cubinMask == cubinWord:
		if len(s.bares) >= maxBares || len(s.tasks) >= maxActive {
			s.limit("more cubins than are kept")
			return
		}
		heap.Push(&s.tasks, &task{do: doCubin, at: pos, need: 64, container: -1})
	}
}
