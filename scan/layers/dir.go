package layers

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// kernelDirs are where the kernel shows itself, not files of an image.
var kernelDirs = map[string]bool{"proc": true, "sys": true, "dev": true}

// WalkDir reads the root file system in a directory as one layer. Files that
// cannot be read are reported as facts.Incomplete. Links are not followed, and
// nothing outside of the root is opened.
func WalkDir(ctx context.Context, root *os.Root, o Options) (*Facts, error) {
	w := newWalker(ctx, o)
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if cerr := ctx.Err(); cerr != nil {
			return context.Cause(ctx)
		}
		switch {
		case err != nil && p == ".":
			return err
		case err != nil:
			w.unreadable(p, err)
			return nil
		case p == ".":
			return nil
		case d.IsDir() && kernelDirs[p]:
			return fs.SkipDir
		}
		if w.f.Entries++; w.f.Entries > o.Limits.Entries {
			w.f.incomplete("entries", "/"+p, "all later entries of the directory")
			return fs.SkipAll
		}
		if w.paths.size > o.Limits.IndexBytes {
			w.f.incomplete("index-bytes", "/"+p, "all later entries of the directory")
			return fs.SkipAll
		}
		return w.dirEntry(root, p, d)
	})
	if err != nil {
		return nil, err
	}
	w.finish()
	return w.f, nil
}

func (w *walker) unreadable(p string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return // it went away in the meantime
	}
	reason := err
	var pe *fs.PathError
	if errors.As(err, &pe) {
		reason = pe.Err
	}
	w.f.incomplete("unreadable", "/"+p, "what could not be read: "+reason.Error())
}

// dirEntry takes one entry as if it came in a tar.
func (w *walker) dirEntry(root *os.Root, p string, d fs.DirEntry) error {
	h := &tar.Header{Name: p}
	switch d.Type() {
	case fs.ModeDir:
		h.Typeflag = tar.TypeDir
	case fs.ModeSymlink:
		h.Typeflag = tar.TypeSymlink
		to, err := root.Readlink(p)
		if err != nil {
			w.unreadable(p, err)
			return nil
		}
		h.Linkname = to
	case 0:
		h.Typeflag = tar.TypeReg
		st, err := d.Info()
		if err != nil {
			w.unreadable(p, err)
			return nil
		}
		h.Size = st.Size()
	default:
		h.Typeflag = tar.TypeChar
	}
	if base := path.Base(p); len(base) >= len(whiteoutPrefix) && base[:len(whiteoutPrefix)] == whiteoutPrefix {
		return nil // a name that only layers know
	}
	f := &lazyFile{root: root, path: p}
	defer f.close()
	err := w.entry(h, content{f, f.at})
	if err != nil && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if f.err != nil {
		w.unreadable(p, f.err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("at %s: %w", quote(p), err)
	}
	return nil
}

// lazyFile is opened when it is read: most files are not.
type lazyFile struct {
	root *os.Root
	path string
	file *os.File
	// err is why it could not be opened or read.
	err error
}

func (l *lazyFile) open() error {
	if l.file == nil && l.err == nil {
		l.file, l.err = l.root.Open(l.path)
	}
	return l.err
}

func (l *lazyFile) at() (io.ReaderAt, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *lazyFile) note(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return err
}

// Read implements io.Reader.
func (l *lazyFile) Read(p []byte) (int, error) {
	if err := l.open(); err != nil {
		return 0, err
	}
	n, err := l.file.Read(p)
	return n, l.note(err)
}

// ReadAt implements io.ReaderAt.
func (l *lazyFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := l.file.ReadAt(p, off)
	return n, l.note(err)
}

func (l *lazyFile) close() {
	if l.file != nil {
		_ = l.file.Close() // read only
	}
}
