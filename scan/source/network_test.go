package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/gpulint/gpulint/internal/testimage"
)

// pushed is an image in a registry of the test's own, whose answers fault may
// replace.
func pushed(t *testing.T, b testimage.Built, fault func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	host := startRegistry(t, fault)
	if err := b.Push(t.Context(), host, "team/app", "1"); err != nil {
		t.Fatal(err)
	}
	return host
}

// isError holds that an error names the image, says why, and what to do.
func isError(t *testing.T, err error, ref, want string) {
	t.Helper()
	var e *Error
	switch {
	case !errors.As(err, &e):
		t.Errorf("%v", err)
	case !strings.HasPrefix(err.Error(), ref), !strings.Contains(err.Error(), want), e.Hint == "", e.Usage, strings.ContainsAny(err.Error(), "\n\x1b"):
		t.Errorf("%v (hint %q), want %s", err, e.Hint, want)
	}
}

// TestLocalhost holds that localhost with a port is a host.
func TestLocalhost(t *testing.T) {
	t.Parallel()
	host := strings.Replace(pushed(t, small(testimage.Gzip).Build(), nil), "127.0.0.1", "localhost", 1)
	s, err := Open(t.Context(), host+"/team/app:1", Options{Transport: http.DefaultTransport})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Images[0].Name; got != host+"/team/app" {
		t.Errorf("the name is %s", got)
	}
}

// TestNotThere holds that a registry without the image says what is missing.
func TestNotThere(t *testing.T) {
	t.Parallel()
	host := pushed(t, small(testimage.Gzip).Build(), nil)
	digest := "sha256:" + strings.Repeat("0", 64)
	for ref, want := range map[string]string{
		host + "/team/app:2":         "the registry has no 2 in team/app",
		host + "/team/app":           "the registry has no latest in team/app",
		host + "/team/app@" + digest: "the registry has no " + digest + " in team/app",
		host + "/team/other:1":       "the registry has no repository team/other",
	} {
		_, err := Open(t.Context(), ref, plainHTTP())
		isError(t, err, ref, want)
	}
}

// TestRedirectedLayer holds that a layer may lie with another host, under a
// path of its own, and be large.
func TestRedirectedLayer(t *testing.T) {
	t.Parallel()
	img := small(testimage.Plain)
	img.Layers[2].Files = []testimage.File{testimage.Reg("app", make([]byte, 2*maxManifest))}
	b := img.Build()
	cdn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "/bucket/a1b2", http.StatusFound)
			return
		}
		_, _ = w.Write(b.Layers[1].Data) //nolint:errcheck // the client sees it
	}))
	t.Cleanup(cdn.Close)
	host := pushed(t, b, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, b.Layers[1].Digest) {
			return false
		}
		http.Redirect(w, r, cdn.URL+"/elsewhere", http.StatusTemporaryRedirect)
		return true
	})
	s, err := Open(t.Context(), host+"/team/app:1", plainHTTP())
	if err != nil {
		t.Fatal(err)
	}
	if got := summarize(t, s.Images[0]).Content[1]; got != b.Layers[1].Digest {
		t.Errorf("%s, want %s", got, b.Layers[1].Digest)
	}
}

// TestBadLayers holds that a layer which does not come whole is an error with a
// hint. Its digest is compared by who reads it.
func TestBadLayers(t *testing.T) {
	t.Parallel()
	b := small(testimage.Gzip).Build()
	layer := b.Layers[1]
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"cut off": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", itoa(layer.Size))
			_, _ = w.Write(layer.Data[:9]) //nolint:errcheck // the client sees it
		}, "the connection was cut"},
		"endless": {func(w http.ResponseWriter) {
			for chunk := make([]byte, 1<<16); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "larger than the manifest says"},
		"not found": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, "the registry has no blob " + layer.Digest},
		"forbidden": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, "wants credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := pushed(t, b, func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, layer.Digest) {
					return false
				}
				tt.answer(w)
				return true
			})
			ref := host + "/team/app:1"
			s, err := Open(t.Context(), ref, plainHTTP())
			if err != nil {
				t.Fatal(err)
			}
			blob, err := s.Images[0].Layers[1].Open(t.Context())
			if err == nil {
				_, err = io.Copy(io.Discard, blob)
				_ = blob.Close() // read only
			}
			isError(t, err, ref, tt.want)
		})
	}
}

// TestCancelledLayer holds that a layer which does not come on ends with the
// context.
func TestCancelledLayer(t *testing.T) {
	t.Parallel()
	b := small(testimage.Gzip).Build()
	host := pushed(t, b, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, b.Layers[1].Digest) {
			return false
		}
		_, _ = w.Write(b.Layers[1].Data[:20]) //nolint:errcheck // the client sees it
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		return true
	})
	why := errors.New("out of time")
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := Open(ctx, host+"/team/app:1", plainHTTP())
	if err != nil {
		t.Fatal(err)
	}
	blob, err := s.Images[0].Layers[1].Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err = io.Copy(io.Discard, blob); !errors.Is(err, context.Canceled) && !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	_ = blob.Close() // read only
}

// TestCancelledManifest holds that the context's cause is told while an image
// is opened, as it is.
func TestCancelledManifest(t *testing.T) {
	t.Parallel()
	b := small(testimage.Gzip).Build()
	why := errors.New("out of time")
	for _, at := range []string{"/manifests/", b.Config.Digest} {
		ctx, cancel := context.WithCancelCause(t.Context())
		host := pushed(t, b, func(_ http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, at) {
				return false
			}
			cancel(why)
			<-r.Context().Done()
			return true
		})
		if _, err := Open(ctx, host+"/team/app:1", plainHTTP()); err != why {
			t.Errorf("%s: %v", at, err)
		}
		cancel(nil)
	}
}

// keys are credentials for every registry.
type keys struct{}

// Resolve implements authn.Keychain.
func (keys) Resolve(authn.Resource) (authn.Authenticator, error) {
	return &authn.Basic{Username: "user", Password: "s3cret"}, nil
}

// TestRejectedCredentials holds that credentials which are not accepted are
// told from none, and never shown.
func TestRejectedCredentials(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		host := startRegistry(t, func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(code)
			return true
		})
		o := plainHTTP()
		o.Keychain = keys{}
		_, err := Open(t.Context(), host+"/team/app:1", o)
		isError(t, err, host+"/team/app:1", host+" does not accept the credentials of docker's configuration")
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}

// TestForeignLayer holds that a layer which is not distributed with the image
// is told by its media type, where the blob is not at hand.
func TestForeignLayer(t *testing.T) {
	t.Parallel()
	for _, mt := range []string{"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip"} {
		b := small(testimage.Gzip).Build()
		b = withManifest(b, strings.Replace(string(b.Manifest.Data), testimage.TypeLayer+"+gzip", mt, 1))
		s, err := Open(t.Context(), pushed(t, b, nil)+"/team/app:1", plainHTTP())
		if err != nil {
			t.Fatal(err)
		}
		if l := s.Images[0].Layers; !l[0].Foreign || l[1].Foreign {
			t.Errorf("%s: %v", mt, l)
		}
		for foreign, files := range map[bool][]testimage.File{false: testimage.Layout(b), true: testimage.Without(testimage.Layout(b), blobName(b.Layers[0]))} {
			s, err := openInput(t, write(t, testimage.Tar(files...)), Options{})
			if err != nil || s.Images[0].Layers[0].Foreign != foreign {
				t.Errorf("%s: foreign is not %t: %v", mt, foreign, err)
			}
		}
	}
}
