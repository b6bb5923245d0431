package layers

import (
	"path"
	"sort"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// Tree is the file system that overlayfs shows of a stack of layers. Paths are
// relative to the root, without a leading slash. It is for one goroutine.
type Tree struct {
	layers []*Index
	// dirs remembers what stands at directories, lost the last place in each
	// layer at which a directory or one of its ancestors was lost. Without them
	// a path of a thousand elements takes a million look-ups.
	dirs map[string]spot
	lost []map[string]loss
}

// loss is what a layer has at a directory, and the last place at which it or
// one of its ancestors was lost.
type loss struct {
	at   Node
	last uint32
}

// maxMemo bounds what a tree remembers; when it is full it begins anew.
const maxMemo = 100_000

// spot is what stands at a path: the node, the layer that shows it, and the
// layers that share a directory, top first.
type spot struct {
	node  Node
	layer int
	below []int
}

// NewTree makes a tree of the indexes of the layers, lowest first.
func NewTree(layers []*Index) *Tree {
	t := &Tree{layers: layers, dirs: map[string]spot{}, lost: make([]map[string]loss, len(layers))}
	for i := range t.lost {
		t.lost[i] = map[string]loss{}
	}
	return t
}

// Lstat reads what is at a path, without following a link at its end or on
// its way, and which layer shows it. The Node's Type is 0 if nothing is there.
func (t *Tree) Lstat(p string) (Node, int) {
	dir := spot{Node{Type: Dir}, len(t.layers) - 1, nil}
	for i := len(t.layers) - 1; i >= 0; i-- {
		dir.below = append(dir.below, i)
	}
	if p == "" {
		return dir.node, dir.layer
	}
	if known, ok := t.dirs[p]; ok {
		return known.node, known.layer
	}
	// Go on from the longest directory that is known.
	end := 0
	for i := len(p) - 1; i > 0; i-- {
		if p[i] != '/' {
			continue
		}
		if known, ok := t.dirs[p[:i]]; ok {
			dir, end = known, i+1
			break
		}
	}
	for {
		if dir.node.Type != Dir {
			return Node{}, -1
		}
		if i := strings.IndexByte(p[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(p)
		}
		n, layer, below := t.lookup(p[:end], dir.below)
		if end == len(p) {
			return n, layer
		}
		dir = spot{n, layer, below}
		if len(t.dirs) >= maxMemo {
			clear(t.dirs)
		}
		t.dirs[p[:end]] = dir
		end++
	}
}

// get is Index.Get of one layer.
func (t *Tree) get(layer int, p string) Node {
	if known, ok := t.lost[layer][p]; ok {
		return known.at
	}
	return t.layers[layer].get(p, t.lostAbove(layer, parent(p)))
}

// lostAbove is the last place in a layer at which a directory or one of its
// ancestors was lost.
func (t *Tree) lostAbove(layer int, dir string) uint32 {
	known := t.lost[layer]
	var lost uint32
	end := len(dir)
	for end > 0 {
		if l, ok := known[dir[:end]]; ok {
			lost = l.last
			break
		}
		end = max(strings.LastIndexByte(dir[:end], '/'), 0)
	}
	for end < len(dir) {
		start := end
		if start > 0 {
			start++
		}
		if i := strings.IndexByte(dir[start:], '/'); i >= 0 {
			end = start + i
		} else {
			end = len(dir)
		}
		n := t.layers[layer].get(dir[:end], lost)
		lost = max(lost, n.lost)
		if len(known) >= maxMemo {
			clear(known)
		}
		known[dir[:end]] = loss{n, lost}
	}
	return lost
}

// lookup finds a name in a directory that the given layers (top first) share.
// For a directory it returns the layers that share it in turn.
func (t *Tree) lookup(p string, merged []int) (Node, int, []int) {
	var found Node
	layer := -1
	var below []int
	for _, i := range merged {
		n := t.get(i, p)
		switch {
		case n.Type == 0:
		case n.Type == Dir:
			if found.Type == 0 {
				found, layer = n, i
			}
			below = append(below, i)
		case found.Type == 0:
			return n, i, nil
		default:
			return found, layer, below // a non-directory ends the merge
		}
		if n.Whiteout || n.Opaque {
			break
		}
	}
	return found, layer, below
}

// Shadow tells what hides the entry that a layer has at a path: nil if it is
// seen. The lowest layer that hides it is named. An opaque marker of the root
// hides nothing: overlayfs does not heed it there.
func (t *Tree) Shadow(layer int, p string) *facts.Shadow {
	for j := layer + 1; j < len(t.layers); j++ {
		for i := 1; i <= len(p); i++ {
			if i < len(p) && p[i] != '/' {
				continue
			}
			if how := t.hides(j, p[:i], i == len(p)); how != "" {
				return &facts.Shadow{Layer: j, How: how, By: "/" + p[:i]}
			}
		}
	}
	return nil
}

// hides says how a layer hides what lower layers have at a path (last) or
// below it.
func (t *Tree) hides(layer int, p string, last bool) string {
	n := t.get(layer, p)
	switch {
	case n.Whiteout:
		return "whiteout"
	case n.Type != 0 && (n.Type != Dir || last):
		return "replaced"
	case n.Opaque && !last:
		return "opaque"
	}
	return ""
}

// Resolve follows all links of a path inside the root. It is false if nothing
// is there or the links lead in circles.
func (t *Tree) Resolve(p string) (string, Node, bool) {
	for range maxLinkHops {
		q, ok := resolveParents(p, func(at string) (string, bool) {
			n, _ := t.Lstat(at)
			return n.Link, n.Type == Symlink
		})
		if !ok {
			return "", Node{}, false
		}
		n, _ := t.Lstat(q)
		if n.Type != Symlink {
			return q, n, n.Type != 0
		}
		if len(n.Link) > maxPathLength {
			return "", Node{}, false
		}
		if strings.HasPrefix(n.Link, "/") {
			p = n.Link
		} else {
			p = parent(q) + "/" + n.Link
		}
		// A trailing slash or dots mean the directory itself.
		if b := path.Base(p); b == ".." || b == "." || strings.HasSuffix(p, "/") {
			p += "/."
		}
		if p, ok = settle(p, t); !ok {
			return "", Node{}, false
		}
	}
	return "", Node{}, false
}

// settle makes a path whose end may be a dot into one whose end is a name.
func settle(p string, t *Tree) (string, bool) {
	if b := path.Base(p); b != "." && b != ".." && !strings.HasSuffix(p, "/") {
		return p, true
	}
	q, ok := resolveParents(p+"/x", func(at string) (string, bool) {
		n, _ := t.Lstat(at)
		return n.Link, n.Type == Symlink
	})
	return parent(q), ok
}

// ReadDir lists the names in a directory, sorted.
func (t *Tree) ReadDir(dir string) []string {
	seen := map[string]bool{}
	for _, x := range t.layers {
		x.Children(dir, func(name string) bool {
			seen[name] = true
			return len(seen) < 100_000
		})
	}
	var names []string
	for name := range seen {
		if n, _ := t.Lstat(path.Join(dir, name)); n.Type != 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// Glob returns the paths that match a pattern, at most limit.
func (t *Tree) Glob(pattern string, limit int) []string {
	matches := []string{""}
	for _, part := range strings.Split(strings.TrimPrefix(pattern, "/"), "/") {
		var next []string
		for _, dir := range matches {
			if !strings.ContainsAny(part, "*?[") {
				if n, _ := t.Lstat(path.Join(dir, part)); n.Type != 0 {
					next = append(next, path.Join(dir, part))
				}
				continue
			}
			for _, name := range t.ReadDir(dir) {
				if ok, err := path.Match(part, name); err == nil && ok && len(next) < limit {
					next = append(next, path.Join(dir, name))
				}
			}
		}
		matches = next
	}
	return matches
}
