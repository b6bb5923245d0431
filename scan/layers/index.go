package layers

import (
	"sort"
	"strings"
)

// Type is the type of an entry of an index.
type Type byte

// Types of entries. Whiteout and Opaque are marks beside a node.
const (
	Dir      Type = 'd'
	Regular  Type = 'f'
	Symlink  Type = 'l'
	Other    Type = 'o' // device, fifo
	Whiteout Type = 'w' // the name is hidden in lower layers
	Opaque   Type = 'q' // the directory hides its content in lower layers
)

// Entry is one path of a layer. Paths have no leading slash.
type Entry struct {
	Path string
	Type Type
	// Link is the target of a symbolic link.
	Link string
	// seq counts the entries in the order of the tar: of two with one path the
	// later wins.
	seq uint32
}

// block is a run of sorted, front-coded entries.
type block struct {
	// first comes after all paths of the block before, or is the path at which
	// that one ends, and is not after any of this block.
	first string
	data  []byte // compressed
}

// Index holds the paths of a layer, sorted, front-coded and compressed: about
// ten bytes a path. It is not safe for concurrent use.
type Index struct {
	blocks []block
	count  int
	size   int
	// cache are the blocks decoded last.
	cache [4]struct {
		n       int
		entries []Entry
	}
	turn int
}

// Len is the number of entries.
func (x *Index) Len() int { return x.count }

// Size is the size of the index in bytes.
func (x *Index) Size() int { return x.size }

// entries decodes a block.
func (x *Index) entries(n int) []Entry {
	for i := range x.cache {
		if c := &x.cache[i]; c.entries != nil && c.n == n {
			return c.entries
		}
	}
	es := decodeBlock(x.blocks[n].data)
	c := &x.cache[x.turn]
	x.turn = (x.turn + 1) % len(x.cache)
	c.n, c.entries = n, es
	return es
}

// from calls yield for the entries from a path on, in order, until it is false.
func (x *Index) from(p string, yield func(*Entry) bool) {
	// The first block that may hold p is the last one that begins before it:
	// entries of one path may span blocks.
	n := sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].first >= p })
	if n > 0 {
		n--
	}
	for ; n < len(x.blocks); n++ {
		es := x.entries(n)
		i := sort.Search(len(es), func(i int) bool { return es[i].Path >= p })
		for ; i < len(es); i++ {
			if !yield(&es[i]) {
				return
			}
		}
	}
}

// Node is what a layer has at one path.
type Node struct {
	// Type is that of the node, 0 if the layer has none there. A directory
	// that has entries below it but none of its own is Dir as well.
	Type Type
	Link string
	// Whiteout and Opaque are the marks.
	Whiteout, Opaque bool
	// The places in the tar of the node and of the marks, and the last place
	// at which a non-directory stood here: what was below before is gone.
	seq, whiteout, opaque, lost uint32
}

// at reads what stands at a path, without its ancestors.
func (x *Index) at(p string) Node {
	var n Node
	x.from(p, func(e *Entry) bool {
		if e.Path != p {
			return false
		}
		switch e.Type {
		case Whiteout:
			n.whiteout = max(n.whiteout, e.seq)
		case Opaque:
			n.opaque = max(n.opaque, e.seq)
		default:
			if e.seq >= n.seq {
				n.Type, n.Link, n.seq = e.Type, e.Link, e.seq
			}
			if e.Type != Dir {
				n.lost = max(n.lost, e.seq)
			}
		}
		return true
	})
	// Unpacking writes a node over a whiteout that came before it.
	n.Whiteout = n.whiteout > n.seq
	n.Opaque = n.opaque > n.lost
	if n.Type == 0 && (p == "" || n.Opaque || x.hasBelow(p)) {
		n.Type = Dir
	}
	return n
}

// hasBelow says whether the layer has anything below a directory.
func (x *Index) hasBelow(dir string) bool {
	found := false
	x.from(dir+"/", func(e *Entry) bool {
		found = strings.HasPrefix(e.Path, dir+"/")
		return false
	})
	return found
}

// Get reads what the layer has at a path. What stood in a directory that was
// replaced later in the same tar is gone.
func (x *Index) Get(p string) Node {
	var lost uint32
	for i := range len(p) {
		if p[i] == '/' {
			lost = max(lost, x.at(p[:i]).lost)
		}
	}
	return x.get(p, lost)
}

// get is Get for a path of which the last place is known at which one of its
// ancestors was lost.
func (x *Index) get(p string, lost uint32) Node {
	n := x.at(p)
	if lost == 0 {
		return n
	}
	if n.Type != 0 && lost > n.seq {
		n.Type, n.Link = 0, ""
		if n.opaque > lost || x.livesBelow(p, lost) {
			n.Type = Dir
		}
	}
	n.Whiteout = n.Whiteout && n.whiteout > lost
	n.Opaque = n.Opaque && n.opaque > lost
	return n
}

// livesBelow says whether anything came below a directory after a place in
// the tar.
func (x *Index) livesBelow(dir string, seq uint32) bool {
	found := false
	x.from(dir+"/", func(e *Entry) bool {
		if !strings.HasPrefix(e.Path, dir+"/") {
			return false
		}
		found = e.seq > seq
		return !found
	})
	return found
}

// Children calls yield for each name that stands directly in a directory, in
// order, once each.
func (x *Index) Children(dir string, yield func(name string) bool) {
	prefix := dir + "/"
	if dir == "" {
		prefix = ""
	}
	last := ""
	x.from(prefix, func(e *Entry) bool {
		rest, ok := strings.CutPrefix(e.Path, prefix)
		if !ok {
			return false
		}
		name, _, _ := strings.Cut(rest, "/")
		if name == "" || name == last {
			return true
		}
		last = name
		return yield(name)
	})
}
