package derive

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gpulint/gpulint/facts"
)

// Bounds of evidence. Instructions may be whole scripts.
const (
	maxText     = 2000 // bytes of one text
	maxEvidence = 100  // pieces of evidence of one candidate
)

// layerRef shows a layer as evidence does.
func (d *deriver) layerRef(i int) *facts.LayerRef {
	if i < 0 || i >= len(d.img.Layers) {
		return nil
	}
	l := d.img.Layers[i]
	return &facts.LayerRef{
		Index: l.Index, Digest: l.Digest, DiffID: l.DiffID, Size: l.Size, CreatedBy: cut(l.CreatedBy, maxText), Origin: l.Origin,
	}
}

// packageText is the package of a file as evidence names it.
func (d *deriver) packageText(f facts.File) string {
	if p := d.packageRef(f); p != nil && p.Version != "" {
		return p.Name + " " + p.Version
	}
	return f.Package
}

// packageRef looks up the package of a file; it is nil for none.
func (d *deriver) packageRef(f facts.File) *facts.PackageRef {
	if f.Package == "" {
		return nil
	}
	if p := d.installed[packageID{f.Manager, f.Package}]; p != nil {
		return &facts.PackageRef{Name: p.Name, Version: p.Version, Manager: p.Manager, PulledBy: p.PulledBy}
	}
	return &facts.PackageRef{Name: f.Package, Manager: f.Manager}
}

// cut shortens a text to n bytes at a whole character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

var (
	rmInText     = regexp.MustCompile(`[3-9]\d\d\.\d{2,3}(?:\.\d{2})?`)
	branchSuffix = regexp.MustCompile(`-[3-9]\d\d(-|$)`)
)

// normalPath is a path with RM versions replaced: a rebuilt image with a newer
// driver keeps its fingerprints.
func normalPath(p string) string { return rmInText.ReplaceAllString(p, "<RM>") }

// normalPackage is a package name with the driver branch replaced.
func normalPackage(name string) string {
	return strings.TrimSuffix(branchSuffix.ReplaceAllString(name, "-<RM>$1"), "-")
}
