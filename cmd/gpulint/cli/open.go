package cli

import (
	"context"
	"errors"
	"io"

	"github.com/gpulint/gpulint/scan"
	"github.com/gpulint/gpulint/scan/source"
)

// sourceOptions are those of every source.
func (r *runner) sourceOptions() source.Options {
	so := source.Options{PlainHTTP: r.o.plainHTTP, Insecure: r.o.insecure, CAFile: r.o.caFile, UserAgent: "gpulint/" + Version()}
	for _, p := range r.o.platforms {
		if p == "all" {
			so.AllPlatforms = true
		} else {
			so.Platforms = append(so.Platforms, p)
		}
	}
	return so
}

// scanOptions are those of every scan.
func (r *runner) scanOptions() scan.Options {
	limits, _ := r.o.scanLimits() // checked before
	return scan.Options{Limits: limits, Verify: r.o.verify, TmpDir: r.o.tmpDir}
}

// reference scans the images of a reference: of the source that it names, else
// of a daemon that has it, else of a registry.
func (r *runner) reference(ctx context.Context, ref string) {
	if err := source.CheckReference(ref); err != nil {
		r.fail(ctx, ref, err)
		return
	}
	scheme, rest := source.Scheme(ref)
	if scheme == "" && source.IsPath(ref) {
		r.input(ctx, ref)
		return
	}
	switch scheme {
	case "registry":
		r.set(ctx, ref, func() (*source.Set, error) { return source.Open(ctx, rest, r.sourceOptions()) }, nil)
	case source.KindDocker, source.KindPodman:
		d, err := source.NewDaemon(scheme, ref)
		if err != nil {
			r.fail(ctx, ref, err)
			return
		}
		r.daemon(ctx, d, ref, rest)
	case source.KindContainerd:
		r.set(ctx, ref, func() (*source.Set, error) { return source.OpenContainerd(ctx, ref, rest, r.sourceOptions()) }, nil)
	case "":
		d, err := source.Local(ctx, ref)
		if d != nil {
			r.daemon(ctx, d, ref, ref)
			return
		}
		set, cerr := source.LocalContainerd(ctx, ref, r.sourceOptions())
		if set != nil {
			r.set(ctx, ref, func() (*source.Set, error) { return set, nil }, nil)
			return
		}
		if err := errors.Join(err, cerr); err != nil && r.o.verbose && !r.o.quiet {
			say(r.errw, ref+": asking daemons: "+err.Error())
		}
		r.set(ctx, ref, func() (*source.Set, error) {
			set, err := source.Open(ctx, ref, r.sourceOptions())
			var se *source.Error
			if errors.As(err, &se) && !se.Usage && source.FileLike(ref) {
				se.Hint = "no file of this name is here, so it was taken for an image; a file is given with --input PATH"
			}
			return set, err
		}, nil)
	default:
		r.input(ctx, ref)
	}
}

// daemon scans an image that a daemon writes as a stream.
func (r *runner) daemon(ctx context.Context, d *source.Daemon, ref, image string) {
	body, err := d.Save(ctx, image)
	if err == nil {
		r.stream(ctx, ref, body, d.Kind())
		err = body.Close()
	}
	if err := errors.Join(err, d.Close()); err != nil {
		r.fail(ctx, ref, err)
	}
}

// input scans the images of a path, or of standard input.
func (r *runner) input(ctx context.Context, in string) {
	switch {
	case in == "-":
		r.stream(ctx, "standard input", r.in, "")
	case source.Stdin(in):
		r.stream(ctx, in, r.in, "")
	case source.Streamed(in):
		f, err := source.OpenFile(ctx, in)
		if err != nil {
			r.fail(ctx, in, err)
			return
		}
		r.stream(ctx, in, f, "")
		if err := f.Close(); err != nil {
			r.fail(ctx, in, err)
		}
	default:
		r.set(ctx, in, func() (*source.Set, error) { return source.OpenInput(ctx, in, r.sourceOptions()) }, nil)
	}
}

// stream scans the images of an archive that comes in one pass. kind, if given,
// says who wrote it.
func (r *runner) stream(ctx context.Context, ref string, body io.Reader, kind string) {
	var seen scan.Passed
	r.set(ctx, ref, func() (*source.Set, error) {
		set, passed, err := scan.Stream(ctx, ref, body, r.sourceOptions(), r.scanOptions())
		seen = passed
		if err == nil && kind != "" {
			for _, img := range set.Images {
				img.Kind = kind
			}
		}
		return set, err
	}, func() scan.Passed { return seen })
}

// set scans all images of what open opens.
func (r *runner) set(ctx context.Context, ref string, open func() (*source.Set, error), passed func() scan.Passed) {
	set, err := open()
	if err != nil {
		r.fail(ctx, ref, err)
		return
	}
	o := r.scanOptions()
	bars := r.o.newProgress(r.errw, set.Images)
	var known func(source.Layer)
	if bars != nil {
		o.Progress, known = bars.layer, bars.known
	}
	o.Cached = r.cache.cached(known)
	if passed != nil {
		o.Passed = passed()
	}
	if len(set.Images) > 1 {
		o.Shared = &scan.Shared{}
	}
	var failed []func()
	for _, img := range set.Images {
		if err := r.image(ctx, img, o); err != nil {
			failed = append(failed, func() { r.fail(ctx, img.Ref, err) })
		}
	}
	bars.wait()
	for _, tell := range failed {
		tell()
	}
	if err := set.Close(); err != nil {
		r.fail(ctx, ref, err)
	}
}
