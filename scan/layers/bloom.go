package layers

import "hash/maphash"

// bloom is a Bloom filter: it says of each path that was added that it may be
// there, and of few others.
type bloom struct {
	words []uint64
	seed  maphash.Seed
}

// newBloom makes one of a size in bytes.
func newBloom(size int) bloom { return bloom{make([]uint64, size/8), maphash.MakeSeed()} }

// hashes is how many bits a path sets: best at eleven bits a path or so.
const hashes = 6

func (f bloom) add(p string) {
	f.each(p, func(word, bit uint64) bool { f.words[word] |= bit; return true })
}

// maybe is false for paths that were never added; of a filter without size for
// all.
func (f bloom) maybe(p string) bool {
	return f.words != nil && f.each(p, func(word, bit uint64) bool { return f.words[word]&bit != 0 })
}

// each visits the bits of a path.
func (f bloom) each(p string, visit func(word, bit uint64) bool) bool {
	h := maphash.String(f.seed, p)
	n := uint64(len(f.words)) * 64
	step := h>>32 | 1
	for i := uint64(0); i < hashes; i++ {
		v := (h + i*step) % n
		if !visit(v/64, 1<<(v%64)) {
			return false
		}
	}
	return true
}
