package layers

import (
	"path"
	"strings"
)

// maxLinkHops is how many symbolic links one path may lead through, Linux's
// own bound.
const maxLinkHops = 40

// readlink returns the target of a link that the layer has brought.
func (b *builder) readlink(p string) (string, bool) {
	if t, ok := b.links.get(p); ok {
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
	if i, ok := b.recent[p]; ok && b.pending[i].seq > last.seq {
		last = b.pending[i]
	}
	return last.Link, last.Type == Symlink && !b.links.lost(p, last.seq)
}

// has says whether the layer has brought a path so far.
func (b *builder) has(p string) bool {
	found := false
	is := func(e *Entry) bool {
		found = found || e.Path == p && e.Type != Whiteout && e.Type != Opaque
		return e.Path == p && !found
	}
	for _, r := range b.runs {
		r.from(p, is)
	}
	for i := range b.pending {
		is(&b.pending[i])
	}
	return found
}

// canonical is where an entry of the tar comes to lie: unpacking goes through
// the links of directories that the same tar has brought before. The last
// element is not followed. It is false for a path that leads in circles.
func (b *builder) canonical(p string) (string, bool) {
	if b.links.none() {
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
