package layers

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/catalog"
)

// libraries lists the libraries of CUDA's userland among the binaries, with the
// versions that their names or their packages state.
func (m *merger) libraries() {
	m.img.Libraries = []facts.Library{}
	versions := map[[2]string]string{}
	for _, p := range m.img.Packages {
		versions[[2]string{p.Manager, p.Name}] = p.Version
	}
	for _, b := range m.img.Binaries {
		lib, ok := catalog.CUDA(b.SONAME)
		if !ok || b.Kind != facts.BinaryLibrary || place(b.Path) == facts.PlaceStubs {
			continue
		}
		l := facts.Library{
			File: b.File, Component: lib.Component, SONAME: b.SONAME, CUDA: lib.CUDA, Confidence: lib.Confidence, Source: lib.Source,
		}
		pkg := versions[[2]string{b.Manager, b.Package}]
		switch v := catalog.LibraryVersion(path.Base(b.Path), b.SONAME); {
		case v != "":
			l.Version, l.VersionFrom = v, facts.FromFileName
		case pkg != "":
			l.Version, l.VersionFrom = upstream(b.Manager, pkg), facts.FromPackage
		}
		if lib.Component == "cudart" && l.Version != "" {
			// The runtime's version is the toolkit's.
			if parts := strings.Split(l.Version, "."); len(parts) > 1 {
				l.CUDA = parts[0] + "." + parts[1]
			}
		}
		l.CUDA = cmp.Or(l.CUDA, catalog.PackageCUDA(b.Package, pkg))
		m.img.Libraries = append(m.img.Libraries, l)
	}
	slices.SortStableFunc(m.img.Libraries, func(a, b facts.Library) int {
		return cmp.Or(strings.Compare(a.Component, b.Component), strings.Compare(a.Path, b.Path), cmp.Compare(a.Layer, b.Layer))
	})
}

// upstream is the version that a package's is of: that of Debian adds a
// revision, and Debian's own packages of CUDA that of the toolkit.
func upstream(manager, version string) string {
	if manager != "dpkg" && manager != "rpm" {
		return version
	}
	if i := strings.Index(version, ":"); i >= 0 {
		version = version[i+1:]
	}
	if i := strings.LastIndexAny(version, "-"); i > 0 {
		version = version[:i]
	}
	for _, mark := range []string{"~", "+"} {
		version, _, _ = strings.Cut(version, mark)
	}
	return version
}
