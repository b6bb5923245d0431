package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// files are the files of an OCI layout: a directory or an archive.
type files interface {
	read(name string, limit int64) ([]byte, error)
	open(name string) (Blob, error)
	exists(name string) bool
	// key names a file that a stream has passed, empty elsewhere.
	key(name string) string
}

// members are the files of an archive, whose sizes are known.
type members interface {
	files
	size(name string) (int64, bool)
	// names are some names, to show.
	names() []string
}

// blobStore is the store of an OCI layout.
type blobStore struct{ files files }

// blobPath is where a layout has a blob. Digests come from hostile JSON:
// v1.Hash holds that the hex part is hex.
func blobPath(d v1.Descriptor) (string, error) {
	if d.Digest.Algorithm != "sha256" || len(d.Digest.Hex) != 64 {
		return "", fmt.Errorf("digest %s: only sha256 is supported", quote(d.Digest.String()))
	}
	return "blobs/sha256/" + d.Digest.Hex, nil
}

func (s *blobStore) has(d v1.Descriptor) bool {
	p, err := blobPath(d)
	return err == nil && s.files.exists(p)
}

func (s *blobStore) key(d v1.Descriptor) string {
	p, err := blobPath(d)
	if err != nil {
		return ""
	}
	return s.files.key(p)
}

func (s *blobStore) fetch(_ context.Context, d v1.Descriptor, limit int64) ([]byte, error) {
	p, err := blobPath(d)
	if err != nil {
		return nil, err
	}
	return s.files.read(p, limit)
}

func (s *blobStore) layer(_ context.Context, d v1.Descriptor) (Blob, error) {
	p, err := blobPath(d)
	if err != nil {
		return nil, err
	}
	b, err := s.files.open(p)
	if err != nil {
		return nil, err
	}
	if n := b.Section().Size(); n != d.Size {
		return nil, errors.Join(hintf("copy or save the image again", "the blob has %d bytes, the manifest says %d", n, d.Size), b.Close())
	}
	return b, nil
}

func (a *archive) key(string) string { return "" }

func (a *archive) size(name string) (int64, bool) {
	s, ok := a.section(name)
	if !ok {
		return 0, false
	}
	return s.Size(), true
}

func (a *archive) names() []string {
	for n := range a.files {
		return []string{n}
	}
	return nil
}

// exists implements files.
func (a *archive) exists(name string) bool { _, ok := a.section(name); return ok }

// open implements files.
func (a *archive) open(name string) (Blob, error) {
	s, ok := a.section(name)
	if !ok {
		return nil, hintf("save the image again", "%s is missing in the archive", quote(name))
	}
	return &sectionBlob{SectionReader: s}, nil
}

// directory are the files of a layout on disk. os.Root holds links inside it.
type directory struct{ root *os.Root }

func (d *directory) stat(name string) (fs.FileInfo, error) {
	// Opening a pipe or device would hang or worse: only files are opened.
	st, err := d.root.Stat(name)
	if err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", quote(name))
	}
	return st, err
}

func (d *directory) key(string) string { return "" }

func (d *directory) exists(name string) bool { _, err := d.stat(name); return err == nil }

func (d *directory) open(name string) (Blob, error) {
	st, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hintf("copy the layout again", "%s is missing in the layout", quote(name))
	}
	if err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	return &sectionBlob{io.NewSectionReader(f, 0, st.Size()), f}, nil
}

func (d *directory) read(name string, limit int64) ([]byte, error) {
	b, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }() // read only
	n := b.Section().Size()
	if n > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", quote(name), n, limit)
	}
	raw := make([]byte, n)
	_, err = io.ReadFull(b, raw)
	return raw, err
}

// Close closes the directory.
func (d *directory) Close() error { return d.root.Close() }
