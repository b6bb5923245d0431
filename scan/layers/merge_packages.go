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
	first := m.firstLayers()
	for i, f := range m.fs {
		for _, r := range f.Records {
			if m.tree.Shadow(i, strings.TrimPrefix(r.Path, "/")) != nil {
				continue
			}
			final = append(final, r)
			m.img.Packages = append(m.img.Packages, facts.Package{
				Manager: r.Manager, Name: r.Name, Version: r.Version, Arch: r.Arch, Source: r.Source,
				State: r.State, Layer: first[identityOf(r)] - 1, Driver: catalog.DriverPackage(r.Name),
				Dummy: r.Dummy, Record: r.Path,
			})
		}
	}
	wanted, pulled := wantedBy(final), map[string][]string{}
	for i := range m.img.Packages {
		if p := &m.img.Packages[i]; p.Driver {
			by, ok := pulled[p.Name]
			if !ok {
				by = pulledBy(p.Name, wanted)
				pulled[p.Name] = by
			}
			p.PulledBy = by
		}
	}
	sort.SliceStable(m.img.Packages, func(i, j int) bool { return m.img.Packages[i].Name < m.img.Packages[j].Name })
}

// identity is what makes two records the same.
type identity struct{ manager, name, version, arch, state string }

func identityOf(r PackageRecord) identity {
	return identity{r.Manager, r.Name, r.Version, r.Arch, r.State}
}

// firstLayers are the lowest layers whose records have a package in the same
// version and state.
func (m *merger) firstLayers() map[identity]int {
	first := map[identity]int{}
	for i, f := range m.fs {
		for _, r := range f.Records {
			if id := identityOf(r); first[id] == 0 {
				first[id] = i + 1 // 0: not seen
			}
		}
	}
	return first
}

// wantedBy are the installed packages that want a package, by its name.
func wantedBy(records []PackageRecord) map[string][]string {
	m := map[string][]string{}
	for _, r := range records {
		if r.State != "installed" {
			continue
		}
		for _, d := range r.Depends {
			m[d] = append(m[d], r.Name)
		}
	}
	for d, names := range m {
		slices.Sort(names)
		m[d] = slices.Compact(names) // a name may have many records
	}
	return m
}

// Bounds of the search for who pulled a package in.
const (
	maxPulledBy = 10
	maxPullers  = 1000
)

// pulledBy names the installed packages that want a driver package: those
// that are no driver packages themselves, reached through driver packages;
// where there are none, the driver packages that want it.
func pulledBy(name string, wanted map[string][]string) []string {
	var users, drivers []string
	seen := map[string]bool{name: true}
	for queue := []string{name}; len(queue) > 0 && len(seen) < maxPullers; queue = queue[1:] {
		for _, by := range wanted[queue[0]] {
			if seen[by] || len(seen) >= maxPullers {
				continue
			}
			seen[by] = true
			if catalog.DriverPackage(by) {
				drivers = append(drivers, by)
				queue = append(queue, by)
			} else {
				users = append(users, by)
			}
		}
	}
	if len(users) == 0 {
		users = drivers
	}
	sort.Strings(users)
	return users[:min(len(users), maxPulledBy)]
}
