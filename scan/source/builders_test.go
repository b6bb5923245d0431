package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

// TestBuilders opens docker archives named as the builders name their files,
// with layers plain and compressed.
func TestBuilders(t *testing.T) {
	t.Parallel()
	b := small(testimage.Gzip).Build()
	hex := func(digest string) string { return strings.TrimPrefix(digest, "sha256:") }
	archive := func(config string, layer func(i int) string, data func(i int) []byte, more ...testimage.File) []byte {
		files := slices.Clone(more)
		names := make([]string, 0, len(b.Layers))
		for i := range b.Layers {
			names = append(names, layer(i))
			files = append(files, testimage.Reg(layer(i), data(i)))
		}
		files = append(files, testimage.Reg(config, b.Config.Data), testimage.Text("manifest.json",
			`[{"Config":"`+config+`","RepoTags":["team/app:1"],"Layers":["`+strings.Join(names, `","`)+`"]}]`))
		return testimage.Tar(files...)
	}
	stored := func(i int) []byte { return b.Layers[i].Data }
	plain := func(i int) []byte { return b.Tars[i] }
	for name, tt := range map[string]struct {
		data []byte
		want []string
	}{
		"kaniko": {
			archive(b.Config.Digest, func(i int) string { return hex(b.Layers[i].Digest) + ".tar.gz" }, stored),
			[]string{b.Layers[0].Digest, b.Layers[1].Digest},
		},
		"Bazel, rules_docker": {
			archive(hex(b.Config.Digest)+".json", func(i int) string { return hex(b.DiffIDs[i]) + "/layer.tar" }, plain,
				testimage.Text("repositories", `{"team/app":{"1":"x"}}`)),
			b.DiffIDs,
		},
		"Bazel, rules_oci": {
			archive("blobs/sha256/"+hex(b.Config.Digest), func(i int) string { return "blobs/sha256/" + hex(b.Layers[i].Digest) + ".tar.gz" }, stored),
			[]string{b.Layers[0].Digest, b.Layers[1].Digest},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openInput(t, write(t, tt.data), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := summarize(t, s.Images[0]); got.Kind != KindDockerArchive || got.Name != "team/app" || !slices.Equal(got.Content, tt.want) {
				t.Errorf("%+v", got)
			}
			s, seen, err := stream(t, tt.data, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range s.Images[0].Layers {
				if seen[l.Key] != tt.want[i] {
					t.Errorf("layer %d of the stream is %s, want %s", i, seen[l.Key], tt.want[i])
				}
			}
		})
	}
}
