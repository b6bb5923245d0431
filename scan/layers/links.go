package layers

import (
	"hash/maphash"
	"path"
	"strings"
)

// maxLinkHops is how many symbolic links one path may lead through, Linux's
// own bound.
const maxLinkHops = 40

// exactLinks is how many links are held by name. Beyond it a filter says which
// paths may be links, and the index tells.
const exactLinks = 1 << 16

// linkSet knows the symbolic links that a layer has brought so far.
type linkSet struct {
	exact map[string]string
	// dirs are the directories above the links held by name.
	dirs   map[string]bool
	filter []uint64
	seed   maphash.Seed
}

func (s *linkSet) add(p, target string) {
	if s.exact == nil {
		s.exact, s.dirs = make(map[string]string), make(map[string]bool)
	}
	if len(s.exact) < exactLinks {
		s.exact[p] = target
		for dir := parent(p); dir != "" && !s.dirs[dir]; dir = parent(dir) {
			s.dirs[dir] = true
		}
		return
	}
	if s.filter == nil {
		s.filter, s.seed = make([]uint64, 2<<20), maphash.MakeSeed() // 16 MiB: 4e-6 wrong at 3 million
	}
	s.each(p, func(word, bit uint64) bool { s.filter[word] |= bit; return true })
}

// remove forgets a link that something else replaces.
func (s *linkSet) remove(p string) { delete(s.exact, p) }

// removeBelow forgets the links in a directory that a file or link replaces.
func (s *linkSet) removeBelow(dir string) {
	if !s.dirs[dir] {
		return
	}
	below := func(p string) bool { return len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir }
	for p := range s.exact {
		if below(p) {
			delete(s.exact, p)
		}
	}
	delete(s.dirs, dir)
	for p := range s.dirs {
		if below(p) {
			delete(s.dirs, p)
		}
	}
}

// each visits the bits of a path.
func (s *linkSet) each(p string, visit func(word, bit uint64) bool) bool {
	h := maphash.String(s.seed, p)
	n := uint64(len(s.filter)) * 64
	step := h>>32 | 1
	for i := uint64(0); i < 6; i++ {
		v := (h + i*step) % n
		if !visit(v/64, 1<<(v%64)) {
			return false
		}
	}
	return true
}

// maybe says whether a path may be a link that is not held by name.
func (s *linkSet) maybe(p string) bool {
	return s.filter != nil && s.each(p, func(word, bit uint64) bool { return s.filter[word]&bit != 0 })
}

// readlink returns the target of a link that the layer has brought.
func (b *builder) readlink(p string) (string, bool) {
	if t, ok := b.links.exact[p]; ok {
		return t, true
	}
	if !b.links.maybe(p) {
		return "", false
	}
	var last Entry
	for _, r := range b.runs {
		r.from(p, func(e *Entry) bool {
			if e.Path == p && e.Type != Whiteout && e.Type != Opaque && e.seq > last.seq {
				last = *e
			}
			return e.Path == p
		})
	}
	for _, e := range b.pending {
		if e.Path == p && e.Type != Whiteout && e.Type != Opaque && e.seq > last.seq {
			last = e
		}
	}
	return last.Link, last.Type == Symlink
}

// canonical is where an entry of the tar comes to lie: unpacking goes through
// the links of directories that the same tar has brought before. The last
// element is not followed. It is false for a path that leads in circles.
func (b *builder) canonical(p string) (string, bool) {
	if len(b.links.exact) == 0 {
		return p, true
	}
	return resolveParents(p, b.readlink)
}

// resolveParents follows the links among the ancestors of a path inside the
// root: .. at the root stays there, as in a chroot.
func resolveParents(p string, readlink func(string) (string, bool)) (string, bool) {
	done, hops := "", 0
	rest := p
	for {
		name, after, more := strings.Cut(rest, "/")
		if !more {
			return path.Join(done, name), true
		}
		rest = after
		switch name {
		case "", ".":
			continue
		case "..":
			done = parent(done)
			continue
		}
		at := path.Join(done, name)
		target, ok := readlink(at)
		if !ok {
			done = at
			continue
		}
		if hops++; hops > maxLinkHops || len(target)+len(rest) > maxPathLength {
			return "", false
		}
		if strings.HasPrefix(target, "/") {
			done = ""
		}
		rest = target + "/" + rest
	}
}

// parent is the directory of a path, the root's own being the root.
func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return ""
	}
	return p[:i]
}
