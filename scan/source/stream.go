package source

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Bounds of what a stream keeps in memory: manifests and configurations, which
// often come last.
const (
	maxKept      = 64 << 20
	maxKeptFiles = 20_000
)

// Visitor reads a blob of a stream that may be a layer, whose name it is given.
// What it leaves unread is passed over. Its error ends the stream.
type Visitor func(ctx context.Context, name string, size int64, r io.Reader) error

// OpenStream reads an archive of images in one pass, as docker save writes it
// to a pipe. Which blobs are layers of an image is known at the end, so each
// that may be one is shown to visit as it comes by; [Layer.Key] names it
// afterwards. The archive itself may be compressed. A reference with a prefix
// is held to as by [OpenInput]. The error is of type
// [Error], or that of visit.
func OpenStream(ctx context.Context, ref string, r io.Reader, o Options, visit Visitor) (*Set, error) {
	w, err := parsePlatforms(o)
	if err != nil {
		return nil, &Error{Ref: ref, Op: "--platform", Err: err, Usage: true, Hint: hintOf(err)}
	}
	m := &memory{data: map[string][]byte{}, sizes: map[string]int64{}, links: map[string]string{}}
	if err := m.fill(ctx, r, visit); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var v *visitError
		if errors.As(err, &v) {
			return nil, v.err
		}
		return nil, fail(ref, "reading the archive", err)
	}
	res := &resolver{ref: ref, loc: locate(ref), wanted: w}
	images, err := res.archive(ctx, m)
	if err != nil {
		return nil, err
	}
	return &Set{Images: images}, nil
}

// visitError marks an error of the visitor.
type visitError struct{ err error }

func (e *visitError) Error() string { return e.err.Error() }

// memory is what a stream leaves: small files, and the names and sizes of the
// others.
type memory struct {
	data  map[string][]byte
	sizes map[string]int64
	links map[string]string
	kept  int64
}

// fill reads the tar.
func (m *memory) fill(ctx context.Context, r io.Reader, visit Visitor) error {
	br := bufio.NewReaderSize(newInterruptible(ctx, r), 1<<20)
	plain, done, err := inflate(br)
	if err != nil {
		return err
	}
	defer done()
	tr := tar.NewReader(plain)
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && n == 0, errors.Is(err, tar.ErrHeader) && n == 0:
			return hintf(archiveHint, "%w", errNotTar)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return hintf("copy or save the archive again", "it is cut off after %d of its files: %w", n, err)
		case err != nil:
			return hintf("copy or save the archive again", "it is damaged after %d of its files: %w", n, err)
		case n >= maxTarBlobs:
			return fmt.Errorf("more than %d files in the archive", maxTarBlobs)
		case len(h.Name) > maxTarName:
			return fmt.Errorf("a name in the archive is longer than %d bytes", maxTarName)
		}
		if err := m.add(ctx, h, tr, visit); err != nil {
			return err
		}
	}
}

// inflate decompresses an archive that is compressed as a whole.
func inflate(br *bufio.Reader) (io.Reader, func(), error) {
	magic, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case len(magic) == 0:
		return nil, nil, hintf("was nothing written to the pipe? see the error of the program before it", "it is empty")
	case len(magic) > 1 && magic[0] == 0x1f && magic[1] == 0x8b:
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, err
		}
		return z, func() { _ = z.Close() }, nil // it only reads
	case string(magic) == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return br, func() {}, nil
}

