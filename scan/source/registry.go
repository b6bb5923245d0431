package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Open opens an image of a registry. The error is of type [Error].
func Open(ctx context.Context, ref string, o Options) (*Set, error) {
	w, err := parsePlatforms(o)
	if err != nil {
		return nil, &Error{Ref: ref, Op: "--platform", Err: err, Usage: true, Hint: hintOf(err)}
	}
	var nameOpts []name.Option
	if o.PlainHTTP {
		nameOpts = append(nameOpts, name.Insecure)
	}
	r, err := name.ParseReference(ref, nameOpts...)
	if err != nil {
		return nil, &Error{
			Ref: ref, Op: "reading the reference", Err: err, Usage: true,
			Hint: "an image is named REPOSITORY[:TAG|@DIGEST]; a file is given with --input",
		}
	}
	if o.Keychain == nil {
		o.Keychain = authn.DefaultKeychain
	}
	rt, err := roundTripper(o)
	if err != nil {
		return nil, &Error{Ref: ref, Op: "--ca-file " + o.CAFile, Err: plain(err), Usage: true, Hint: "name a file of certificates in PEM"}
	}
	puller, err := remote.NewPuller(
		remote.WithAuthFromKeychain(o.Keychain), remote.WithTransport(&capped{rt}),
		remote.WithJobs(maxJobs), remote.WithUserAgent(o.UserAgent),
	)
	if err != nil {
		return nil, fail(ref, "preparing the registry client", err)
	}
	s := &registry{ref: r, keys: o.Keychain, puller: puller}
	d, err := puller.Get(ctx, r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, registryError(r, r.Identifier(), o.Keychain, "pulling the manifest", err)
	}
	// A tag is the registry's to resolve; its digest is of the bytes that came.
	desc := d.Descriptor
	if desc.Digest, err = v1.NewHash(digestOf(d.Manifest)); err != nil {
		return nil, fail(ref, "pulling the manifest", err)
	}
	if dg, ok := r.(name.Digest); ok && dg.DigestStr() != desc.Digest.String() {
		return nil, fail(ref, "pulling the manifest", fmt.Errorf("%w: the manifest is %s", errDigest, desc.Digest))
	}
	res := &resolver{ref: ref, kind: KindRegistry, store: s, wanted: w}
	images, err := res.root(ctx, desc, d.Manifest, r.Context().Name())
	if err != nil {
		return nil, err
	}
	return &Set{Images: images}, nil
}

// roundTripper is the HTTP transport of the options.
func roundTripper(o Options) (http.RoundTripper, error) {
	if o.Transport != nil {
		return o.Transport, nil
	}
	base, ok := remote.DefaultTransport.(*http.Transport)
	if !ok || o.CAFile == "" && !o.Insecure {
		return remote.DefaultTransport, nil
	}
	t := base.Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.Insecure} // asked for by --insecure
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, err
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("the file holds no certificate in PEM")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return t, nil
}

// capped bounds the answers of a registry that are read whole.
type capped struct{ rt http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c *capped) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.rt.RoundTrip(req)
	if err != nil || ofBlob(req) && res.StatusCode < 300 {
		return res, err
	}
	res.Body = &cappedBody{res.Body, maxManifest}
	return res, nil
}

// ofBlob says whether a blob was asked for. Registries redirect to hosts with
// paths of their own.
func ofBlob(req *http.Request) bool {
	for req.Response != nil && req.Response.Request != nil {
		req = req.Response.Request
	}
	return strings.Contains(req.URL.Path, "/blobs/")
}

type cappedBody struct {
	io.ReadCloser
	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the registry's answer is larger than %d bytes", int64(maxManifest))
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	b.left -= int64(n)
	return n, err
}

// registry is the store of a remote repository.
type registry struct {
	ref    name.Reference
	keys   authn.Keychain
	puller *remote.Puller
}

func (s *registry) has(d v1.Descriptor) bool {
	return d.MediaType == "" || d.MediaType.IsDistributable()
}

func (*registry) key(v1.Descriptor) string { return "" }

func (s *registry) fetch(ctx context.Context, d v1.Descriptor, limit int64) ([]byte, error) {
	if !d.MediaType.IsConfig() && d.MediaType != "" {
		m, err := s.puller.Get(ctx, s.ref.Context().Digest(d.Digest.String()))
		if err != nil {
			return nil, s.explain(ctx, "manifest", d, err)
		}
		return m.Manifest, nil
	}
	b, err := s.layer(ctx, d)
	if err != nil {
		return nil, err
	}
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

func (s *registry) layer(ctx context.Context, d v1.Descriptor) (Blob, error) {
	l, err := s.puller.Layer(ctx, s.ref.Context().Digest(d.Digest.String()))
	if err == nil {
		var rc io.ReadCloser
		if rc, err = l.Compressed(); err == nil {
			return &remoteBlob{rc, func(err error) error { return s.explain(ctx, "blob", d, err) }, d.Size, 0}, nil
		}
	}
	return nil, s.explain(ctx, "blob", d, err)
}

func (s *registry) explain(ctx context.Context, what string, d v1.Descriptor, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return registryError(s.ref, what+" "+d.Digest.String(), s.keys, "pulling the "+what+" "+d.Digest.String(), err)
}

// remoteBlob is a blob from a network.
type remoteBlob struct {
	io.ReadCloser
	explain func(error) error
	// size is what the manifest says, n what was read.
	size, n int64
}

// Read implements io.Reader. It ends where the blob is larger than the
// manifest says: a registry may send without end.
func (b *remoteBlob) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	switch {
	case b.n > b.size:
		return 0, b.explain(hintf(damagedHint, "%w: the blob is larger than the manifest says, %d bytes", errDigest, b.size))
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case strings.HasPrefix(err.Error(), "error verifying "):
		return n, io.EOF // who reads the blob compares, and tells a cut blob from a wrong one
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the connection was cut after %d of %d bytes: %w", b.n, b.size, err)
	}
	return n, b.explain(err)
}

// Section implements Blob: a network cannot seek.
func (*remoteBlob) Section() *io.SectionReader { return nil }
