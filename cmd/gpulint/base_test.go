package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// TestBase holds where the base image is learned from: --base, or a label that
// names one of the same registry. A label has no other host asked.
func TestBase(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	h := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	home := httptest.NewServer(h)
	t.Cleanup(home.Close)
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(foreign.Close)
	host, other := strings.TrimPrefix(home.URL, "http://"), strings.TrimPrefix(foreign.URL, "http://")
	layer := func(by, file string) testimage.Layer {
		return testimage.Layer{CreatedBy: by, Files: []testimage.File{testimage.Text(file, file)}}
	}
	lib := testimage.Layer{CreatedBy: "RUN apt-get install -y libcuda1", Files: []testimage.File{
		testimage.Reg("usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08", testimage.DriverLibrary("libcuda.so.1", "535.161.08")),
	}}
	base := testimage.Image{Ref: "acme/base:1", Layers: []testimage.Layer{layer("ADD", "a"), lib}}.Build()
	push := func(tag string, b testimage.Built) string {
		if err := b.Push(t.Context(), host, "acme/"+tag, "1"); err != nil {
			t.Fatal(err)
		}
		return host + "/acme/" + tag + ":1"
	}
	baseRef := push("base", base)
	baseFile := filepath.Join(t.TempDir(), "base.tar")
	if err := os.WriteFile(baseFile, base.DockerArchive(), 0o600); err != nil {
		t.Fatal(err)
	}
	app := func(labels, annotations map[string]string) testimage.Built {
		return testimage.Image{
			Ref: "acme/app:1", Labels: labels, Annotations: annotations,
			Layers: []testimage.Layer{layer("ADD", "a"), lib, layer("COPY", "app")},
		}.Build()
	}
	const nameKey, digestKey = "org.opencontainers.image.base.name", "org.opencontainers.image.base.digest"
	for _, tt := range []struct {
		name, ref string
		args      []string
		status    int
		want      string
	}{
		{"plain", push("plain", app(nil, nil)), nil, 1, "nothing"},
		{"reference", host + "/acme/plain:1", []string{"--base", baseRef}, 1, baseRef + " reference 2"},
		{"file", host + "/acme/plain:1", []string{"--base", baseFile}, 1, baseFile + " reference 2"},
		{"missing", host + "/acme/plain:1", []string{"--base", host + "/acme/none:1"}, 3, "nothing"},
		{"label", push("label", app(map[string]string{nameKey: baseRef}, nil)), nil, 1, baseRef + " label 2"},
		{"annotation", push("note", app(nil, map[string]string{nameKey: baseRef, digestKey: base.Manifest.Digest})), nil, 1, baseRef + " label 2"},
		{"label of another registry", push("foreign", app(map[string]string{nameKey: other + "/acme/base:1"}, nil)), nil, 1, other + "/acme/base:1  0"},
		{"label of nothing", push("gone", app(map[string]string{nameKey: host + "/acme/none:1"}, nil)), nil, 1, host + "/acme/none:1  0"},
		{"hostile label", push("hostile", app(map[string]string{nameKey: "../../\x00@sha256:", digestKey: strings.Repeat("x", 5000)}, nil)), nil, 1, "../../\x00@sha256:  0"},
	} {
		args := append([]string{"image", "-f", "json", "--plain-http", tt.ref}, tt.args...)
		status, out, errw := gpulint(t, args...)
		var r facts.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Subjects) != 1 {
			t.Fatalf("%s: %v\n%s%s", tt.name, err, out, errw)
		}
		got := "nothing"
		if b := r.Subjects[0].Base; b != nil {
			got = fmt.Sprintf("%s %s %d", b.Name, b.How, b.Layers)
		}
		if status != tt.status || got != tt.want {
			t.Errorf("%s: status %d, %q; want %d, %q\n%s", tt.name, status, got, tt.status, tt.want, errw)
		}
		l := r.Findings[0].Evidence[0].Layer
		known := strings.HasSuffix(tt.want, " 2")
		if (l.Origin == facts.OriginBase) != known || strings.HasPrefix(r.Findings[0].Fix, "the base image brings it") != known {
			t.Errorf("%s: origin %q, fix %q", tt.name, l.Origin, r.Findings[0].Fix)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("a label had another registry asked %d times", n)
	}
}
