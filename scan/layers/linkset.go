package layers

// Links are held by name up to these bounds. Beyond them a filter says which
// paths may be links, and the index tells.
const (
	exactLinks     = 1 << 14
	exactNodes     = 1 << 15 // with the directories above the links
	exactLinkBytes = 4 << 20
)

// maxLost is how many replaced directories are known by name once the filter
// is in use.
const maxLost = 1 << 16

// linkSet knows the symbolic links that a layer has brought so far.
type linkSet struct {
	// nodes are the links held by name, and the directories above them.
	nodes map[string]*linkNode
	count int
	bytes int
	// links holds the links that are not held by name, dirs the directories
	// above them: most entries lie in one of these, and none of them is a link
	// to be looked for.
	links, dirs bloom
	// marked is the directory that dirs got last.
	marked string
	// gone are paths at which something else than a directory came to stand,
	// maybe over links of the filter, and when.
	gone map[string]uint32
	// full says that gone lacks some.
	full bool
}

// linkNode is a link or a directory above one. Each knows what is below it, so
// that it takes no search to forget a directory.
type linkNode struct {
	path, target string
	link         bool
	parent       *linkNode
	child        *linkNode // the first below
	prev, next   *linkNode // the others in the same directory
}

// none says that the layer has brought no link yet.
func (s *linkSet) none() bool { return s.nodes == nil }

func (s *linkSet) get(p string) (string, bool) {
	if n := s.nodes[p]; n != nil && n.link {
		return n.target, true
	}
	return "", false
}

func (s *linkSet) add(p, target string) {
	if s.nodes == nil {
		s.nodes = make(map[string]*linkNode)
	}
	if s.count < exactLinks && s.bytes+len(p)+len(target) <= exactLinkBytes && s.fits(p) {
		n := s.node(p)
		if !n.link {
			s.count++
			s.bytes += len(p)
		}
		s.bytes += len(target) - len(n.target)
		n.link, n.target = true, target
		return
	}
	s.remove(p) // an older link of that name
	if s.gone == nil {
		s.links, s.dirs = newBloom(6<<20), newBloom(1<<20) // 8e-4 wrong at 3 million links
		s.gone = map[string]uint32{}
	}
	s.links.add(p)
	dir := parent(p)
	if dir == s.marked {
		return
	}
	for s.marked = dir; dir != ""; dir = parent(dir) {
		s.dirs.add(dir)
	}
}

// fits says whether a path and the directories above it can be held by name.
func (s *linkSet) fits(p string) bool {
	room := exactNodes - len(s.nodes)
	for ; p != "" && s.nodes[p] == nil; p = parent(p) {
		if room--; room < 0 {
			return false
		}
	}
	return true
}

// node makes the nodes of a path and the directories above it.
func (s *linkSet) node(p string) *linkNode {
	n := s.nodes[p]
	if n != nil {
		return n
	}
	n = &linkNode{path: p}
	s.nodes[p] = n
	for below := n; ; {
		dir := parent(below.path)
		if dir == "" {
			return n
		}
		up, known := s.nodes[dir]
		if !known {
			up = &linkNode{path: dir}
			s.nodes[dir] = up
		}
		below.parent, below.next = up, up.child
		if up.child != nil {
			up.child.prev = below
		}
		up.child = below
		if known {
			return n
		}
		below = up
	}
}

// remove forgets a link that something else replaces.
func (s *linkSet) remove(p string) {
	n := s.nodes[p]
	if n == nil {
		return
	}
	s.unlink(n)
	s.prune(n)
}

func (s *linkSet) unlink(n *linkNode) {
	if n.link {
		s.count--
		s.bytes -= len(n.path) + len(n.target)
		n.link, n.target = false, ""
	}
}

// prune takes out a node without use, and those above it that were there for
// it alone.
func (s *linkSet) prune(n *linkNode) {
	for n != nil && !n.link && n.child == nil {
		up := n.parent
		if n.next != nil {
			n.next.prev = n.prev
		}
		if n.prev != nil {
			n.prev.next = n.next
		} else if up != nil {
			up.child = n.next
		}
		delete(s.nodes, n.path)
		n = up
	}
}

// removeBelow forgets the links in a directory that a file or link replaces at
// a place in the tar.
func (s *linkSet) removeBelow(dir string, seq uint32) {
	if s.dirs.maybe(dir) {
		if _, known := s.gone[dir]; known || len(s.gone) < maxLost {
			s.gone[dir] = seq
		} else {
			s.full = true
		}
	}
	top := s.nodes[dir]
	if top == nil {
		return
	}
	for todo := []*linkNode{top.child}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for ; n != nil; n = n.next {
			if n.child != nil {
				todo = append(todo, n.child)
			}
			s.unlink(n)
			delete(s.nodes, n.path)
		}
	}
	top.child = nil
	s.prune(top)
}

// lost says whether a link of the filter went away with a directory above it
// after a place in the tar.
func (s *linkSet) lost(p string, seq uint32) bool {
	if len(s.gone) == 0 {
		return false
	}
	for dir := parent(p); dir != ""; dir = parent(dir) {
		if s.gone[dir] > seq {
			return true
		}
	}
	return false
}

// maybe says whether a path may be a link that is not held by name.
func (s *linkSet) maybe(p string) bool { return s.links.maybe(p) }
