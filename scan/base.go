package scan

import (
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// Base is a base image, opened but not read.
type Base struct {
	Image *source.Image
	// How says who names it: facts.BaseReference or facts.BaseLabel.
	How string
}

// Keys of OCI's labels and annotations that name the base image.
const (
	baseName   = "org.opencontainers.image.base.name"
	baseDigest = "org.opencontainers.image.base.digest"
)

// BaseLabel is the base image that an image names, by its manifest's
// annotations or else by its labels. An image inherits the labels of its base:
// where they are of that one's own base, its layers are a prefix all the same.
func BaseLabel(img *source.Image) (name, digest string) {
	name, digest = img.Annotations[baseName], img.Annotations[baseDigest]
	if name == "" && digest == "" && img.Config != nil {
		name, digest = img.Config.Config.Labels[baseName], img.Config.Config.Labels[baseDigest]
	}
	return clip(name), clip(digest)
}

func clip(s string) string { return s[:min(len(s), 512)] }

// compares says whether the diff ID of a layer must be computed to compare it
// with a base's: that of the configuration is a claim, and a digest changes
// with each compression.
func (b *Base) compares(l source.Layer) bool {
	if b == nil || l.Index >= len(b.Image.Layers) {
		return false
	}
	o := b.Image.Layers[l.Index]
	return l.Digest != "" && l.Digest != o.Digest && l.DiffID == o.DiffID
}

// shared is how many of the lowest layers are the base's, as read.
func (b *Base) shared(ls []source.Layer, found []*layers.Facts) int {
	n := 0
	for n < min(len(ls), len(b.Image.Layers)) && same(ls[n], found[n], b.Image.Layers[n]) {
		n++
	}
	return n
}

func same(l source.Layer, f *layers.Facts, base source.Layer) bool {
	switch {
	case l.Digest != "" && l.Digest == base.Digest:
		return true
	case f.DiffID != "":
		return f.DiffID == base.DiffID
	}
	// A docker archive that is read by seeking has nothing but claims.
	return l.Digest == "" && l.DiffID == base.DiffID
}

// origins tells the base image's layers from the image's own.
func origins(out *facts.Image, img *source.Image, found []*layers.Facts, base *Base) {
	b := &facts.Base{}
	b.Name, b.Digest = BaseLabel(img)
	n := 0
	if base != nil {
		n = base.shared(img.Layers, found)
		if base.How == facts.BaseReference {
			b.Name, b.Digest = base.Image.Ref, base.Image.Digest
		}
	}
	switch {
	case base != nil && (n > 0 || base.How == facts.BaseReference):
		b.Layers, b.How = n, base.How
	case img.Config != nil:
		if n = guess(img.Config, len(img.Layers)); n > 0 {
			b.Layers, b.How = n, facts.BaseHeuristic
		}
	}
	if b.How == "" && b.Name == "" && b.Digest == "" {
		return
	}
	out.Base = b
	for i := range out.Layers {
		switch {
		case b.How == "":
		case i < b.Layers:
			out.Layers[i].Origin = facts.OriginBase
		default:
			out.Layers[i].Origin = facts.OriginImage
		}
	}
}

// guess is how many layers stand below the last CMD of the history that has
// layers above it: a Dockerfile's own CMD comes last, and what is before the
// base's is the base's. It is 0 where there is none, or where history and
// layers do not match.
func guess(c *v1.ConfigFile, count int) int {
	n, base := 0, 0
	below := 0
	for _, h := range c.History {
		switch {
		case !h.EmptyLayer:
			n++
			base = below
		case isCmd(h.CreatedBy):
			below = n
		}
	}
	if n != count {
		return 0
	}
	return base
}

func isCmd(createdBy string) bool {
	return strings.HasPrefix(strings.TrimPrefix(createdBy, "/bin/sh -c #(nop)  "), "CMD ")
}
