package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Defaults of [Options].
const (
	defaultStall   = 60 * time.Second
	defaultBackoff = 500 * time.Millisecond
	// maxResumes is how often in a row a transfer is taken up again without a
	// byte in between, maxResumesAll how often altogether.
	maxResumes    = 4
	maxResumesAll = 100
)

// remoteBlob is a blob from a registry. A connection that breaks is taken up
// again where it broke.
type remoteBlob struct {
	ctx     context.Context
	client  *http.Client
	url     string
	explain func(error) error
	backoff time.Duration
	started time.Time

	body io.ReadCloser
	// whole says that the end of the body is the end of what the registry has,
	// and not that of a connection.
	whole bool
	// noRanges says that the registry refuses ranges.
	noRanges bool
	// size is what the manifest says, n what was read.
	size, n int64
	// failures counts those since the last byte, all those of the transfer.
	failures, all int
}

// Section implements Blob: a network cannot seek.
func (*remoteBlob) Section() *io.SectionReader { return nil }

// Close implements io.Closer.
func (b *remoteBlob) Close() error {
	if b.body == nil {
		return nil
	}
	err := b.body.Close()
	b.body = nil
	return err
}

// Read implements io.Reader. It ends where the blob is larger than the
// manifest says: a registry may send without end.
func (b *remoteBlob) Read(p []byte) (int, error) {
	for {
		n, err := b.read(p)
		b.n += int64(n)
		if n > 0 {
			b.failures = 0
		}
		switch {
		case b.n > b.size:
			return 0, b.explain(hintf(damagedHint, "%w: the blob is larger than the manifest says, %d bytes", errDigest, b.size))
		case err == nil, errors.Is(err, io.EOF) && b.n == b.size:
			return n, err
		case b.ctx.Err() != nil:
			return n, context.Cause(b.ctx)
		case errors.Is(err, io.EOF) && b.whole:
			return n, io.EOF // who reads the blob compares, and tells a cut blob from a wrong one
		case errors.Is(err, io.EOF):
			err = io.ErrUnexpectedEOF
		}
		// Answers that ask to come again were waited for, and others asked again.
		var te *transport.Error
		if errors.As(err, &te) {
			return n, b.explain(err)
		}
		if cerr := b.Close(); cerr != nil && !errors.Is(cerr, context.Canceled) {
			err = errors.Join(err, cerr)
		}
		b.failures++
		if b.all++; b.failures > maxResumes || b.all > maxResumesAll {
			return n, b.explain(b.broken(err))
		}
		if n > 0 {
			return n, nil // taken up again by the next call
		}
		select {
		case <-time.After(b.backoff << (b.failures - 1)):
		case <-b.ctx.Done():
			return 0, context.Cause(b.ctx)
		}
	}
}

// broken says how far a transfer came.
func (b *remoteBlob) broken(err error) error {
	const mb = 1e6
	speed := float64(b.n) / mb / max(time.Since(b.started).Seconds(), 1e-3)
	return hintf("try again; if it stays so, see to the network and the registry",
		"the connection was cut %d times, at last after %.1f of %.1f MB (%.1f MB/s): %w", b.failures, float64(b.n)/mb, float64(b.size)/mb, speed, err)
}

// read reads from the connection, which it makes if there is none.
func (b *remoteBlob) read(p []byte) (int, error) {
	if b.body == nil {
		if err := b.connect(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // of the connection, not of the blob
			}
			return 0, err
		}
	}
	n, err := b.body.Read(p)
	return n, err
}

// connect asks for what is missing.
func (b *remoteBlob) connect() error {
	b.whole = false
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity") // the bytes as they are stored
	if b.n > 0 && !b.noRanges {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", b.n, b.size-1))
	}
	res, err := b.client.Do(req)
	if err != nil {
		return err
	}
	end, ranged := rangeEnd(res, b.n)
	if b.n > 0 && !b.noRanges && (res.StatusCode == http.StatusRequestedRangeNotSatisfiable || res.StatusCode == http.StatusPartialContent && !ranged) {
		b.noRanges = true // or it answers with another one
		if err := res.Body.Close(); err != nil {
			return err
		}
		return b.connect()
	}
	if err := transport.CheckError(res, http.StatusOK, http.StatusPartialContent); err != nil {
		return errors.Join(err, res.Body.Close())
	}
	if b.n > 0 && res.StatusCode == http.StatusOK {
		// No ranges here: from the start again.
		if _, err := io.CopyN(io.Discard, res.Body, b.n); err != nil {
			return errors.Join(err, res.Body.Close())
		}
	}
	b.body = res.Body
	b.whole = res.ContentLength >= 0 || len(res.TransferEncoding) > 0 || res.ProtoMajor > 1
	if res.StatusCode == http.StatusPartialContent {
		b.whole = b.whole && end >= b.size-1 // else more is there
	}
	return nil
}

// rangeEnd is the last byte of the range that an answer holds, if that begins
// where it ought to.
func rangeEnd(res *http.Response, from int64) (int64, bool) {
	var start, end int64
	if _, err := fmt.Sscanf(res.Header.Get("Content-Range"), "bytes %d-%d/", &start, &end); err != nil {
		return 0, false
	}
	return end, start == from && end >= start
}

// readAll reads a small blob of at most limit bytes, and closes it.
func readAll(b Blob, limit int64) ([]byte, error) {
	defer func() { _ = b.Close() }() // read only
	raw, err := io.ReadAll(io.LimitReader(b, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return raw, nil
}
