// Package scan reads an image into facts. It knows nothing of targets,
// verdicts or rules: what it finds depends on the image alone.
package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// Options say how images are scanned.
type Options struct {
	// Limits bound what is read of each layer.
	Limits layers.Limits
	// Verify has every byte read and every digest compared.
	Verify bool
	// Parallel is how many layers are read at once, the number of cores if 0.
	Parallel int
	// Passed are the layers of a stream, which cannot be read again.
	Passed Passed
	// Cached are the layers that earlier scans have read.
	Cached Cached
	// Shared, if not nil, holds the layers of the images of one set.
	Shared *Shared
	// TmpDir is where temporary files go, the system's directory if empty.
	TmpDir string
	// Base is the base image, nil if none is known.
	Base *Base
	// Progress, if not nil, is told of each layer that is read. It returns
	// what is told of the bytes as they come, and of the end.
	Progress func(l source.Layer) (read func(n int), done func())
}

// LayerError says which layer of which image could not be read, and why.
type LayerError struct {
	Ref    string
	Index  int
	Digest string
	Err    error
}

func (e *LayerError) Error() string {
	d := e.Digest
	if d == "" {
		d = "no digest"
	}
	err := e.Err
	var se *source.Error
	if errors.As(err, &se) { // it names the image, too
		err = fmt.Errorf("%s: %w", se.Op, se.Err)
	}
	return fmt.Sprintf("%s: layer %d (%s): %v", e.Ref, e.Index, d, err)
}

// Unwrap returns the cause.
func (e *LayerError) Unwrap() error { return e.Err }

// Hint says what to do about the error.
func (e *LayerError) Hint() string {
	switch {
	case errors.Is(e.Err, layers.ErrDigest):
		return "the image is damaged or was tampered with: pull or build it again"
	case errors.Is(e.Err, layers.ErrBroken):
		return "the image was not written or copied whole: pull or save it again"
	}
	return source.Hint(e.Err)
}

// Image reads all layers of an image and merges what they hold. Errors are of
// type [LayerError], or the context's.
func Image(ctx context.Context, img *source.Image, o Options) (*facts.Image, error) {
	if o.Limits == (layers.Limits{}) {
		o.Limits = layers.DefaultLimits()
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if img.Root != nil {
		return rootfs(ctx, img, o)
	}
	found := make([]*layers.Facts, len(img.Layers))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Parallel)
	for _, i := range largestFirst(img.Layers) {
		l := img.Layers[i]
		g.Go(func() error {
			f, err := layer(ctx, l, o)
			if err != nil {
				if cerr := ctx.Err(); cerr != nil && errors.Is(err, cerr) {
					return context.Cause(ctx)
				}
				return &LayerError{Ref: img.Ref, Index: l.Index, Digest: firstOf(l.Digest, l.DiffID), Err: err}
			}
			found[i] = f
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := header(img)
	out.Verified = true
	for i, f := range found {
		l := layerFacts(img.Layers[i], f)
		out.Verified = out.Verified && l.Verified
		out.Layers = append(out.Layers, l)
	}
	origins(out, img, found, o.Base)
	layers.Merge(out, found)
	for _, l := range out.Layers {
		if l.Foreign {
			out.Incomplete = append(out.Incomplete, facts.Incomplete{
				Limit: "foreign-layer", Layer: l.Index, Count: 1,
				Hides: "all of the layer, which is not distributed with the image",
			})
		}
	}
	return out, nil
}

// layer reads one layer.
func layer(ctx context.Context, l source.Layer, o Options) (*layers.Facts, error) {
	if l.Foreign {
		return &layers.Facts{Index: &layers.Index{}}, nil
	}
	if l.Key != "" {
		return o.Passed.layer(l)
	}
	verify := o.Verify || o.Base.compares(l)
	if f, err := o.Shared.get(l, verify); f != nil || err != nil {
		return f, err
	}
	if f, err := o.Cached.get(ctx, l, o); f != nil || err != nil {
		if err == nil {
			o.Shared.put(l, f)
		}
		return f, err
	}
	b, err := l.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }() // nothing was written: a failed close loses nothing
	var r io.Reader = b
	if o.Progress != nil && b.Section() == nil {
		read, done := o.Progress(l)
		defer done()
		r = &progressReader{b, read}
	}
	f, err := layers.Walk(ctx, layers.Blob{
		Reader: r, Section: b.Section(), Digest: l.Digest, DiffID: l.DiffID, Size: l.Size,
	}, layers.Options{Limits: o.Limits, Verify: verify, TmpDir: o.TmpDir})
	if err == nil {
		o.Shared.put(l, f)
		o.Cached.put(l, f)
	}
	return f, err
}

// progressReader tells of the bytes that it reads.
type progressReader struct {
	r    io.Reader
	read func(n int)
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.read(n)
	return n, err
}

// largestFirst orders layers so that the largest, which bounds the time, is
// begun first.
func largestFirst(ls []source.Layer) []int {
	order := make([]int, len(ls))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(ls[b].Size-ls[a].Size, -1), 1)) })
	return order
}

// header takes over what the source knows.
func header(img *source.Image) *facts.Image {
	out := &facts.Image{
		Schema: facts.SchemaFacts, Ref: img.Ref, Name: img.Name, Source: img.Kind, Digest: img.Digest,
		ConfigDigest: img.ConfigDigest, Platform: img.Platform, IndexPlatforms: img.IndexPlatforms, AbsentPlatforms: img.AbsentPlatforms,
		Layers: []facts.Layer{},
	}
	if img.Config == nil {
		return out
	}
	c := img.Config.Config
	out.Config = facts.Config{
		Labels: c.Labels, Entrypoint: c.Entrypoint, Cmd: c.Cmd, User: c.User, WorkingDir: c.WorkingDir,
	}
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		out.Config.Env = append(out.Config.Env, facts.EnvVar{Name: name, Value: value})
	}
	return out
}

func layerFacts(l source.Layer, f *layers.Facts) facts.Layer {
	out := facts.Layer{
		Index: l.Index, Digest: firstOf(f.Digest, l.Digest), DiffID: firstOf(f.DiffID, l.DiffID), Size: l.Size,
		MediaType: l.MediaType, CreatedBy: l.CreatedBy, Guessed: l.Guessed, Entries: f.Entries, Verified: f.Verified, Foreign: l.Foreign,
	}
	if out.Size < 0 {
		out.Size = f.Size
	}
	return out
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
