package scan

import (
	"bytes"
	"context"
	"encoding/json"
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

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// remote opens an image in a registry of the test's own, whose answers to GET
// fault may replace.
func remote(ctx context.Context, t *testing.T, b testimage.Built, fault func(http.ResponseWriter, *http.Request) bool) *source.Image {
	t.Helper()
	h := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault == nil || r.Method != http.MethodGet || !fault(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	if err := b.Push(t.Context(), host, "team/app", "1"); err != nil {
		t.Fatal(err)
	}
	set, err := source.Open(ctx, host+"/team/app:1", source.Options{PlainHTTP: true, Transport: http.DefaultTransport, Backoff: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return set.Images[0]
}

// TestRemoteSameFacts holds that a registry gives the facts of the archive,
// and that all of it is verified.
func TestRemoteSameFacts(t *testing.T) {
	t.Parallel()
	for _, compression := range []string{testimage.Plain, testimage.Gzip, testimage.Zstd} {
		b := image(compression).Build()
		var want string
		for _, verify := range []bool{true, false} {
			file, err := Image(t.Context(), open(t, b.OCIArchive(), source.Options{}), Options{Verify: true})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Image(t.Context(), remote(t.Context(), t, b, nil), Options{Verify: verify})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Verified || got.Source != source.KindRegistry || !strings.HasSuffix(got.Name, "/team/app") {
				t.Errorf("verified %t, source %s, name %s", got.Verified, got.Source, got.Name)
			}
			got.Ref, got.Name, got.Source = file.Ref, file.Name, file.Source
			if want == "" {
				want = jsonOf(t, file)
			}
			if diff := cmp.Diff(want, jsonOf(t, got)); diff != "" {
				t.Errorf("%s, verify %t (-archive +registry):\n%s", compression, verify, diff)
			}
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRemoteLayerErrors holds that a layer which a registry spoils is named
// once, with what to do, and that its digest is compared.
func TestRemoteLayerErrors(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	layer := b.Layers[1]
	spoiled := bytes.Clone(layer.Data)
	spoiled[4]++ // the time in gzip's header: the content is the same
	size := fmt.Sprint(layer.Size)
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
		is     error
	}{
		"wrong byte": {func(w http.ResponseWriter) { _, _ = w.Write(spoiled) }, "wrong digest: the blob is " + testimage.Digest(spoiled), layers.ErrDigest},          //nolint:errcheck // the client sees it
		"shorter":    {func(w http.ResponseWriter) { _, _ = w.Write(layer.Data[:99]) }, "the blob is cut off, 99 of " + size, layers.ErrBroken},                      //nolint:errcheck // the client sees it
		"longer":     {func(w http.ResponseWriter) { _, _ = w.Write(append(bytes.Clone(layer.Data), 0)) }, "larger than the manifest says, " + size + " bytes", nil}, //nolint:errcheck // the client sees it
		"cut off": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", size)
			_, _ = w.Write(layer.Data[:99]) //nolint:errcheck // the client sees it
		}, "the connection was cut 5 times", io.ErrUnexpectedEOF},
		"not found": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, "the registry has no blob " + layer.Digest, nil},
		"HTML":      {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>log in first</html>") }, "the blob is cut off", nil}, //nolint:errcheck // the client sees it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			img := remote(t.Context(), t, b, func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, layer.Digest) {
					return false
				}
				tt.answer(w)
				return true
			})
			_, err := Image(t.Context(), img, Options{})
			var le *LayerError
			if !errors.As(err, &le) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("%v", err)
			}
			text := err.Error()
			if !strings.HasPrefix(text, img.Ref+": layer 1 ("+layer.Digest+"): ") || !strings.Contains(text, tt.want) || strings.Count(text, img.Ref) != 1 || le.Hint() == "" {
				t.Errorf("%v (hint %q)", err, le.Hint())
			}
		})
	}
}

// TestRemoteCancel holds that a layer which does not come on ends with the
// context, and tells its cause.
func TestRemoteCancel(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	why := errors.New("out of time")
	ctx, cancel := context.WithCancelCause(t.Context())
	img := remote(ctx, t, b, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, b.Layers[1].Digest) {
			return false
		}
		_, _ = w.Write(b.Layers[1].Data[:99]) //nolint:errcheck // the client sees it
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
		<-r.Context().Done()
		return true
	})
	if _, err := Image(ctx, img, Options{}); err != why {
		t.Errorf("%v", err)
	}
}

// TestRemoteForeignLayer holds that a layer which is not distributed with the
// image is not asked for, and that the facts say so.
func TestRemoteForeignLayer(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	m := strings.Replace(string(b.Manifest.Data), testimage.TypeLayer+"+gzip", "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", 1)
	b.Manifest = testimage.NewBlob(testimage.TypeManifest, []byte(m))
	img := remote(t.Context(), t, b, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, b.Layers[0].Digest) {
			t.Error("the foreign layer was asked for")
		}
		return false
	})
	found, err := Image(t.Context(), img, Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []facts.Incomplete{{Limit: "foreign-layer", Layer: 0, Count: 1, Hides: "all of the layer, which is not distributed with the image"}}
	if diff := cmp.Diff(want, found.Incomplete); diff != "" || found.Verified || !found.Layers[1].Verified || len(found.DriverFiles) != 2 {
		t.Errorf("verified %t (-want +got):\n%s", found.Verified, diff)
	}
}

// TestLayerHints holds that a layer which a file does not hold as the manifest
// says is named once, with what to do.
func TestLayerHints(t *testing.T) {
	t.Parallel()
	b := image(testimage.Gzip).Build()
	blob := "blobs/sha256/" + strings.TrimPrefix(b.Layers[1].Digest, "sha256:")
	size := strings.Replace(string(b.Manifest.Data), fmt.Sprintf(`"size":%d`, b.Layers[1].Size), `"size":7`, 1)
	other := b
	other.Manifest = testimage.NewBlob(testimage.TypeManifest, []byte(size))
	for want, files := range map[string][]testimage.File{
		"is missing in the archive":  testimage.Without(testimage.Layout(b), blob),
		"bytes, the manifest says 7": testimage.Layout(other),
		" is missing in the archive": append(testimage.Without(testimage.Layout(b), blob), testimage.Symlink(blob, "nowhere")),
		"is missing in the archive ": append(testimage.Without(testimage.Layout(b), blob), testimage.Dir(blob)),
	} {
		img := open(t, testimage.Tar(files...), source.Options{})
		_, err := Image(t.Context(), img, Options{})
		var le *LayerError
		if !errors.As(err, &le) || !strings.Contains(err.Error(), strings.TrimSpace(want)) || !strings.Contains(le.Hint(), "again") || strings.Count(err.Error(), img.Ref) != 1 {
			t.Errorf("%v", err)
		}
	}
}
