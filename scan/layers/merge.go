package layers

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/catalog"
	"github.com/gpulint/gpulint/scan/packages"
)

// Merge fills an image with what its layers hold, lowest first. It sets the
// facts that come from layers, and reads img.Config.
func Merge(img *facts.Image, fs []*Facts) {
	m := &merger{img: img, fs: fs}
	for _, f := range fs {
		m.indexes = append(m.indexes, f.Index)
	}
	m.tree = NewTree(m.indexes)
	m.packages()
	img.DriverFiles, img.Runtimes, img.Toolkits = []facts.DriverFile{}, []facts.Runtime{}, []facts.Toolkit{}
	img.Binaries = []facts.Binary{}
	for i, f := range fs {
		for _, d := range f.DriverFiles {
			m.place(i, &d.File)
			img.DriverFiles = append(img.DriverFiles, d)
		}
		for _, r := range f.Runtimes {
			m.place(i, &r.File)
			img.Runtimes = append(img.Runtimes, r)
		}
		for _, t := range f.Toolkits {
			m.place(i, &t.File)
			img.Toolkits = append(img.Toolkits, t)
		}
		for _, b := range f.Binaries {
			m.place(i, &b.File)
			img.Binaries = append(img.Binaries, b)
		}
		for _, x := range f.Incomplete {
			x.Layer = i
			img.Incomplete = append(img.Incomplete, x)
		}
	}
	m.libraries()
	m.frameworks()
	m.linkerDirs()
	m.links()
	m.cached()
	for _, k := range catalog.Kinds() {
		m.kind(k)
	}
}

type merger struct {
	img     *facts.Image
	fs      []*Facts
	indexes []*Index
	tree    *Tree
	// owners are the owners by canonical path, for each layer.
	owners []map[string]packages.Owner
}

// place gives a file its layer, its owner, and what became of it.
func (m *merger) place(layer int, f *facts.File) {
	f.Layer = layer
	p := strings.TrimPrefix(f.Path, "/")
	f.Shadowed = m.tree.Shadow(layer, p)
	o := m.owner(layer, f.Path)
	f.Package, f.Manager = o.Name, o.Manager
	if f.Link != "" && f.Shadowed == nil {
		if to, n, ok := m.tree.Resolve(p); ok && n.Type == Regular {
			f.Resolved = "/" + to
		}
	}
}

// owner finds the package that owns a path: in the records of the layer that
// brought it, else of later layers, else of earlier ones.
func (m *merger) owner(layer int, p string) packages.Owner {
	if m.owners == nil {
		m.owners = make([]map[string]packages.Owner, len(m.fs))
		for i, f := range m.fs {
			m.owners[i] = make(map[string]packages.Owner, len(f.Owners))
			// In order: neighbours stand in one block of the index.
			for _, q := range slices.Sorted(maps.Keys(f.Owners)) {
				m.owners[i][m.canonical(q)] = f.Owners[q]
			}
		}
	}
	p = m.canonical(p)
	for i := layer; i < len(m.fs); i++ {
		if o, ok := m.owners[i][p]; ok {
			return o
		}
	}
	for i := layer - 1; i >= 0; i-- {
		if o, ok := m.owners[i][p]; ok {
			return o
		}
	}
	o, _ := packages.NpmOwner(p)
	return o
}

// canonical follows the links of a path's directories: dpkg's lists say /lib
// where the tar says /usr/lib.
func (m *merger) canonical(p string) string {
	q, ok := resolveParents(strings.TrimPrefix(p, "/"), func(at string) (string, bool) {
		n, _ := m.tree.Lstat(at)
		return n.Link, n.Type == Symlink
	})
	if !ok {
		return p
	}
	return "/" + q
}

// kind notes what kind of image the final file system speaks for.
func (m *merger) kind(k catalog.Kind) {
	if !m.starts(k.Programs) {
		return
	}
	var paths []string
	for _, pattern := range k.Paths {
		found := m.tree.Glob(pattern, 3)
		if len(found) == 0 {
			return
		}
		paths = append(paths, "/"+found[0])
	}
	m.img.Markers = append(m.img.Markers, facts.Marker{Kind: k.Name, Paths: paths})
}

// starts says whether the image starts one of the programs, given as globs. A
// root file system has no configuration that could tell: there, all are.
func (m *merger) starts(programs []string) bool {
	c := m.img.Config
	words := strings.Fields(strings.Join(append(slices.Clone(c.Entrypoint), c.Cmd...), " "))
	if len(programs) == 0 || m.img.Source == "rootfs" {
		return true
	}
	for _, w := range words {
		for _, p := range programs {
			if ok, err := path.Match(p, path.Base(w)); ok && err == nil {
				return true
			}
		}
	}
	return false
}
