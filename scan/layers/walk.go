package layers

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/packages"
)

// Blob is a layer as stored.
type Blob struct {
	// Reader yields the stored bytes from the start.
	Reader io.Reader
	// Section is the blob as a section of a local file, nil if it is none.
	Section *io.SectionReader
	// Digest and DiffID are what the manifest and the configuration claim;
	// either may be empty.
	Digest, DiffID string
	// Size is what the manifest claims in bytes, -1 if it does not.
	Size int64
}

// Options say how a layer is read.
type Options struct {
	Limits Limits
	// Verify has every byte read and all digests computed. Without it an
	// uncompressed layer of a local file is read by seeking, unverified.
	Verify bool
	// TmpDir is where the one temporary file goes that databases of rpm need,
	// the system's directory if empty.
	TmpDir string
}

// ErrDigest says that a blob is not what its digest names.
var ErrDigest = errors.New("wrong digest")

// ErrBroken says that a layer is not a whole tar.
var ErrBroken = errors.New("broken layer")

// Walk reads a layer into facts. Errors wrap [ErrDigest], [ErrBroken], the
// context's error, or that of the blob's reader.
func Walk(ctx context.Context, b Blob, o Options) (*Facts, error) {
	in, err := open(ctx, b, o)
	if err != nil {
		return nil, err
	}
	defer in.close()
	w := newWalker(ctx, o)
	if in.seek != nil {
		w.section = in.seek.SectionReader
	}
	if err := w.walk(in.tar); err != nil {
		// A wrong digest or a cut blob explains a broken tar, and not the reverse.
		if errors.Is(err, ErrBroken) {
			if derr := in.finish(w.f); errors.Is(derr, ErrDigest) || errors.Is(derr, errCut) {
				return nil, derr
			}
		}
		return nil, err
	}
	if in.seek != nil && in.seek.ended {
		// It may be cut at the border of two entries: only the digests can tell.
		o.Verify = true
		f, err := Walk(ctx, b, o)
		if err == nil && !f.Verified {
			f.incomplete("end", "", "whatever is missing: no mark ends the layer, and no digest tells whether it is whole")
		}
		return f, err
	}
	if err := in.finish(w.f); err != nil {
		return nil, err
	}
	w.finish()
	return w.f, nil
}

func newWalker(ctx context.Context, o Options) *walker {
	return &walker{ctx: ctx, o: o, f: &Facts{Owners: map[string]packages.Owner{}}, sparse: maxSparse}
}

// finish makes the index, and takes out what the layer itself has replaced.
func (w *walker) finish() {
	if w.paths.links.full {
		w.f.incomplete("links", "", "where some entries below replaced links lie")
	}
	w.f.Index = w.paths.index()
	w.compact()
}

// walker is the state of one walk.
type walker struct {
	ctx   context.Context
	o     Options
	f     *Facts
	paths builder
	// section is set where contents are read by position.
	section *io.SectionReader
	known
	// sparse is how many bytes of sparse files may still be read.
	sparse int64
	buf    []byte
	// lookups counts the hard links whose targets were looked for.
	lookups int
	// depends counts the dependencies that are kept.
	depends int
}

// walk reads the entries of a tar.
func (w *walker) walk(r io.Reader) error {
	tr := tar.NewReader(r)
	for {
		if w.f.Entries%1024 == 0 {
			if err := w.ctx.Err(); err != nil {
				return err
			}
		}
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLimit):
			w.f.incomplete("layer-bytes", "", "everything behind the first bytes of the layer")
			return nil
		case err != nil && w.ctx.Err() != nil:
			return w.ctx.Err()
		case err != nil:
			return broken(fmt.Sprintf("after %d entries", w.f.Entries), err)
		}
		if w.f.Entries++; w.f.Entries > w.o.Limits.Entries {
			w.f.incomplete("entries", h.Name, "all later entries of the layer")
			return nil
		}
		if w.paths.size > w.o.Limits.IndexBytes {
			w.f.incomplete("index-bytes", h.Name, "all later entries of the layer")
			return nil
		}
		err = w.entry(h, w.content(h, tr))
		switch {
		case errors.Is(err, errLimit):
			w.f.incomplete("layer-bytes", h.Name, "everything behind the first bytes of the layer")
			return nil
		case errors.Is(err, errSparse):
			w.f.incomplete("sparse-bytes", h.Name, "what sparse files hold behind their first bytes")
		case err != nil && w.ctx.Err() != nil:
			return w.ctx.Err()
		case err != nil:
			return broken("at "+quote(h.Name), err)
		}
	}
}

