package source

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
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
	r, err := parseReference(ref, nameOpts...)
	if err != nil {
		return nil, err
	}
	if o.Keychain == nil {
		o.Keychain = keychain()
	}
	rt, err := roundTripper(o)
	if err != nil {
		return nil, &Error{Ref: ref, Op: "--ca-file " + o.CAFile, Err: plain(err), Usage: true, Hint: "name a file of certificates in PEM"}
	}
	o.Stall = cmp.Or(o.Stall, defaultStall)
	tr, err := authenticated(ctx, r, o, rt)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, registryError(r, r.Identifier(), o.Keychain, "asking the registry", err)
	}
	puller, err := remote.NewPuller(remote.WithTransport(tr), remote.WithJobs(maxJobs), remote.WithUserAgent(o.UserAgent))
	if err != nil {
		return nil, fail(ref, "preparing the registry client", err)
	}
	s := &registry{
		ref: r, keys: o.Keychain, puller: puller, client: &http.Client{Transport: tr},
		backoff: cmp.Or(o.Backoff, defaultBackoff),
	}
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

// registry is the store of a remote repository.
type registry struct {
	ref    name.Reference
	keys   authn.Keychain
	puller *remote.Puller
	client *http.Client
	// backoff is that of the options.
	backoff time.Duration
}

// authenticated is a transport that has made itself known to the registry.
func authenticated(ctx context.Context, r name.Reference, o Options, base http.RoundTripper) (http.RoundTripper, error) {
	auth, err := authn.Resolve(ctx, o.Keychain, r.Context())
	if err != nil {
		return nil, hintf("see docker's configuration and its credential helpers", "credentials for %s: %w", r.Context().RegistryStr(), err)
	}
	// One alone asks again for an answer: nested, their numbers would multiply.
	rt := transport.NewRetry(&capped{base, o.Stall}, transport.WithRetryStatusCodes(
		http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout,
	))
	rt = &polite{rt: rt}
	rt = transport.NewUserAgent(rt, o.UserAgent)
	return transport.NewWithContext(ctx, r.Context().Registry, auth, rt, []string{r.Context().Scope(transport.PullScope)})
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
	return readAll(b, limit)
}

func (s *registry) layer(ctx context.Context, d v1.Descriptor) (Blob, error) {
	repo := s.ref.Context()
	b := &remoteBlob{
		ctx: ctx, client: s.client, size: d.Size, backoff: s.backoff, started: time.Now(),
		url:     fmt.Sprintf("%s://%s/v2/%s/blobs/%s", repo.Scheme(), repo.RegistryStr(), repo.RepositoryStr(), d.Digest),
		explain: func(err error) error { return s.explain(ctx, "blob", d, err) },
	}
	if err := b.connect(); err != nil {
		return nil, b.explain(err)
	}
	return b, nil
}

func (s *registry) explain(ctx context.Context, what string, d v1.Descriptor, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return registryError(s.ref, what+" "+d.Digest.String(), s.keys, "pulling the "+what+" "+d.Digest.String(), err)
}
