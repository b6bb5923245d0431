package scan

import (
	"context"
	"fmt"
	"io"

	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// Passed are the layers that a stream has shown, by [source.Layer.Key].
type Passed map[string]passed

type passed struct {
	facts *layers.Facts
	err   error
}

// Stream reads an archive of images in one pass. The facts of its layers go to
// [Image] by way of [Options.Passed]. The error is that of
// [source.OpenStream].
func Stream(ctx context.Context, ref string, r io.Reader, so source.Options, o Options) (*source.Set, Passed, error) {
	if o.Limits == (layers.Limits{}) {
		o.Limits = layers.DefaultLimits()
	}
	seen := Passed{}
	set, err := source.OpenStream(ctx, ref, r, so, func(ctx context.Context, name string, size int64, r io.Reader) error {
		f, err := layers.Walk(ctx, layers.Blob{Reader: r, Size: size}, layers.Options{Limits: o.Limits, Verify: true, TmpDir: o.TmpDir})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		// What is no layer of any image does not matter, broken or not.
		seen[name] = passed{f, err}
		return nil
	})
	return set, seen, err
}

// layer returns the facts of a layer, whose digests were computed before it was
// known what they ought to be.
func (p Passed) layer(l source.Layer) (*layers.Facts, error) {
	x, ok := p[l.Key]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: it is neither a tar nor compressed", layers.ErrBroken)
	case x.err != nil:
		return nil, x.err
	}
	return claimed(x.facts, l)
}

// claimed compares facts with what is claimed of their layer, as far as the
// digests were computed.
func claimed(found *layers.Facts, l source.Layer) (*layers.Facts, error) {
	f := *found
	if l.Digest != "" && f.Digest != "" && f.Digest != l.Digest {
		return nil, fmt.Errorf("%w: the blob is %s, the manifest names %s", layers.ErrDigest, f.Digest, l.Digest)
	}
	if l.DiffID != "" && f.DiffID != "" && f.DiffID != l.DiffID {
		return nil, fmt.Errorf("%w: the uncompressed layer is %s, the configuration names %s", layers.ErrDigest, f.DiffID, l.DiffID)
	}
	f.Verified = l.Digest != "" && f.Digest != "" || f.DiffID != "" && l.DiffID != ""
	return &f, nil
}
