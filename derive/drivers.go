package derive

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/facts"
)

// classShadowed is the class of groups of hidden files.
const classShadowed = "shadowed"

// driverFiles groups the driver files that should not be there: by class and
// owning package, or each by itself.
func (d *deriver) driverFiles() []facts.DriverCandidate {
	groups := map[string]*group{}
	var order []string
	for i := range d.img.DriverFiles {
		f := &d.img.DriverFiles[i]
		class := f.Class
		switch {
		case f.Place != "":
			continue // cuda-compat and stubs
		case f.Shadowed != nil && f.Size == 0:
			continue // a hidden link or empty file costs nothing and hurts nobody
		case f.Shadowed != nil:
			class = classShadowed + ":" + strconv.Itoa(f.Shadowed.Layer) + ":" + f.Shadowed.How
		}
		key := class + "\x00package\x00" + f.Manager + "\x00" + f.Package
		if f.Package == "" {
			key = class + "\x00path\x00" + f.Path
		}
		g := groups[key]
		if g == nil {
			g = &group{class: class}
			groups[key] = g
			order = append(order, key)
		}
		g.files = append(g.files, f)
	}
	out := []facts.DriverCandidate{}
	for _, key := range order {
		c := d.driverCandidate(groups[key])
		c.ID = "driver_files/" + strconv.Itoa(len(out))
		out = append(out, c)
	}
	return out
}

type group struct {
	class string
	files []*facts.DriverFile
}

func (d *deriver) driverCandidate(g *group) facts.DriverCandidate {
	sort.SliceStable(g.files, func(i, j int) bool { return g.files[i].Path < g.files[j].Path })
	first := g.files[0]
	class, _, _ := strings.Cut(g.class, ":")
	c := facts.DriverCandidate{Class: class, Package: d.packageRef(first.File)}
	c.Key = "path:" + normalPath(first.Path)
	if first.Package != "" {
		c.Key = "package:" + normalPackage(first.Package)
	}
	seen := map[string]bool{}
	newest := ""
	for _, f := range g.files {
		c.Bytes += f.Size
		if d.reached[f.Path] {
			c.BesideHost = (c.BesideHost || !c.OnLinkerPath) && slices.Contains(hostDirs, path.Dir(f.Path))
			c.OnLinkerPath = true
		}
		c.Opened = c.Opened || class == facts.ClassEmpty && opened(f)
		if !seen[f.Name] {
			seen[f.Name] = true
			c.Names = append(c.Names, f.Name)
		}
		if f.Driver != "" && (newest == "" || compat.NewerDriver(f.Driver, newest)) {
			newest = f.Driver
		}
		if len(c.Evidence) == maxEvidence {
			continue
		}
		c.Paths = append(c.Paths, f.Path)
		if class == facts.ClassLink {
			c.Links = append(c.Links, cut(f.Link, maxText))
		}
		c.Evidence = append(c.Evidence, facts.Evidence{
			Path: f.Path, Layer: d.layerRef(f.Layer), Package: d.packageText(f.File), Detail: detail(f),
		})
	}
	if n := len(g.files) - len(c.Evidence); n > 0 {
		e := &c.Evidence[len(c.Evidence)-1]
		e.Detail += fmt.Sprintf("; and %d more files", n)
	}
	if newest != "" {
		c.Driver = version(newest)
	}
	if s := first.Shadowed; s != nil {
		c.ShadowedBy, c.How = d.layerRef(s.Layer), s.How
	}
	return c
}

// opened says whether programs open a library by this very name.
func opened(f *facts.DriverFile) bool {
	suffix := strings.TrimPrefix(path.Base(f.Path), f.Name)
	return strings.HasSuffix(f.Name, ".so") && len(suffix) == 2
}

// detail says what is known of a driver file.
func detail(f *facts.DriverFile) string {
	var parts []string
	switch f.Class {
	case facts.ClassLink:
		to := "-> " + cut(f.Link, 200)
		if f.Resolved == "" && f.Shadowed == nil {
			to += " (dangling)"
		}
		return to
	case facts.ClassEmpty:
		return "0 bytes"
	}
	parts = append(parts, size(f.Size))
	if f.Driver != "" {
		parts = append(parts, "driver "+f.Driver)
	}
	if f.Matched == "soname" {
		parts = append(parts, "a renamed "+f.Name+": SONAME "+f.SONAME)
	}
	return strings.Join(parts, ", ")
}

// size writes bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// version splits a version into parts that rules can compare.
func version(text string) *facts.Version {
	v := facts.Version{Text: text, Parts: []int64{}}
	for _, p := range strings.Split(text, ".") {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			break
		}
		v.Parts = append(v.Parts, n)
	}
	return &v
}

// reachedByLinker are the paths that the dynamic linker finds: those in its
// directories, and those that a link in its directories leads to.
func (d *deriver) reachedByLinker() map[string]bool {
	dirs := map[string]bool{}
	for _, l := range d.img.LinkerDirs {
		dirs[l.Dir], dirs[l.Resolved] = true, true
	}
	reached := map[string]bool{}
	for _, f := range d.img.DriverFiles {
		if f.Shadowed != nil || !dirs[path.Dir(f.Path)] {
			continue
		}
		reached[f.Path] = true
		if f.Class == facts.ClassLink && f.Resolved != "" {
			reached[f.Resolved] = true
		}
	}
	return reached
}

// driverPackages are the installed driver packages of which no file is in a
// group: metapackages and configuration.
func (d *deriver) driverPackages(groups []facts.DriverCandidate) []facts.PackageCandidate {
	reported := map[packageID]bool{}
	for _, g := range groups {
		if g.Package != nil {
			reported[packageID{g.Package.Manager, g.Package.Name}] = true
		}
	}
	var out []facts.PackageCandidate
	for _, p := range d.img.Packages {
		if !p.Driver || p.State != "installed" || p.Dummy || reported[packageID{p.Manager, p.Name}] {
			continue
		}
		reported[packageID{p.Manager, p.Name}] = true // once, also with several architectures
		layer := d.layerRef(p.Layer)
		out = append(out, facts.PackageCandidate{
			Candidate: facts.Candidate{
				ID: "driver_packages/" + strconv.Itoa(len(out)), Key: "package:" + normalPackage(p.Name),
				Evidence: []facts.Evidence{{
					Path: p.Record, Layer: layer, Package: p.Name + " " + p.Version, Detail: "the package's record",
				}},
			},
			Package: facts.PackageRef{Name: p.Name, Version: p.Version, Manager: p.Manager, PulledBy: p.PulledBy},
			Layer:   layer,
		})
	}
	return out
}
