package source

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

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

// capped bounds how long the answers of a registry may bring nothing, and the
// size of those that are read whole. Blobs see to their size themselves.
type capped struct {
	rt    http.RoundTripper
	stall time.Duration
}

// RoundTrip implements http.RoundTripper.
func (c *capped) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := redirected(req); err != nil {
		return nil, err
	}
	w := newWatch(req.Context(), c.stall)
	res, err := c.rt.RoundTrip(req.WithContext(w.ctx))
	if err != nil {
		w.end()
		return nil, w.reason(err)
	}
	w.timer.Stop()
	res.Body = &watchedBody{res.Body, w}
	if !ofBlob(req) || res.StatusCode >= 300 {
		res.Body = &cappedBody{res.Body, maxManifest}
	}
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

// Bounds on how a host is treated.
const (
	maxPerHost    = 8                      // requests at once, an open body counts
	maxRetryAfter = 60 * time.Second       // longer is an error at once
	maxPatience   = 3                      // answers of 429 or 503 to one request
	busyWait      = 200 * time.Millisecond // after a 503 that says no time
)

// polite limits the requests to a host, and waits where one asks for that with
// Retry-After.
type polite struct {
	rt    http.RoundTripper
	mu    sync.Mutex
	hosts map[string]chan struct{}
}

func (p *polite) host(name string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hosts == nil {
		p.hosts = map[string]chan struct{}{}
	}
	if p.hosts[name] == nil {
		p.hosts[name] = make(chan struct{}, maxPerHost)
	}
	return p.hosts[name]
}

// RoundTrip implements http.RoundTripper.
func (p *polite) RoundTrip(req *http.Request) (*http.Response, error) {
	slot := p.host(req.URL.Host)
	var waited time.Duration
	for tries := 1; ; tries++ {
		select {
		case slot <- struct{}{}:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
		free := sync.OnceFunc(func() { <-slot })
		res, err := p.rt.RoundTrip(req)
		if err != nil {
			free()
			return nil, err
		}
		wait, again := retryAfter(res)
		if waited += wait; !again || tries > maxPatience || waited > maxRetryAfter || req.Body != nil {
			res.Body = &slotBody{res.Body, free}
			return res, nil
		}
		err = res.Body.Close()
		free()
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
}

// retryAfter says whether a host asks to come again, and when.
func retryAfter(res *http.Response) (time.Duration, bool) {
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	v := res.Header.Get("Retry-After")
	wait := time.Duration(0)
	if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < 1e6 {
		wait = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(v); err == nil {
		wait = max(time.Until(at), 0)
	} else {
		return busyWait, res.StatusCode == http.StatusServiceUnavailable
	}
	return wait, wait <= maxRetryAfter
}

// slotBody frees its host's slot when it ends.
type slotBody struct {
	io.ReadCloser
	free func()
}

func (b *slotBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.free()
	}
	return n, err
}

func (b *slotBody) Close() error {
	b.free()
	return b.ReadCloser.Close()
}
