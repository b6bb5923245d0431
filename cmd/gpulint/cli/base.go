package cli

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan"
	"github.com/gpulint/gpulint/scan/source"
)

// checkBase validates --base: only what can be opened without being read as a
// whole tells its layers.
func (o *imageOptions) checkBase() error {
	switch scheme, _ := source.Scheme(o.base); {
	case o.base == "-", source.IsPath(o.base) && source.Streamed(o.base):
		return usagef("--base %s: a base image cannot come as a stream: name one of a registry, a file or a layout", o.base)
	case scheme == source.KindDocker, scheme == source.KindPodman, scheme == source.KindContainerd, scheme == source.KindRootfs:
		return usagef("--base %s: a base image cannot come from %s: name one of a registry, a file or a layout", o.base, scheme)
	}
	return nil
}

// base opens the base image of an image, if one is known: that of --base, or
// one that a label names in the very registry that the image comes from. A
// label alone has no other host asked.
func (r *runner) base(ctx context.Context, img *source.Image) *scan.Base {
	ref, how := r.o.base, facts.BaseReference
	if ref == "" {
		ref, how = labelledBase(img), facts.BaseLabel
	}
	if ref == "" || img.Root != nil {
		return nil
	}
	key := ref + " " + img.Platform
	if b, ok := r.bases[key]; ok {
		return b
	}
	b, err := r.openBase(ctx, ref, img.Platform, how)
	switch {
	case err == nil:
	case how == facts.BaseReference:
		r.fail(ctx, "--base "+ref, err)
	case r.o.verbose && !r.o.quiet:
		say(r.errw, fmt.Sprintf("%s: its base image %s is not known: %v", img.Ref, ref, err))
	}
	if r.bases == nil {
		r.bases = map[string]*scan.Base{}
	}
	r.bases[key] = b
	return b
}

// openBase reads manifest and configuration of a base image.
func (r *runner) openBase(ctx context.Context, ref, platform, how string) (*scan.Base, error) {
	so := r.sourceOptions()
	so.AllPlatforms, so.Platforms = false, nil
	if platform != "" {
		so.Platforms = []string{platform}
	}
	open := source.Open
	scheme, rest := source.Scheme(ref)
	switch {
	case scheme == source.KindRegistry:
		ref = rest
	case how == facts.BaseReference && (scheme != "" || source.IsPath(ref)):
		open = source.OpenInput
	}
	set, err := open(ctx, ref, so)
	if err != nil {
		return nil, err
	}
	if err := set.Close(); err != nil { // its layers are not read
		return nil, err
	}
	if n := len(set.Images); n > 1 {
		return nil, fmt.Errorf("it holds %d images: name one, as in oci-archive:FILE:NAME", n)
	}
	return &scan.Base{Image: set.Images[0], How: how}, nil
}

// labelledBase is the base that an image of a registry names, if it lies in the
// same registry.
func labelledBase(img *source.Image) string {
	if img.Kind != source.KindRegistry {
		return ""
	}
	base, digest := scan.BaseLabel(img)
	own, err := name.NewRepository(img.Name)
	if err != nil || base == "" {
		return ""
	}
	ref, err := name.ParseReference(base)
	if err != nil || ref.Context().RegistryStr() != own.RegistryStr() {
		return ""
	}
	if digest != "" {
		return ref.Context().Name() + "@" + digest
	}
	return ref.Name()
}
