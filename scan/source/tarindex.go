package source

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// archive is a tar of an image, indexed by its headers: nothing is unpacked,
// and each file in it is a section of the archive.
type archive struct {
	file  *os.File
	files map[string]extent
	links map[string]string
}

type extent struct{ off, size int64 }

// errNotTar says that a file is no tar.
var errNotTar = errors.New("it is no tar archive")

// tarBlock is the size of a tar's header in bytes.
const tarBlock = 512

// openArchive reads the headers of a tar.
func openArchive(f *os.File) (*archive, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() == 0 {
		return nil, hintf("write the archive again", "the file is empty")
	}
	magic := make([]byte, 6)
	if _, err := f.ReadAt(magic, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case magic[0] == 0x1f && magic[1] == 0x8b:
		return nil, hintf("decompress it first: gunzip", "the archive itself is compressed with gzip")
	case string(magic[:4]) == "\x28\xb5\x2f\xfd":
		return nil, hintf("decompress it first: unzstd", "the archive itself is compressed with zstd")
	}
	a := &archive{file: f, files: map[string]extent{}, links: map[string]string{}}
	// The tar reader seeks over contents, so the position after a header is
	// where the content begins.
	sr := io.NewSectionReader(f, 0, st.Size())
	tr := tar.NewReader(sr)
	for n := 0; ; n++ {
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF):
			if n == 0 {
				return nil, hintf(archiveHint, "%w", errNotTar)
			}
			return a, nil
		case errors.Is(err, io.ErrUnexpectedEOF) && st.Size() < tarBlock:
			return nil, hintf(archiveHint, "%w", errNotTar)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, hintf("copy or save the archive again", "it is cut off after %d of its files: %w", n, err)
		case errors.Is(err, tar.ErrHeader) && n == 0:
			return nil, hintf(archiveHint, "%w", errNotTar)
		case err != nil:
			return nil, hintf("copy or save the archive again", "it is damaged after %d of its files: %w", n, err)
		case n >= maxTarBlobs:
			return nil, fmt.Errorf("more than %d files in the archive", maxTarBlobs)
		}
		if err := a.add(h, sr, st.Size()); err != nil {
			return nil, err
		}
	}
}

const archiveHint = "save an image with docker save, podman save, or skopeo copy docker://REF oci-archive:FILE"

// add notes one file of the archive; of two with one name the later counts.
func (a *archive) add(h *tar.Header, sr *io.SectionReader, size int64) error {
	if len(h.Name) > maxTarName {
		return fmt.Errorf("a name in the archive is longer than %d bytes", maxTarName)
	}
	p := clean(h.Name)
	switch h.Typeflag {
	case tar.TypeReg:
		for k := range h.PAXRecords {
			if strings.HasPrefix(k, "GNU.sparse.") {
				return fmt.Errorf("%q is stored as a sparse file, which no image tool writes", h.Name)
			}
		}
		off, err := sr.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if h.Size > size-off {
			return hintf("copy or save the archive again", "it is cut off within %q", h.Name)
		}
		a.files[p] = extent{off, h.Size}
		delete(a.links, p)
	case tar.TypeSymlink:
		a.links[p] = clean(path.Join(path.Dir("/"+p), h.Linkname))
		if path.IsAbs(h.Linkname) {
			a.links[p] = clean(h.Linkname)
		}
		delete(a.files, p)
	case tar.TypeLink:
		a.links[p] = clean(h.Linkname)
		delete(a.files, p)
	}
	return nil
}

// clean makes a name of the archive relative to its root.
func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// section returns a file of the archive, through links.
func (a *archive) section(name string) (*io.SectionReader, bool) {
	p := clean(name)
	for range maxLinkDepth {
		if e, ok := a.files[p]; ok {
			return io.NewSectionReader(a.file, e.off, e.size), true
		}
		to, ok := a.links[p]
		if !ok {
			return nil, false
		}
		p = to
	}
	return nil, false
}

// read reads a small file of the archive.
func (a *archive) read(name string, limit int64) ([]byte, error) {
	s, ok := a.section(name)
	if !ok {
		return nil, hintf("save the image again", "%s is missing in the archive", quote(name))
	}
	if s.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", quote(name), s.Size(), limit)
	}
	b := make([]byte, s.Size())
	_, err := io.ReadFull(s, b)
	return b, err
}

// Close closes the file.
func (a *archive) Close() error { return a.file.Close() }

// sectionBlob is a blob in a local file.
type sectionBlob struct {
	*io.SectionReader
	closer io.Closer
}

// Section implements Blob.
func (b *sectionBlob) Section() *io.SectionReader { return b.SectionReader }

// Close implements io.Closer.
func (b *sectionBlob) Close() error {
	if b.closer == nil {
		return nil
	}
	return b.closer.Close()
}

func quote(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return fmt.Sprintf("%q", s)
}
