package scan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// origin writes what a scan says of the base image.
func origin(t *testing.T, img *source.Image, o Options) string {
	t.Helper()
	f, err := Image(t.Context(), img, o)
	if err != nil {
		t.Fatal(err)
	}
	if f.Base == nil {
		return "nothing"
	}
	var layers []string
	for _, l := range f.Layers {
		layers = append(layers, l.Origin)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %d: %s", f.Base.Name, f.Base.How, f.Base.Layers, strings.Join(layers, " ")))
}

// stack is an image of layers that are told by one word of history each; a
// word with a minus made no layer.
func stack(words string) testimage.Image {
	img := testimage.Image{Ref: "example.com/app:1"}
	for _, w := range strings.Fields(words) {
		by, empty := strings.CutPrefix(w, "-")
		by = strings.ReplaceAll(by, "_", " ")
		img.Layers = append(img.Layers, testimage.Layer{CreatedBy: by, NoBlob: empty, Files: []testimage.File{testimage.Text(w, w)}})
	}
	return img
}

func TestGuessBase(t *testing.T) {
	t.Parallel()
	const nop = "/bin/sh_-c_#(nop)__CMD_[\"bash\"]"
	for name, tt := range map[string]struct{ history, want string }{
		"the base's CMD":           {"ADD -CMD_bash RUN COPY -CMD_app", "heuristic 1: base image image"},
		"the classic builder's":    {"ADD -" + nop + " RUN", "heuristic 1: base image"},
		"of several bases the top": {"ADD -CMD_bash RUN -CMD_python3 -ENTRYPOINT COPY -CMD_app", "heuristic 2: base base image"},
		"no CMD but the last":      {"ADD RUN -CMD_app", "nothing"},
		"no CMD":                   {"ADD RUN", "nothing"},
		"a RUN of CMD":             {"ADD RUN_CMD RUN", "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := origin(t, open(t, stack(tt.history).Build().OCIArchive(), source.Options{}), Options{}); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestBaseShared holds that layers are the base's by what was read, and not by
// what a configuration claims.
func TestBaseShared(t *testing.T) {
	t.Parallel()
	base := stack("ADD RUN_a -CMD_bash")
	of := func(b testimage.Built, how string) *Base {
		return &Base{Image: open(t, b.OCIArchive(), source.Options{}), How: how}
	}
	gz := base
	gz.Compression = testimage.Gzip
	for name, tt := range map[string]struct {
		img  []byte
		base *Base
		want string
	}{
		"by digest":             {stack("ADD RUN_a COPY").Build().OCIArchive(), of(base.Build(), facts.BaseReference), "reference 2: base base image"},
		"compressed otherwise":  {stack("ADD RUN_a COPY").Build().OCIArchive(), of(gz.Build(), facts.BaseReference), "reference 2: base base image"},
		"by diff ID":            {stack("ADD RUN_a COPY").Build().DockerArchive(), of(gz.Build(), facts.BaseReference), "reference 2: base base image"},
		"a part":                {stack("ADD RUN_b COPY").Build().OCIArchive(), of(base.Build(), facts.BaseReference), "reference 1: base image image"},
		"nothing in common":     {stack("X RUN_b COPY").Build().OCIArchive(), of(base.Build(), facts.BaseReference), "reference 0: image image image"},
		"a label of no use":     {stack("X RUN_b COPY").Build().OCIArchive(), of(base.Build(), facts.BaseLabel), "nothing"},
		"the reference decides": {stack("ADD -CMD_sh RUN_a COPY").Build().OCIArchive(), of(base.Build(), facts.BaseReference), "reference 2: base base image"},
		"the image itself":      {base.Build().OCIArchive(), of(base.Build(), facts.BaseReference), "reference 2: base base"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := origin(t, open(t, tt.img, source.Options{}), Options{Base: tt.base})
			if tt.base.How == facts.BaseReference {
				_, got, _ = strings.Cut(got, " ")
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestBaseForged holds that a configuration which claims the diff IDs of a base
// for other layers is found out.
func TestBaseForged(t *testing.T) {
	t.Parallel()
	base, evil := stack("ADD RUN_a").Build(), stack("ADD RUN_evil").Build()
	config := testimage.NewBlob(testimage.TypeConfig, []byte(strings.ReplaceAll(string(evil.Config.Data), evil.DiffIDs[1], base.DiffIDs[1])))
	manifest := testimage.NewBlob(testimage.TypeManifest, []byte(strings.ReplaceAll(string(evil.Manifest.Data), evil.Config.Digest, config.Digest)))
	manifest.Platform = evil.Manifest.Platform
	data := testimage.Tar(testimage.LayoutOf(testimage.Index(manifest), append(evil.Layers, config, manifest)...)...)
	b := &Base{Image: open(t, base.OCIArchive(), source.Options{}), How: facts.BaseReference}
	f, err := Image(t.Context(), open(t, data, source.Options{}), Options{Base: b})
	if !errors.Is(err, layers.ErrDigest) {
		t.Errorf("%v, %+v", err, f)
	}
}
