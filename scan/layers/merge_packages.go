package layers

import (
	"slices"
	"sort"
	"strings"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/catalog"
)

// packages lists the records of the final file system. dpkg's status is
// written anew by each installation, so a package belongs to the layer in
// which its record first appears.
func (m *merger) packages() {
	m.img.Packages = []facts.Package{}
	var final []PackageRecord
	for i, f := range m.fs {
		for _, r := range f.Records {
			if m.tree.Shadow(i, strings.TrimPrefix(r.Path, "/")) != nil {
				continue
			}
			final = append(final, r)
			m.img.Packages = append(m.img.Packages, facts.Package{
				Manager: r.Manager, Name: r.Name, Version: r.Version, Arch: r.Arch, Source: r.Source,
				State: r.State, Layer: m.firstLayer(i, r), Driver: catalog.DriverPackage(r.Name),
				Dummy: r.Dummy, Record: r.Path,
			})
		}
	}
	for i := range m.img.Packages {
		if p := &m.img.Packages[i]; p.Driver {
			p.PulledBy = pulledBy(p.Name, final)
		}
	}
	sort.SliceStable(m.img.Packages, func(i, j int) bool { return m.img.Packages[i].Name < m.img.Packages[j].Name })
}

// firstLayer is the lowest layer whose records have the package in the same
// version and state.
func (m *merger) firstLayer(last int, r PackageRecord) int {
	for i := range last {
		if slices.ContainsFunc(m.fs[i].Records, func(q PackageRecord) bool {
			return q.Manager == r.Manager && q.Name == r.Name && q.Version == r.Version && q.Arch == r.Arch && q.State == r.State
		}) {
			return i
		}
	}
	return last
}

// pulledBy names the installed packages that want a driver package: those
// that are no driver packages themselves, reached through driver packages;
// where there are none, the driver packages that want it.
func pulledBy(name string, records []PackageRecord) []string {
	var users, drivers []string
	seen := map[string]bool{name: true}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		for _, r := range records {
			if seen[r.Name] || r.State != "installed" || !slices.Contains(r.Depends, queue[0]) {
				continue
			}
			seen[r.Name] = true
			if catalog.DriverPackage(r.Name) {
				drivers = append(drivers, r.Name)
				queue = append(queue, r.Name)
			} else {
				users = append(users, r.Name)
			}
		}
	}
	if len(users) == 0 {
		users = drivers
	}
	sort.Strings(users)
	return users[:min(len(users), 10)]
}
