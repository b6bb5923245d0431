// Package derive goes from facts to what rules read. It frees driver files of
// those that may be there, groups what has one cause, finds what the dynamic
// linker reaches, and has package compat judge each runtime on each target.
// Rules see its candidates, never raw facts: an image may hold thousands.
package derive

import (
	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/facts"
)

// Result is what an image on targets comes to.
type Result struct {
	Subject  facts.Subject
	Verdicts []facts.Verdict
	Input    *facts.Input
}

// Image judges an image on targets with the tables of m. id names the subject
// and must be unique in a report.
func Image(id string, img *facts.Image, targets []facts.Target, m *compat.Matrix) *Result {
	d := &deriver{id: id, img: img, targets: targets, matrix: m, installed: installed(img)}
	d.reached, d.compat, d.runtimes = d.reachedByLinker(), d.compatDriver(), d.groupRuntimes()
	d.bundled = d.bundledLibcuda()
	verdicts, candidates := d.verdicts()
	in := &facts.Input{
		Schema: facts.SchemaInput, Targets: targets,
		Subject: facts.InputSubject{
			ID: id, Kind: facts.KindImage, Ref: cut(img.Ref, maxText), Name: cut(img.Name, maxText), Digest: img.Digest,
			Platform: cut(img.Platform, maxText), Base: img.Base, Env: d.env(), Labels: d.labels(),
		},
	}
	if in.Targets == nil {
		in.Targets = []facts.Target{}
	}
	if len(d.exemptKinds()) == 0 {
		in.DriverFiles = d.driverFiles()
		in.DriverPackages = d.driverPackages(in.DriverFiles)
	}
	in.Verdicts = candidates
	in.VersionDrift = d.drift()
	in.Incomplete = d.incomplete()
	bound(in, d.dropped, d.cutConfig)
	return &Result{Subject: d.subject(), Verdicts: verdicts, Input: in}
}

// deriver holds what the single steps read.
type deriver struct {
	id      string
	img     *facts.Image
	targets []facts.Target
	matrix  *compat.Matrix
	// installed are the installed packages, the first of each name.
	installed map[packageID]*facts.Package
	// reached are the driver files that the dynamic linker finds, compat is the
	// driver version of the image's cuda-compat.
	reached map[string]bool
	compat  string
	// bundled are the image's own copies of libcuda among those.
	bundled []libcuda
	// runtimes are the visible CUDA runtimes by version.
	runtimes []runtime
	// dropped counts what was left out before there were candidates, cutConfig
	// what of the configuration was.
	dropped, cutConfig int
}

// packageID names a package: managers have packages of the same name.
type packageID struct{ manager, name string }

func installed(img *facts.Image) map[packageID]*facts.Package {
	m := map[packageID]*facts.Package{}
	for i := range img.Packages {
		if p := &img.Packages[i]; p.State == "installed" && m[packageID{p.Manager, p.Name}] == nil {
			m[packageID{p.Manager, p.Name}] = p
		}
	}
	return m
}

func (d *deriver) subject() facts.Subject {
	return facts.Subject{
		ID: d.id, Kind: facts.KindImage, Ref: d.img.Ref, Name: d.img.Name, Digest: d.img.Digest,
		Platform: d.img.Platform, IndexPlatforms: d.img.IndexPlatforms, AbsentPlatforms: d.img.AbsentPlatforms, Verified: d.img.Verified,
		ImageKinds: d.exemptKinds(), Layers: d.img.Layers, Base: d.img.Base, Needs: d.needs(),
	}
}

// exemptKinds are the kinds of image in which driver files are expected: they
// are recognised by content, never by name.
func (d *deriver) exemptKinds() []string {
	var kinds []string
	seen := map[string]bool{}
	for _, m := range d.img.Markers {
		if !seen[m.Kind] {
			seen[m.Kind] = true
			kinds = append(kinds, m.Kind)
		}
	}
	return kinds
}
