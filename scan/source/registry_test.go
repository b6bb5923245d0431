package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"github.com/gpulint/gpulint/internal/testimage"
)

// startRegistry serves a registry of the test's own; fault, if not nil, may
// answer in its place.
func startRegistry(t *testing.T, fault func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	h := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault != nil && r.Method == http.MethodGet && fault(w, r) {
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// plainHTTP are options without ggcr's waiting between tries.
func plainHTTP() Options {
	return Options{PlainHTTP: true, Transport: http.DefaultTransport, Backoff: time.Millisecond}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	host := startRegistry(t, nil)
	for _, compression := range []string{testimage.Plain, testimage.Gzip, testimage.Zstd} {
		b := small(compression).Build()
		if err := b.Push(t.Context(), host, "team/app", compression); err != nil {
			t.Fatal(err)
		}
		for _, ref := range []string{host + "/team/app:" + compression, host + "/team/app@" + b.Manifest.Digest, host + "/team/app:" + compression + "@" + b.Manifest.Digest} {
			s, err := Open(t.Context(), ref, plainHTTP())
			if err != nil {
				t.Fatal(err)
			}
			stored := []string{b.Layers[0].Digest, b.Layers[1].Digest}
			want := summary{
				Kind: KindRegistry, Name: host + "/team/app", Platform: "linux/amd64",
				Digests: stored, DiffIDs: b.DiffIDs, CreatedBy: []string{"ADD rootfs.tar /", "COPY app /"}, Content: stored,
			}
			if diff := cmp.Diff(want, summarize(t, s.Images[0])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", ref, diff)
			}
			if s.Images[0].Digest != b.Manifest.Digest {
				t.Errorf("digest %s", s.Images[0].Digest)
			}
		}
	}
}

func TestRegistryIndex(t *testing.T) {
	t.Parallel()
	host := startRegistry(t, nil)
	amd := small(testimage.Gzip)
	arm := small(testimage.Gzip)
	arm.Platform = "linux/arm64"
	a, b := amd.Build(), arm.Build()
	if err := testimage.PushIndex(t.Context(), host, "team/app", "1", testimage.Index(b.Manifest, a.Manifest), a, b); err != nil {
		t.Fatal(err)
	}
	o := plainHTTP()
	o.AllPlatforms = true
	for _, tt := range []struct {
		o    Options
		want string
	}{{plainHTTP(), "linux/amd64"}, {o, "linux/arm64 linux/amd64"}} {
		s, err := Open(t.Context(), host+"/team/app:1", tt.o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, img := range s.Images {
			got = append(got, img.Platform)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v, want %s", got, tt.want)
		}
	}
}

// TestRegistryFaults holds that each answer of a registry is explained.
func TestRegistryFaults(t *testing.T) {
	t.Parallel()
	b := small(testimage.Gzip).Build()
	status := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/manifests/") {
				return false
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body) //nolint:errcheck // the client sees it
			return true
		}
	}
	blob := func(w http.ResponseWriter, r *http.Request, data []byte) bool {
		if !strings.Contains(r.URL.Path, "/blobs/"+b.Config.Digest) {
			return false
		}
		_, _ = w.Write(data) //nolint:errcheck // the client sees it
		return true
	}
	for name, tt := range map[string]struct {
		fault func(http.ResponseWriter, *http.Request) bool
		want  string
		hint  string
	}{
		"unauthorized":  {status(401, ""), "wants credentials, and docker's configuration has none", "docker login"},
		"forbidden":     {status(403, ""), "wants credentials", "docker login"},
		"tag unknown":   {status(404, `{"errors":[{"code":"MANIFEST_UNKNOWN"}]}`), "the registry has no 1 in team/app", "tag"},
		"repository":    {status(404, `{"errors":[{"code":"NAME_UNKNOWN"}]}`), "the registry has no repository team/app", "name"},
		"many requests": {status(429, ""), "limits the number of requests (429)", "docker login"},
		"out of order":  {status(503, "x"), "out of order (503 Service Unavailable)", "later"},
		"teapot":        {status(418, "x"), "answered 418", ""},
		"html":          {status(200, "<html>"), "manifest", ""},
		"huge manifest": {status(200, strings.Repeat(" ", 5<<20)), "larger than", ""},
		"wrong config": {func(w http.ResponseWriter, r *http.Request) bool {
			return blob(w, r, bytes.Repeat([]byte("x"), len(b.Config.Data)))
		}, "configuration", ""},
		"cut config": {func(w http.ResponseWriter, r *http.Request) bool { return blob(w, r, b.Config.Data[:10]) }, "configuration", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := startRegistry(t, tt.fault)
			if err := b.Push(t.Context(), host, "team/app", "1"); err != nil {
				t.Fatal(err)
			}
			ref := host + "/team/app:1"
			_, err := Open(t.Context(), ref, plainHTTP())
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), ref) || !strings.Contains(e.Hint, tt.hint) || e.Hint == "" || e.Usage {
				t.Errorf("%v (%+v)", err, e)
			}
		})
	}
}

func TestNoRegistry(t *testing.T) {
	t.Parallel()
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	host := startRegistry(t, nil)
	for _, tt := range []struct {
		ref  string
		o    Options
		want string
		hint string
	}{
		{"127.0.0.1:1/a/b:c", plainHTTP(), "no connection to 127.0.0.1:1", "check that the registry runs"},
		{"registry.invalid/a/b:c", plainHTTP(), "", ""},
		{strings.TrimPrefix(tls.URL, "https://") + "/a:b", Options{}, "certificate", "--ca-file"},
		{strings.Replace(host, "127.0.0.1", "registry.localhost", 1) + "/a:b", Options{}, "", ""},
	} {
		_, err := Open(t.Context(), tt.ref, tt.o)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: %v (%+v)", tt.ref, err, e)
		}
	}
}

func TestBadReferences(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"", "UPPER/case", "a b", "https://x/y", "a@sha256:12", strings.Repeat("a", 300), "a:" + strings.Repeat("b", 200), "\x1b[31m"} {
		_, err := Open(t.Context(), ref, Options{})
		var e *Error
		if !errors.As(err, &e) || !e.Usage || e.Hint == "" {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err := Open(t.Context(), "a", Options{CAFile: "missing.pem"}); err == nil || Hint(err) == "" || !strings.Contains(fmt.Sprint(err), "missing.pem") {
		t.Errorf("%v", err)
	}
}
