package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/source"
)

// faulty is a transport that spoils the answers to some requests.
type faulty struct {
	// of says which requests are spoiled, times how many of them, all if 0.
	of    func(path string) bool
	times int64
	count atomic.Int64
	fault func(req *http.Request, next http.RoundTripper) (*http.Response, error)
}

func (f *faulty) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet || !f.of(req.URL.Path) || f.count.Add(1) > f.times && f.times > 0 {
		return http.DefaultTransport.RoundTrip(req)
	}
	return f.fault(req, http.DefaultTransport)
}

// answer is a fault that answers without the registry.
func answer(status int, body func(ctx context.Context) io.Reader, header ...string) func(*http.Request, http.RoundTripper) (*http.Response, error) {
	return func(req *http.Request, _ http.RoundTripper) (*http.Response, error) {
		h := http.Header{"Content-Type": {testimage.TypeManifest}}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{
			StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h, Body: io.NopCloser(body(req.Context())), ContentLength: -1, TransferEncoding: []string{"chunked"}, Request: req,
		}, nil
	}
}

// changed is a fault that changes the registry's answer.
func changed(change func(ctx context.Context, body []byte) io.Reader) func(*http.Request, http.RoundTripper) (*http.Response, error) {
	return func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		res, err := next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return nil, err
		}
		res.Body = io.NopCloser(change(req.Context(), data))
		return res, nil
	}
}

func text(s string) func(context.Context) io.Reader {
	return func(context.Context) io.Reader { return strings.NewReader(s) }
}

// failing ends with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// silent ends with the request.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// endless has no end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestFaults spoils each of a registry's answers in each way: what passes again
// is scanned all the same, and what stays is an error that says what failed, of
// which image, and what to do.
func TestFaults(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	h := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	if err := b.Push(t.Context(), host, "team/app", "1"); err != nil {
		t.Fatal(err)
	}
	objects := map[string]func(path string) bool{
		"manifest":      func(p string) bool { return strings.HasSuffix(p, "/manifests/1") },
		"configuration": func(p string) bool { return strings.HasSuffix(p, b.Config.Digest) },
		"layer":         func(p string) bool { return strings.HasSuffix(p, b.Layers[1].Digest) },
	}
	half := func(end func(ctx context.Context) io.Reader) func(ctx context.Context, body []byte) io.Reader {
		return func(ctx context.Context, body []byte) io.Reader {
			return io.MultiReader(bytes.NewReader(body[:len(body)/2]), end(ctx))
		}
	}
	const never, once, twice = 0, 1, 2
	for name, tt := range map[string]struct {
		fault func(*http.Request, http.RoundTripper) (*http.Response, error)
		// passes is after how many times it is no matter any more, for the
		// objects in of (all if empty).
		passes int64
		of     string
		want   string // in the error, where it stays
	}{
		"401":                {answer(401, text("")), never, "", "credentials"},
		"403":                {answer(403, text("")), never, "", "credentials"},
		"404":                {answer(404, text("")), never, "", "the registry has no"},
		"429":                {answer(429, text("")), never, "", "limits the number of requests"},
		"429, retry at once": {answer(429, text(""), "Retry-After", "0"), twice, "", "limits the number of requests"},
		"429, much later":    {answer(429, text(""), "Retry-After", "86400"), never, "", "limits the number of requests"},
		"500":                {answer(500, text("oops")), once, "", "500"},
		"502":                {answer(502, text("")), once, "", "502"},
		"503":                {answer(503, text("")), once, "", "503"},
		"503, retry at once": {answer(503, text(""), "Retry-After", "0"), twice, "", "503"},
		"504":                {answer(504, text("")), once, "", "504"},
		"505":                {answer(505, text("")), never, "", "505"},
		"HTML":               {answer(200, text("<html>log in first</html>")), never, "", ""},
		"an endless error":   {answer(404, func(context.Context) io.Reader { return endless{} }), never, "", ""},
		"without end":        {answer(200, func(context.Context) io.Reader { return endless{} }), never, "", "larger than"},
		"empty":              {answer(200, text("")), never, "", ""},
		"redirected in a circle": {func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			return answer(307, text(""), "Location", req.URL.String())(req, next)
		}, never, "", "redirect"},
		"redirected away": {func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
			return answer(307, text(""), "Location", "http://127.0.0.1:1/gone/"+req.URL.Path)(req, next)
		}, never, "", "127.0.0.1:1"},
		"redirected to a file": {answer(307, text(""), "Location", "file:///etc/passwd"), never, "", ""},
		"refused": {func(*http.Request, http.RoundTripper) (*http.Response, error) {
			return nil, errors.New("connection refused")
		}, never, "", "connection refused"},
		"cut":     {changed(half(func(context.Context) io.Reader { return failing{io.ErrUnexpectedEOF} })), once, "configuration layer", ""},
		"reset":   {changed(half(func(context.Context) io.Reader { return failing{errors.New("connection reset by peer")} })), once, "configuration layer", "reset"},
		"stalled": {changed(half(func(ctx context.Context) io.Reader { return silent{ctx} })), once, "configuration layer", "no data came for 50ms"},
		"wrong byte": {changed(func(_ context.Context, body []byte) io.Reader {
			body = bytes.Clone(body)
			body[4] ^= 1
			return bytes.NewReader(body)
		}), never, "", ""},
		"longer": {changed(func(_ context.Context, body []byte) io.Reader {
			return io.MultiReader(bytes.NewReader(body), strings.NewReader("x"))
		}), never, "", ""},
	} {
		for object, of := range objects {
			scan := func(times int64) (*facts.Image, error) {
				f := &faulty{of: of, times: times, fault: tt.fault}
				set, err := source.Open(t.Context(), host+"/team/app:1", source.Options{
					PlainHTTP: true, Transport: f, Backoff: time.Millisecond, Stall: 50 * time.Millisecond,
				})
				if err != nil {
					return nil, err
				}
				return Image(t.Context(), set.Images[0], Options{})
			}
			t.Run(name+", "+object, func(t *testing.T) {
				t.Parallel()
				found, err := scan(0)
				var le *LayerError
				var se *source.Error
				hint := ""
				switch {
				case errors.As(err, &le):
					hint = le.Hint()
				case errors.As(err, &se):
					hint = se.Hint
				}
				if found != nil || err == nil || hint == "" {
					t.Fatalf("%+v, %v (hint %q)", found, err, hint)
				}
				if msg := err.Error(); !strings.Contains(msg, tt.want) || strings.Count(msg, host+"/team/app:1") != 1 || !strings.Contains(msg, object[:5]) && object != "configuration" {
					t.Errorf("%v (hint %q)", err, hint)
				}
				if tt.passes == never || tt.of != "" && !strings.Contains(tt.of, object) {
					return
				}
				if found, err := scan(tt.passes); err != nil || !found.Verified || len(found.DriverFiles) != 2 {
					t.Errorf("after %d times: %+v, %v", tt.passes, found, err)
				}
			})
		}
	}
}
