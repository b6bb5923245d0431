package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

// maxPaths is how many files of one runtime are listed unless all are asked for.
const maxPaths = 3

// subject writes the header of a subject.
func (t *table) subject(s facts.Subject, all []facts.Subject) {
	t.line(t.style.paint(bold, visible(either(s.Ref, s.ID))))
	var parts []string
	if s.Kind != facts.KindImage {
		parts = append(parts, s.Kind)
	}
	if id := identity(s); id != "" {
		parts = append(parts, id)
	}
	if s.Platform != "" {
		parts = append(parts, s.Platform)
	}
	if n := len(s.Layers); n > 0 {
		parts = append(parts, count(n, "layer"), size(totalSize(s.Layers)))
	}
	if s.Kind == facts.KindImage && len(s.Layers) > 0 {
		verified := "digests verified"
		if !s.Verified {
			verified = "digests not verified (--verify reads every byte)"
		}
		parts = append(parts, verified)
	}
	t.text(2, strings.Join(parts, ", "))
	if others := unseen(s, all); len(others) > 0 {
		t.text(2, "the index also has "+strings.Join(others, ", ")+" (--platform all)")
	}
	if len(s.AbsentPlatforms) > 0 {
		t.text(2, "the index names "+strings.Join(s.AbsentPlatforms, ", ")+" too, but the archive does not hold it")
	}
	if b := s.Base; b != nil {
		t.text(2, baseText(*b))
	}
	t.guessed = s.Base != nil && s.Base.How == facts.BaseHeuristic
	if len(s.ImageKinds) > 0 {
		t.text(2, "taken for "+strings.Join(s.ImageKinds, ", ")+" by its content: driver files may be expected there")
	}
}

// baseText names the base image and its layers.
func baseText(b facts.Base) string {
	text := "base image"
	if b.Name != "" {
		text += " " + b.Name
	}
	if b.Digest != "" && !strings.Contains(b.Name, b.Digest) {
		text += "@" + shortDigest(b.Digest)
	}
	switch {
	case b.How == "":
		return text + ", its layers are not known (--base tells them)"
	case b.How == facts.BaseHeuristic:
		return text + fmt.Sprintf(": the lowest %s, by a guess from the history (--base tells)", count(b.Layers, "layer"))
	case b.Layers == 0:
		return text + ": no layer is its own"
	}
	return text + fmt.Sprintf(": the lowest %s", count(b.Layers, "layer"))
}

// identity is name@digest, as far as they are known.
func identity(s facts.Subject) string {
	if s.Digest == "" {
		return s.Name
	}
	if s.Name == "" {
		return shortDigest(s.Digest)
	}
	return s.Name + "@" + shortDigest(s.Digest)
}

func totalSize(layers []facts.Layer) int64 {
	var n int64
	for _, l := range layers {
		n += l.Size
	}
	return n
}

// unseen are the platforms of a subject's index that the report does not have.
func unseen(s facts.Subject, all []facts.Subject) []string {
	return slices.DeleteFunc(slices.Clone(s.IndexPlatforms), func(p string) bool {
		return p == s.Platform || slices.Contains(s.AbsentPlatforms, p) || slices.ContainsFunc(all, func(o facts.Subject) bool { return o.Ref == s.Ref && o.Platform == p })
	})
}

// needs writes what the subject needs of any target.
func (t *table) needs(s facts.Subject) {
	if s.Needs == nil {
		return
	}
	t.heading("Needs")
	label := len("driver  ")
	for _, c := range s.Needs.CUDA {
		label = max(label, width(cudaLabel(c)))
	}
	for _, c := range s.Needs.CUDA {
		t.hang(2, pad(cudaLabel(c), label), bold, t.some(c.Consumers))
	}
	if len(s.Needs.CUDA) == 0 {
		t.labelled(2, pad("CUDA", label), bold, "no shared CUDA runtime (libcudart) was found")
	}
	t.hang(2, pad("driver", label), bold, wrapAll(floors(s.Needs.Driver), t.width-2-label))
}

func cudaLabel(c facts.CUDANeed) string { return "CUDA " + visible(c.Version) + "  " }

// floors says from which drivers on the subject runs.
func floors(d facts.DriverNeed) []string {
	switch {
	case d.Native == "" && d.Minor == "":
		return nil
	case d.Minor == "" || d.Minor == d.Native:
		return []string{d.Native + " or later"}
	case d.Native == "":
		return []string{d.Minor + " or later, by minor-version compatibility"}
	}
	return []string{
		d.Native + " or later (native)",
		d.Minor + " or later by minor-version compatibility, with its limits",
	}
}

// some lists paths, not all of many.
func (t *table) some(paths []string) []string {
	n := len(paths)
	if !t.o.Verbose && n > maxPaths {
		n = maxPaths
	}
	out := make([]string, 0, n+1)
	for _, p := range paths[:n] {
		out = append(out, visible(p))
	}
	if rest := len(paths) - n; rest > 0 {
		out = append(out, fmt.Sprintf("… and %d more, --verbose shows them", rest))
	}
	if len(out) == 0 {
		out = append(out, "")
	}
	return out
}

// pad fills a text with spaces to a number of columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-width(s), 0)) }

// wrapAll wraps several texts, each from a new line.
func wrapAll(texts []string, n int) []string {
	var out []string
	for _, s := range texts {
		out = append(out, wrap(visible(s), n)...)
	}
	return out
}
