package source

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// OpenInput opens what is at a path: an OCI layout directory, an OCI archive,
// a docker archive, or the root directory of a file system, told apart by
// content. The prefixes oci:, oci-archive:, docker-archive: and rootfs: allow
// one of these forms only, and a name, a tag or a digest after the path one
// image only: oci:DIR:TAG, docker-archive:FILE:NAME:TAG, oci:DIR@DIGEST. The
// error is of type [Error].
func OpenInput(ctx context.Context, input string, o Options) (*Set, error) {
	w, err := parsePlatforms(o)
	if err != nil {
		return nil, &Error{Ref: input, Op: "--platform", Err: err, Usage: true, Hint: hintOf(err)}
	}
	loc := locate(input)
	p := loc.path
	st, err := os.Stat(p)
	if err != nil {
		return nil, fail(input, "opening", err)
	}
	if err := loc.suits(st); err != nil {
		return nil, fail(input, "opening", err)
	}
	r := &resolver{ref: input, loc: loc, wanted: w}
	switch {
	case loc.form == formRootfs:
		root, err := os.OpenRoot(p)
		if err != nil {
			return nil, fail(input, "opening", err)
		}
		return r.rootfs(&directory{root}), nil
	case st.IsDir():
		return r.directory(ctx, p)
	case !st.Mode().IsRegular():
		return nil, fail(input, "opening", hintf("name a file or a directory; a pipe is read as -", "it is neither a file nor a directory"))
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

// rootfs is a root file system: one image without layers.
func (r *resolver) rootfs(d *directory) *Set {
	img := &Image{Ref: r.ref, Kind: KindRootfs, Root: d.root}
	if len(r.wanted.platforms) > 0 {
		img.Platform = platformText(&r.wanted.platforms[0])
	}
	return &Set{Images: []*Image{img}, closer: d}
}

// rootLike says whether a directory looks like the root of a system.
func rootLike(root *os.Root) bool {
	n := 0
	for _, name := range []string{"etc", "usr", "bin", "lib", "var"} {
		if st, err := root.Stat(name); err == nil && st.IsDir() {
			n++
		}
	}
	return n >= 2
}

// Streamed says whether an input can only be read as a stream: a pipe, or an
// archive that is compressed as a whole. The path may carry a prefix.
func Streamed(input string) bool {
	p := locate(input).path
	st, err := os.Stat(p)
	if err != nil || st.IsDir() {
		return false
	}
	if st.Mode()&os.ModeNamedPipe != 0 {
		return true
	}
	if !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(p)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // read only
	magic := make([]byte, 4)
	if _, err := f.ReadAt(magic, 0); err != nil {
		return false
	}
	return magic[0] == 0x1f && magic[1] == 0x8b || string(magic) == "\x28\xb5\x2f\xfd"
}

// OpenFile opens an input for [OpenStream]. It waits for the writer of a named
// pipe until the context ends. The error is of type [Error], or the context's
// cause.
func OpenFile(ctx context.Context, input string) (*os.File, error) {
	loc := locate(input)
	if st, err := os.Stat(loc.path); err == nil {
		if err := loc.suits(st); err != nil {
			return nil, fail(input, "opening", err)
		}
	}
	f, err := openWaiting(ctx, loc.path)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fail(input, "opening", err)
	}
	return f, nil
}

// directory opens a directory: an OCI layout or a root file system.
func (r *resolver) directory(ctx context.Context, p string) (*Set, error) {
	root, err := os.OpenRoot(p)
	if err != nil {
		return nil, fail(r.ref, "opening", err)
	}
	d := &directory{root}
	if !d.exists("index.json") {
		if r.loc.form == "" && rootLike(root) {
			return r.rootfs(d), nil
		}
		none := "no OCI layout"
		if r.loc.form == "" {
			none = "neither an OCI layout nor a root file system"
		}
		return nil, errors.Join(fail(r.ref, "opening", hintf(
			"an OCI layout has an index.json; a root file system is named rootfs:DIR",
			"the directory is %s", none)), d.Close())
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
	groups, err := r.groups(ctx, raw)
	if err != nil {
		return nil, err
	}
	return r.open(ctx, groups)
}

// archive opens the images of an archive. docker save writes both forms since
// version 25; the OCI one names blobs by digest and is preferred if it is
// whole.
func (r *resolver) archive(ctx context.Context, a members) ([]*Image, error) {
	oci, docker := a.exists("index.json"), a.exists("manifest.json")
	switch {
	case r.loc.form == formArchive && !oci:
		return nil, fail(r.ref, "reading the archive", hintf("leave oci-archive: away, and its form is told by its content", "it is no OCI archive: it has no index.json"))
	case r.loc.form == formDocker && !docker:
		return nil, fail(r.ref, "reading the archive", hintf("leave docker-archive: away, and its form is told by its content", "it is no docker archive: it has no manifest.json"))
	case r.loc.form == formDocker:
		return r.docker(a)
	case oci:
		r.kind, r.store = KindOCIArchive, &blobStore{a}
		images, err := r.layout(ctx, a)
		if err == nil || !docker || r.loc.form != "" || errors.Is(err, errDigest) {
			return images, err
		}
		if alt, aerr := r.docker(a); aerr == nil {
			return alt, nil
		}
		return nil, err
	case docker:
		return r.docker(a)
	}
	return nil, fail(r.ref, "reading the archive", hintf(archiveHint, "it is a tar, but of no image: it has neither index.json nor manifest.json%s", shown(a)))
}

// shown shows a name of an archive.
func shown(a members) string {
	for _, n := range a.names() {
		return fmt.Sprintf(" (but %s)", quote(n))
	}
	return ""
}
