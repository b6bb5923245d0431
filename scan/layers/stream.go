package layers

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errLimit is what a reader answers once a layer is larger than its limit.
var errLimit = errors.New("layer larger than the limit")

// errCut says that a blob is shorter than the manifest says.
var errCut = errors.New("the blob is cut off")

// sourceError marks an error of the blob's reader, so that it is not taken for
// one of the content.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// input is an opened layer.
type input struct {
	// tar yields the uncompressed layer; it can seek where seek is set.
	tar  io.Reader
	seek *tarSection
	// raw counts and hashes the stored bytes, plain the uncompressed ones; nil
	// where they are not hashed.
	raw   *meter
	plain *meter
	blob  Blob
	done  func()
}

// open looks at the first bytes to tell how a layer is compressed: media types
// are claims.
func open(ctx context.Context, b Blob, o Options) (*input, error) {
	in := &input{blob: b, done: func() {}}
	if b.Section != nil && !o.Verify {
		var magic [4]byte
		if n, err := b.Section.ReadAt(magic[:], 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		} else if n > 0 && !compressed(magic[:n]) {
			in.seek = &tarSection{SectionReader: io.NewSectionReader(b.Section, 0, b.Section.Size())}
			in.tar = in.seek
			return in, nil
		}
	}
	src := b.Reader
	if b.Section != nil {
		src = io.NewSectionReader(b.Section, 0, b.Section.Size())
	}
	in.raw = &meter{r: &ctxReader{ctx, src}, hash: sha256.New()}
	br := bufio.NewReaderSize(in.raw, 1<<20)
	magic, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var r io.Reader = br
	switch {
	case isGzip(magic):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, broken("in its gzip header", err)
		}
		in.done = func() { _ = z.Close() }
		r = z
	case isZstd(magic):
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, broken("in its zstd header", err)
		}
		in.done = z.Close
		r = z
	}
	// The diff ID is what binds a blob that no manifest names by digest.
	in.plain = &meter{r: r, limit: o.Limits.LayerBytes}
	if b.Digest == "" || o.Verify {
		in.plain.hash = sha256.New()
	}
	in.tar = in.plain
	return in, nil
}

func (in *input) close() { in.done() }

// finish reads what is left, so that digests can be compared, and compares.
func (in *input) finish(f *Facts) error {
	if in.seek != nil {
		f.Size = in.seek.Size()
		if in.blob.Size >= 0 && f.Size < in.blob.Size {
			return fmt.Errorf("%w: %w, %d of %d bytes are there", ErrBroken, errCut, f.Size, in.blob.Size)
		}
		return nil
	}
	if in.plain.hash != nil {
		if err := drain(in.plain); err != nil && !errors.Is(err, errLimit) {
			return broken("behind its last entry", err)
		}
	}
	if err := drain(in.raw); err != nil {
		return err
	}
	f.Size = in.raw.n
	f.Digest = in.raw.digest()
	if in.blob.Digest != "" && f.Digest != in.blob.Digest {
		if in.blob.Size >= 0 && f.Size < in.blob.Size {
			return fmt.Errorf("%w: %w, %d of %d bytes are there", ErrBroken, errCut, f.Size, in.blob.Size)
		}
		return fmt.Errorf("%w: the blob is %s, the manifest names %s", ErrDigest, f.Digest, in.blob.Digest)
	}
	f.Verified = in.blob.Digest != ""
	if in.plain.hash != nil && !in.plain.hit {
		f.DiffID = in.plain.digest()
		if in.blob.DiffID != "" && f.DiffID != in.blob.DiffID {
			return fmt.Errorf("%w: the uncompressed layer is %s, the configuration names %s", ErrDigest, f.DiffID, in.blob.DiffID)
		}
		f.Verified = f.Verified || in.blob.DiffID != ""
	}
	return nil
}

func drain(r io.Reader) error {
	buf := make([]byte, 256<<10)
	for {
		_, err := r.Read(buf)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// meter counts, hashes and limits what is read through it.
type meter struct {
	r     io.Reader
	hash  hash.Hash
	n     int64
	limit int64 // 0: none
	hit   bool
}

func (m *meter) Read(p []byte) (int, error) {
	if m.limit > 0 && m.n >= m.limit {
		m.hit = true
		return 0, errLimit
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	if m.hash != nil {
		m.hash.Write(p[:n])
	}
	return n, err
}

func (m *meter) digest() string { return "sha256:" + hex.EncodeToString(m.hash.Sum(nil)) }

// ctxReader ends with the context, and marks the source's errors.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, &sourceError{err}
	}
	n, err := c.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &sourceError{err}
	}
	return n, err
}

func compressed(magic []byte) bool { return isGzip(magic) || isZstd(magic) }

func isGzip(b []byte) bool { return len(b) >= 2 && b[0] == 0x1f && b[1] == 0x8b }

// isZstd knows zstd's own frame and the skippable one that may come first.
func isZstd(b []byte) bool {
	return len(b) >= 4 && (bytes.Equal(b[:4], []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		b[0]&0xf0 == 0x50 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18}))
}
