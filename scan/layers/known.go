package layers

import (
	"strings"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/packages"
)

// known tells which facts came from which entry of the tar: of two entries
// with one path only the later counts, with all that was read in it. A tar may
// replace each of its entries, so facts stay in their lists until compact.
type known struct {
	// driver, runtime and binary find facts by path: index into DriverFiles,
	// Runtimes and Binaries.
	driver, runtime, binary map[string]int
	// serial counts the files that were looked into; live is the serial of the
	// last one at a path, for those of which something is kept.
	serial int
	live   map[string]int
	// packages, confs, toolkits, cached and statements are the serials of the facts of that kind.
	packages, confs, toolkits, cached, statements []int
	owners                                        map[string]owned
	// ownedBy are the paths that a record gave owners, by the record.
	ownedBy map[string][]string
}

// owned is the owner of a path, and the file that says so.
type owned struct {
	packages.Owner
	record string
	serial int
}

// from notes that the fact just added to a list was read in the file at hand.
func (k *known) from(abs string, list *[]int) {
	*list = append(*list, k.keep(abs))
}

// keep notes that something of the file at hand is kept.
func (k *known) keep(abs string) int {
	if k.live == nil {
		k.live = map[string]int{}
	}
	k.live[abs] = k.serial
	return k.serial
}

// forget drops facts of an entry that a later one of the same tar replaces.
func (w *walker) forget(abs string) {
	if i, ok := w.driver[abs]; ok {
		w.f.DriverFiles[i] = facts.DriverFile{}
		delete(w.driver, abs)
	}
	if i, ok := w.runtime[abs]; ok {
		w.f.Runtimes[i] = facts.Runtime{}
		delete(w.runtime, abs)
	}
	if i, ok := w.binary[abs]; ok {
		w.f.Binaries[i] = facts.Binary{}
		delete(w.binary, abs)
	}
	delete(w.live, abs)
	w.serial++
}

// compact takes out what was forgotten, and what stood in a directory that the
// same tar replaced later.
func (w *walker) compact() {
	tree, last, seen := NewTree([]*Index{w.f.Index}), "", false
	there := func(p string) bool {
		if p != last { // the records of one file stand together
			n, _ := tree.Lstat(strings.TrimPrefix(p, "/"))
			last, seen = p, n.Type != 0
		}
		return seen
	}
	live := func(p string, serial int) bool { return w.live[p] == serial && there(p) }
	f := w.f
	f.DriverFiles = filter(f.DriverFiles, func(_ int, d *facts.DriverFile) bool { return d.Path != "" && there(d.Path) })
	f.Runtimes = filter(f.Runtimes, func(_ int, r *facts.Runtime) bool { return r.Path != "" && there(r.Path) })
	f.Binaries = filter(f.Binaries, func(_ int, b *facts.Binary) bool { return b.Path != "" && there(b.Path) })
	f.Toolkits = filter(f.Toolkits, func(i int, t *facts.Toolkit) bool { return live(t.Path, w.toolkits[i]) })
	f.Conf = filter(f.Conf, func(i int, c *ConfFile) bool { return live(c.Path, w.confs[i]) })
	f.Statements = filter(f.Statements, func(i int, s *Statement) bool { return live(s.Path, w.statements[i]) })
	f.LinkerCache = filter(f.LinkerCache, func(i int, e *CacheEntry) bool { return live(e.Cache, w.cached[i]) })
	f.Records = filter(f.Records, func(i int, r *PackageRecord) bool { return live(r.Path, w.packages[i]) })
	for p, o := range w.owners {
		if live(o.record, o.serial) {
			f.Owners[p] = o.Owner
		}
	}
}

// filter keeps the elements of a list that a function wants.
func filter[T any](list []T, want func(i int, e *T) bool) []T {
	kept := list[:0]
	for i := range list {
		if want(i, &list[i]) {
			kept = append(kept, list[i])
		}
	}
	clear(list[len(kept):])
	return kept
}
