package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// OpenInput opens what is at a path: an OCI layout directory, an OCI archive
// or a docker archive, told apart by content. The path may carry one of the
// prefixes oci:, oci-archive: and docker-archive:. The error is of type
// [Error].
func OpenInput(ctx context.Context, input string, o Options) (*Set, error) {
	w, err := parsePlatforms(o)
	if err != nil {
		return nil, &Error{Ref: input, Op: "--platform", Err: err, Usage: true}
	}
	p := input
	for _, prefix := range []string{"oci-archive:", "docker-archive:", "oci:"} {
		if rest, ok := strings.CutPrefix(input, prefix); ok {
			p = rest
		}
	}
	st, err := os.Stat(p)
	if err != nil {
		return nil, fail(input, "opening", err)
	}
	r := &resolver{ref: input, wanted: w}
	switch {
	case st.IsDir():
		return r.directory(ctx, p)
	case !st.Mode().IsRegular():
		return nil, fail(input, "opening", errors.New("it is neither a file nor a directory"))
	}
	f, err := os.Open(p)
	if err != nil {
		return nil, fail(input, "opening", err)
	}
	a, err := openArchive(f)
	if err != nil {
		return nil, errors.Join(fail(input, "reading the archive", err), f.Close())
	}
	images, err := r.archive(ctx, a)
	if err != nil {
		if cerr := a.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
		return nil, err
	}
	return &Set{Images: images, closer: a}, nil
}

// directory opens an OCI layout directory.
func (r *resolver) directory(ctx context.Context, p string) (*Set, error) {
	root, err := os.OpenRoot(p)
	if err != nil {
		return nil, fail(r.ref, "opening", err)
	}
	d := &directory{root}
	if !d.exists("index.json") {
		return nil, errors.Join(fail(r.ref, "opening", hintf(
			"write one with: skopeo copy docker://REF oci:DIR", "the directory is no OCI layout: it has no index.json")), d.Close())
	}
	r.kind, r.store = KindOCILayout, &blobStore{d}
	images, err := r.layout(ctx, d)
	if err != nil {
		if cerr := d.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
		return nil, err
	}
	return &Set{Images: images, closer: d}, nil
}

// layout opens the images of an OCI layout.
func (r *resolver) layout(ctx context.Context, f files) ([]*Image, error) {
	raw, err := f.read("index.json", maxManifest)
	if err != nil {
		return nil, fail(r.ref, "reading index.json", err)
	}
	entries, err := r.entries(ctx, raw, "", 0)
	if err != nil {
		return nil, err
	}
	return r.open(ctx, entries)
}

// archive opens the images of an archive. docker save writes both forms since
// version 25; the OCI one names blobs by digest and is preferred if it is
// whole.
func (r *resolver) archive(ctx context.Context, a *archive) ([]*Image, error) {
	oci, docker := a.exists("index.json"), a.exists("manifest.json")
	switch {
	case oci:
		r.kind, r.store = KindOCIArchive, &blobStore{a}
		images, err := r.layout(ctx, a)
		if err == nil || !docker {
			return images, err
		}
		if alt, aerr := r.docker(a); aerr == nil {
			return alt, nil
		}
		return nil, err
	case docker:
		return r.docker(a)
	}
	return nil, fail(r.ref, "reading the archive", hintf(archiveHint, "it is a tar, but of no image: it has neither index.json nor manifest.json%s", members(a)))
}

// members shows a few names of an archive.
func members(a *archive) string {
	for n := range a.files {
		return fmt.Sprintf(" (but %s)", quote(n))
	}
	return ""
}