// add takes one file of the archive.
func (m *memory) add(ctx context.Context, h *tar.Header, tr *tar.Reader, visit Visitor) error {
	p := clean(h.Name)
	switch h.Typeflag {
	case tar.TypeSymlink, tar.TypeLink:
		if len(m.links) >= maxKeptFiles {
			return fmt.Errorf("more than %d links in the archive", maxKeptFiles)
		}
		m.links[p] = clean(h.Linkname)
		if h.Typeflag == tar.TypeSymlink && !path.IsAbs(h.Linkname) {
			m.links[p] = clean(path.Join(path.Dir("/"+p), h.Linkname))
		}
		return nil
	case tar.TypeReg:
	default:
		return nil
	}
	delete(m.links, p)
	if len(m.sizes) >= maxKeptFiles {
		return fmt.Errorf("more than %d files in the archive", maxKeptFiles)
	}
	m.sizes[p] = h.Size
	br := bufio.NewReaderSize(tr, 512)
	head, err := br.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return cut(h.Name, err)
	}
	if !layerLike(head) {
		return m.keep(p, h, br)
	}
	counted := &countReader{r: br}
	if err := visit(ctx, p, h.Size, counted); err != nil {
		if counted.err != nil { // the archive's own, not the layer's
			return cut(h.Name, counted.err)
		}
		return &visitError{err}
	}
	return nil
}

func cut(name string, err error) error {
	return hintf("copy or save the archive again", "it is cut off within %s: %w", quote(name), err)
}

// countReader remembers an error of the archive below a layer.
type countReader struct {
	r   io.Reader
	err error
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// keep holds a small file in memory: a manifest or configuration.
func (m *memory) keep(p string, h *tar.Header, r io.Reader) error {
	m.kept -= int64(len(m.data[p]))
	delete(m.data, p)
	if h.Size > maxConfig || m.kept+h.Size > maxKept {
		return nil // said to be too large should it be asked for
	}
	b, err := io.ReadAll(io.LimitReader(r, h.Size))
	if err != nil {
		return cut(h.Name, err)
	}
	m.kept += int64(len(b))
	m.data[p] = b
	return nil
}

// layerLike says whether a file may be a layer: compressed, or a tar by the
// checksum of its first header, or the zeros of an empty one.
func layerLike(head []byte) bool {
	switch {
	case len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b:
		return true
	case len(head) >= 4 && (string(head[:4]) == "\x28\xb5\x2f\xfd" || head[0]&0xf0 == 0x50 && binary.LittleEndian.Uint32(head)>>4 == 0x184d2a5):
		return true
	case len(head) < tarBlock:
		return false
	}
	sum, zero := int64(0), true
	for i, c := range head[:tarBlock] {
		zero = zero && c == 0
		if i >= 148 && i < 156 {
			c = ' ' // the checksum counts as blanks
		}
		sum += int64(c)
	}
	want, err := strconv.ParseInt(strings.Trim(string(head[148:156]), " \x00"), 8, 64)
	return zero || err == nil && want == sum
}

// find follows links to the name of a file.
func (m *memory) find(name string) (string, bool) {
	p := clean(name)
	for range maxLinkDepth {
		if _, ok := m.sizes[p]; ok {
			return p, true
		}
		to, ok := m.links[p]
		if !ok {
			return "", false
		}
		p = to
	}
	return "", false
}

func (m *memory) exists(name string) bool { _, ok := m.find(name); return ok }

func (m *memory) read(name string, limit int64) ([]byte, error) {
	p, ok := m.find(name)
	if !ok {
		return nil, hintf("save the image again", "%s is missing in the archive", quote(name))
	}
	b, ok := m.data[p]
	if !ok || int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than are kept of a stream", quote(name), m.sizes[p])
	}
	return b, nil
}

// errPassed says that a blob of a stream cannot be read again.
var errPassed = errors.New("the stream has passed it")

func (m *memory) open(name string) (Blob, error) {
	if !m.exists(name) {
		return nil, hintf("save the image again", "%s is missing in the archive", quote(name))
	}
	return nil, errPassed
}

func (m *memory) key(name string) string { p, _ := m.find(name); return p }

func (m *memory) size(name string) (int64, bool) {
	p, ok := m.find(name)
	return m.sizes[p], ok
}

func (m *memory) names() []string {
	for n := range m.sizes {
		return []string{n}
	}
	return nil
}
