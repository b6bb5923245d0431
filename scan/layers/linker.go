package layers

import (
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// noLayer is the layer of what no layer is to blame for.
const noLayer = -1

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
	c := &confReader{m: m, files: m.confFiles(), add: add, seen: map[string]bool{}, globs: maxConfGlobs}
	c.read("/etc/ld.so.conf", 0)
	for _, dir := range defaultDirs {
		add(dir, "default")
	}
}

// Bounds of the linker's configuration: files may include each other.
const (
	maxConfDepth = 4
	maxConfGlobs = 100
	confLimit    = "ld.so.conf"
)

// confReader reads the linker's configuration, each file once.
type confReader struct {
	m     *merger
	files map[string]*ConfFile
	add   func(dir, from string)
	seen  map[string]bool
	globs int
}

// read reads one file with what it includes.
func (c *confReader) read(file string, depth int) {
	if c.seen[file] {
		return
	}
	c.seen[file] = true
	conf := c.files[file]
	if conf == nil {
		return
	}
	for _, line := range conf.Lines {
		pattern, ok := includes(line)
		if !ok {
			c.add(line, file)
			continue
		}
		if depth == maxConfDepth || c.globs == 0 {
			c.cut(file)
			return
		}
		c.globs--
		for _, p := range c.m.tree.Glob(pattern, 1000) {
			c.read("/"+p, depth+1)
		}
	}
}

// cut notes that a bound hides what a file includes.
func (c *confReader) cut(file string) {
	in := &c.m.img.Incomplete
	if i := slices.IndexFunc(*in, func(x facts.Incomplete) bool { return x.Limit == confLimit && x.Layer == noLayer }); i >= 0 {
		(*in)[i].Count++
		return
	}
	*in = append(*in, facts.Incomplete{
		Limit: confLimit, Layer: noLayer, Path: file, Count: 1, Hides: "directories of the linker's configuration",
	})
}

// includes returns the pattern of an include line.
func includes(line string) (string, bool) {
	f := strings.Fields(line)
	if len(f) != 2 || f[0] != "include" {
		return "", false
	}
	if strings.HasPrefix(f[1], "/") {
		return f[1], true
	}
	return "/etc/" + f[1], true
}

// confFiles are the visible configuration files by path.
func (m *merger) confFiles() map[string]*ConfFile {
	files := map[string]*ConfFile{}
	for i, f := range m.fs {
		for j := range f.Conf {
			if c := &f.Conf[j]; m.tree.Shadow(i, strings.TrimPrefix(c.Path, "/")) == nil {
				files[c.Path] = c
			}
		}
	}
	return files
}

// cached lists the visible linker's cache.
func (m *merger) cached() {
	for i, f := range m.fs {
		for _, e := range f.LinkerCache {
			if m.tree.Shadow(i, strings.TrimPrefix(e.Cache, "/")) != nil {
				continue
			}
			_, n, ok := m.tree.Resolve(strings.TrimPrefix(e.Path, "/"))
			e.Stale = !ok || n.Type != Regular
			m.img.LinkerCache = append(m.img.LinkerCache, e.CachedLibrary)
		}
	}
}