// broken makes an error that says where a layer is broken. Errors of the
// source (a network, a disk) keep their own kind.
func broken(where string, err error) error {
	var se *sourceError
	if errors.As(err, &se) {
		return fmt.Errorf("reading %s: %w", where, se.err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends in the middle, %s: %w", ErrBroken, where, err)
	}
	return fmt.Errorf("%w: no valid tar %s: %w", ErrBroken, where, err)
}

const (
	whiteoutPrefix = ".wh."
	opaqueMarker   = ".wh..wh..opq"
)

// entry takes one entry of the tar.
func (w *walker) entry(h *tar.Header, c content) error {
	p, ok := cleanName(h.Name)
	if !ok {
		if p == "" {
			return nil // the root itself
		}
		w.f.incomplete("path", "/"+p+"…", "entries with a name that no file system can hold")
		return nil
	}
	dir, base := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if strings.HasPrefix(base, whiteoutPrefix) {
		w.whiteout(dir, base)
		return nil
	}
	if p, ok = w.paths.canonical(p); !ok {
		w.f.incomplete("links", "/"+strings.TrimPrefix(h.Name, "/"), "entries below a circle of links")
		return nil
	}
	abs := "/" + p
	switch h.Typeflag {
	case tar.TypeDir:
		w.paths.add(p, Dir, "")
	case tar.TypeReg, tar.TypeGNUSparse:
		w.paths.add(p, Regular, "")
		w.forget(abs)
		return w.file(abs, h, c)
	case tar.TypeLink:
		w.hardlink(abs, h.Linkname)
	case tar.TypeSymlink:
		if len(h.Linkname) > maxPathLength {
			w.f.incomplete("path", abs, "links with a target that no file system can hold")
			return nil
		}
		w.paths.add(p, Symlink, h.Linkname)
		w.forget(abs)
		w.symlink(abs, h.Linkname)
	default:
		w.paths.add(p, Other, "")
		w.forget(abs)
	}
	return nil
}

// whiteout takes a marker that hides something in lower layers.
func (w *walker) whiteout(dir, base string) {
	dir, ok := w.paths.canonical(dir + "/x")
	if !ok {
		return
	}
	dir = parent(dir)
	if base == opaqueMarker {
		w.paths.add(dir, Opaque, "")
		return
	}
	name := strings.TrimPrefix(base, whiteoutPrefix)
	// .wh..wh.plnk and such are AUFS's own and hide nothing.
	if name == "" || name == "." || name == ".." || strings.HasPrefix(name, whiteoutPrefix) {
		return
	}
	w.paths.add(path.Join(dir, name), Whiteout, "")
}

// cleanName makes a tar name relative to the root. It is false, with the name
// where there is one, for the root and for what cannot be a path.
func cleanName(name string) (string, bool) {
	p := strings.TrimPrefix(path.Clean("/"+name), "/")
	if p == "" {
		return "", false
	}
	if len(p) > maxPathLength || strings.IndexByte(p, 0) >= 0 {
		return p[:min(len(p), 64)], false
	}
	return p, true
}

// limited returns at most n bytes of a small file, and whether that is all.
func limited(r io.Reader, n int64) ([]byte, bool, error) {
	b, err := io.ReadAll(io.LimitReader(r, n+1))
	if int64(len(b)) > n {
		return b[:n], false, err
	}
	return b, true, err
}

// conf reads a configuration file of the linker.
func (w *walker) conf(abs string, r io.Reader) error {
	b, whole, err := limited(r, 64<<10)
	if err != nil {
		return err
	}
	if !whole || len(w.f.Conf) >= w.o.Limits.Facts {
		w.f.incomplete("ld.so.conf", abs, "directories of the linker's configuration")
	}
	if len(w.f.Conf) >= w.o.Limits.Facts {
		return nil
	}
	c := ConfFile{Path: abs}
	sc := bufio.NewScanner(strings.NewReader(string(b)))
	for sc.Scan() {
		line, _, _ := strings.Cut(sc.Text(), "#")
		if line = strings.TrimSpace(line); line != "" && utf8.ValidString(line) {
			c.Lines = append(c.Lines, line)
		}
	}
	w.f.Conf = append(w.f.Conf, c)
	w.from(abs, &w.confs)
	return nil
}

// quote makes a name of the image fit for one line of an error.
func quote(name string) string {
	if len(name) > 200 {
		name = name[:200] + "…"
	}
	return fmt.Sprintf("%q", name)
}

func (w *walker) addDriver(d facts.DriverFile) {
	if len(w.f.DriverFiles) >= w.o.Limits.Facts {
		w.f.incomplete("driver-files", d.Path, "further driver files of the layer")
		return
	}
	if w.driver == nil {
		w.driver = map[string]int{}
	}
	w.driver[d.Path] = len(w.f.DriverFiles)
	w.f.DriverFiles = append(w.f.DriverFiles, d)
}

func (w *walker) addRuntime(r facts.Runtime) {
	if len(w.f.Runtimes) >= w.o.Limits.Facts {
		w.f.incomplete("runtimes", r.Path, "further CUDA runtimes of the layer")
		return
	}
	if w.runtime == nil {
		w.runtime = map[string]int{}
	}
	w.runtime[r.Path] = len(w.f.Runtimes)
	w.f.Runtimes = append(w.f.Runtimes, r)
}
