package layers

import (
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/catalog"
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
		for _, x := range f.Incomplete {
			x.Layer = i
			img.Incomplete = append(img.Incomplete, x)
		}
	}
	m.linkerDirs()
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
	owners []map[string]string
}

// place gives a file its layer, its owner, and what became of it.
func (m *merger) place(layer int, f *facts.File) {
	f.Layer = layer
	p := strings.TrimPrefix(f.Path, "/")
	f.Shadowed = m.tree.Shadow(layer, p)
	f.Package = m.owner(layer, f.Path)
	if f.Link != "" && f.Shadowed == nil {
		if to, n, ok := m.tree.Resolve(p); ok && n.Type == Regular {
			f.Resolved = "/" + to
		}
	}
}

// owner finds the package that owns a path: in the records of the layer that
// brought it, else of later layers, else of earlier ones.
func (m *merger) owner(layer int, p string) string {
	if m.owners == nil {
		m.owners = make([]map[string]string, len(m.fs))
		for i, f := range m.fs {
			m.owners[i] = make(map[string]string, len(f.Owners))
			for q, pkg := range f.Owners {
				m.owners[i][m.canonical(q)] = pkg
			}
		}
	}
	p = m.canonical(p)
	for i := layer; i < len(m.fs); i++ {
		if pkg := m.owners[i][p]; pkg != "" {
			return pkg
		}
	}
	for i := layer - 1; i >= 0; i-- {
		if pkg := m.owners[i][p]; pkg != "" {
			return pkg
		}
	}
	return ""
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

// defaultDirs are those that glibc searches by itself, those of Debian's
// multiarch included.
var defaultDirs = []string{
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	"/lib64", "/usr/lib64", "/lib", "/usr/lib",
}

// linkerDirs lists the directories of the dynamic linker.
func (m *merger) linkerDirs() {
	seen := map[string]bool{}
	add := func(dir, from string) {
		if !strings.HasPrefix(dir, "/") || len(dir) > maxPathLength || len(m.img.LinkerDirs) >= 1000 {
			return
		}
		dir = path.Clean(dir)
		if seen[dir] {
			return
		}
		seen[dir] = true
		resolved := dir
		if to, n, ok := m.tree.Resolve(strings.TrimPrefix(dir, "/")); ok && n.Type == Dir {
			resolved = "/" + to
		}
		m.img.LinkerDirs = append(m.img.LinkerDirs, facts.LinkerDir{Dir: dir, Resolved: resolved, From: from})
	}
	if v, ok := m.img.Config.Getenv("LD_LIBRARY_PATH"); ok {
		for _, dir := range strings.FieldsFunc(v, func(r rune) bool { return r == ':' || r == ';' }) {
			add(dir, "LD_LIBRARY_PATH")
		}
	}
	m.conf("/etc/ld.so.conf", add, 0)
	for _, dir := range defaultDirs {
		add(dir, "default")
	}
}

// conf reads a configuration file of the linker with what it includes.
func (m *merger) conf(file string, add func(dir, from string), depth int) {
	if depth > 4 {
		return
	}
	for i := len(m.fs) - 1; i >= 0; i-- {
		j := slices.IndexFunc(m.fs[i].Conf, func(c ConfFile) bool { return c.Path == file })
		if j < 0 || m.tree.Shadow(i, strings.TrimPrefix(file, "/")) != nil {
			continue
		}
		for _, line := range m.fs[i].Conf[j].Lines {
			pattern, ok := strings.CutPrefix(line, "include ")
			if !ok {
				add(line, file)
				continue
			}
			pattern = strings.TrimSpace(pattern)
			if !strings.HasPrefix(pattern, "/") {
				pattern = "/etc/" + pattern
			}
			for _, p := range m.tree.Glob(pattern, 1000) {
				m.conf("/"+p, add, depth+1)
			}
		}
		return
	}
}
