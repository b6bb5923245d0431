package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/derive"
	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/findings"
	"github.com/gpulint/gpulint/fleet"
	"github.com/gpulint/gpulint/rules"
	"github.com/gpulint/gpulint/scan"
	"github.com/gpulint/gpulint/scan/source"
)

// run is gpulint image.
func (o *imageOptions) run(ctx context.Context, args []string, in io.Reader, stdout, errw io.Writer) error {
	refs, err := o.refs(args, in)
	if err != nil {
		return err
	}
	outs, err := o.check(refs)
	if err != nil {
		return err
	}
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("out of time after %s (--timeout)", o.timeout))
		defer cancel()
	}
	engine, err := rules.New(rules.Options{})
	if err != nil {
		return err
	}
	if err := findings.CheckIgnore(o.ignore, engine.Rules()); err != nil {
		return &usageError{err: err}
	}
	targets := fleet.FromFlags(o.drivers, o.runtime)
	r := &runner{o: o, in: in, errw: errw, engine: engine, targets: targets, doc: &document{report: newReport(targets)}}
	r.doc.report.Rules = engine.Rules()
	limits, err := o.scanLimits()
	if err != nil {
		return err
	}
	if err := r.openCache(limits); err != nil {
		return err
	}
	defer r.cache.close()
	for _, ref := range refs {
		r.reference(ctx, ref)
	}
	for _, p := range o.inputs {
		r.input(ctx, p)
	}
	names := map[string]string{}
	for _, s := range r.doc.report.Subjects {
		names[s.ID] = s.Name
	}
	res := findings.Process(r.doc.report.Findings, findings.Options{Ignore: o.ignore, Names: names})
	r.doc.report.Findings, r.doc.report.Summary = res.Findings, res.Summary
	if err := o.write(outs, r.doc, stdout); err != nil {
		return err
	}
	return r.exit(ctx)
}

func newReport(targets []facts.Target) *facts.Report {
	return &facts.Report{
		Schema:   facts.SchemaReport,
		Tool:     facts.Tool{Name: "gpulint", Version: Version(), Matrix: compat.Default().Version()},
		Subjects: []facts.Subject{}, Targets: targets, Verdicts: []facts.Verdict{}, Findings: []facts.Finding{},
	}
}

// runner scans one reference after the other into a document.
type runner struct {
	o       *imageOptions
	in      io.Reader
	errw    io.Writer
	engine  *rules.Engine
	targets []facts.Target
	doc     *document
	cache   *layerCache
	// bases are the base images by reference and platform.
	bases map[string]*scan.Base
	// badUsage and badInput say what kinds of failures there were.
	badUsage, badInput bool
}

// image scans and judges one image.
func (r *runner) image(ctx context.Context, img *source.Image, o scan.Options) error {
	o.Base = r.base(ctx, img)
	found, err := scan.Image(ctx, img, o)
	if err != nil {
		return err
	}
	d := derive.Image(r.subjectID(found), found, r.targets, compat.Default())
	fs, err := r.engine.Eval(ctx, d.Input)
	if err != nil {
		return fmt.Errorf("judging %s: %w", img.Ref, err)
	}
	rep := r.doc.report
	rep.Subjects = append(rep.Subjects, d.Subject)
	rep.Verdicts = append(rep.Verdicts, d.Verdicts...)
	rep.Findings = append(rep.Findings, fs...)
	r.doc.images = append(r.doc.images, found)
	r.doc.inputs = append(r.doc.inputs, d.Input)
	return nil
}

// subjectID names an image uniquely in the report.
func (r *runner) subjectID(img *facts.Image) string {
	id := img.Ref
	if img.Platform != "" {
		id += " (" + img.Platform + ")"
	}
	base := id
	for n := 2; slices.ContainsFunc(r.doc.report.Subjects, func(s facts.Subject) bool { return s.ID == id }); n++ {
		id = fmt.Sprintf("%s #%d", base, n)
	}
	return id
}

// fail notes an input that could not be scanned, and says so.
func (r *runner) fail(ctx context.Context, ref string, err error) {
	f := facts.Failure{Ref: ref, Message: oneLine(err.Error())}
	var se *source.Error
	var le *scan.LayerError
	switch {
	case ctx.Err() != nil:
		f.Message = ref + ": stopped: " + context.Cause(ctx).Error()
	case errors.As(err, &se):
		f.Hint = se.Hint
		if se.Usage {
			r.badUsage = true
		} else {
			r.badInput = true
		}
	case errors.As(err, &le):
		f.Hint = le.Hint()
		r.badInput = true
	default:
		r.badInput = true
	}
	r.doc.report.Failures = append(r.doc.report.Failures, f)
	if r.o.quiet {
		return
	}
	say(r.errw, f.Message)
	if f.Hint != "" {
		_, _ = fmt.Fprintln(r.errw, "  "+oneLine(f.Hint))
	}
}

// exit chooses the exit status.
func (r *runner) exit(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{exitStopped}
	case r.badInput:
		return &exitError{exitInput}
	case r.badUsage:
		return &exitError{exitUsage}
	case findings.Fails(r.doc.report.Findings, r.o.failOn),
		r.o.sure && slices.ContainsFunc(r.doc.report.Verdicts, func(v facts.Verdict) bool { return v.Level == facts.LevelUnknown }):
		return &exitError{exitFindings}
	}
	return nil
}
