package source

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

// imageOf is an image of a name and platform; text makes it differ from others.
func imageOf(ref, platform, text string) testimage.Built {
	return testimage.Image{
		Ref: ref, Platform: platform, Layers: []testimage.Layer{{CreatedBy: "COPY " + text, Files: []testimage.File{testimage.Text("a", text)}}},
	}.Build()
}

// noted replaces the annotations of an image in its index, and says whether the
// platform stands there.
func noted(b testimage.Built, name string, platform bool) testimage.Built {
	b.Manifest.Notes = nil
	if name != "" {
		b.Manifest.Notes = map[string]string{"org.opencontainers.image.ref.name": name}
	}
	if !platform {
		b.Manifest.Platform = nil
	}
	return b
}

// tagged is the image's entry of a docker archive's manifest.json.
func tagged(b testimage.Built) string {
	e := strings.TrimSuffix(strings.TrimPrefix(docker25(b), "["), "]")
	return strings.Replace(e, `"RepoTags":null`, `"RepoTags":["other:9","`+b.Image.Ref+`"]`, 1)
}

// opened tells the images of a set: reference after the input, name, platform
// and what was copied.
func opened(s *Set, input string) string {
	out := make([]string, 0, len(s.Images))
	for _, img := range s.Images {
		copied := strings.TrimPrefix(img.Layers[0].CreatedBy, "COPY ")
		out = append(out, strings.Join([]string{strings.TrimPrefix(img.Ref, input), img.Name, img.Platform, copied}, "|"))
	}
	return strings.Join(out, " ")
}

// TestGroups holds that no image of an archive is left out, and that platforms
// of one image are not taken for images.
func TestGroups(t *testing.T) {
	t.Parallel()
	one, two := imageOf("app:1", "", "one"), imageOf("app:2", "", "two")
	arm := imageOf("app:1", "linux/arm64", "arm")
	again := imageOf("app:1", "", "again")
	inner := testimage.Index(one.Manifest, arm.Manifest)
	inner.Notes = map[string]string{"io.containerd.image.name": "app:1"}
	other := testimage.Index(two.Manifest)
	windows := testimage.Index(noted(imageOf("", "windows/amd64", "2019"), "", true).Manifest, noted(imageOf("", "windows/amd64", "2022"), "", true).Manifest)
	blobs := func(all ...testimage.Built) (out []testimage.Blob) {
		for _, b := range all {
			out = append(append(out, b.Manifest, b.Config), b.Layers...)
		}
		return out
	}
	copyOf := one
	copyOf.Manifest.Notes = map[string]string{"io.containerd.image.name": "mirror/app:1"}
	for name, tt := range map[string]struct {
		files []testimage.File
		o     Options
		want  string
	}{
		"two tags of one repository": {files: testimage.Layout(one, two), want: "#app:1|app|linux/amd64|one #app:2|app|linux/amd64|two"},
		"tags alone": {
			files: testimage.Layout(noted(one, "1", true), noted(two, "2", true)), want: "#1||linux/amd64|one #2||linux/amd64|two",
		},
		"two without a name": {
			files: testimage.Layout(noted(one, "", true), noted(two, "", true)),
			want:  "#" + one.Manifest.Digest + "||linux/amd64|one #" + two.Manifest.Digest + "||linux/amd64|two",
		},
		"a name given again": {
			files: testimage.Layout(one, again),
			want:  "#app:1|app|linux/amd64|one #app:1@" + again.Manifest.Digest + "|app|linux/amd64|again",
		},
		"platforms of one name":            {files: testimage.Layout(arm, one), want: "|app|linux/amd64|one"},
		"platforms of one name, all":       {files: testimage.Layout(arm, one), o: Options{AllPlatforms: true}, want: "|app|linux/arm64|arm |app|linux/amd64|one"},
		"platforms without a name":         {files: testimage.Layout(noted(arm, "", false), noted(one, "", false)), want: "||linux/amd64|one"},
		"platforms without a name, wanted": {files: testimage.Layout(noted(one, "", false), noted(arm, "", false)), o: Options{Platforms: []string{"linux/arm64"}}, want: "||linux/arm64|arm"},
		"one image under two names":        {files: testimage.Layout(one, copyOf), want: "|app|linux/amd64|one"},
		"two indexes": {
			files: testimage.LayoutOf(testimage.Index(inner, other), append(blobs(one, two, arm), inner, other)...),
			want:  "#app:1|app|linux/amd64|one #app:2|app|linux/amd64|two",
		},
		"an index and a manifest": {
			files: testimage.LayoutOf(testimage.Index(inner, two.Manifest), append(blobs(one, two, arm), inner)...),
			want:  "#app:1|app|linux/amd64|one #app:2|app|linux/amd64|two",
		},
		"an index that names two": {
			files: testimage.LayoutOf(testimage.Index(testimage.Index(one.Manifest, two.Manifest)), append(blobs(one, two), testimage.Index(one.Manifest, two.Manifest))...),
			want:  "#app:1|app|linux/amd64|one #app:2|app|linux/amd64|two",
		},
		"one platform twice in an index": {
			files: testimage.LayoutOf(testimage.Index(windows), append(blobs(imageOf("", "windows/amd64", "2019"), imageOf("", "windows/amd64", "2022")), windows)...),
			want:  "||windows/amd64|2019",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := write(t, testimage.Tar(tt.files...))
			s, err := openInput(t, input, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := opened(s, input); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestMissingIndex holds that an index which is named but not there is no
// reason to leave its image out in silence.
func TestMissingIndex(t *testing.T) {
	t.Parallel()
	one, two := imageOf("app:1", "", "one"), imageOf("app:2", "", "two")
	inner := testimage.Index(two.Manifest)
	input := write(t, testimage.Tar(testimage.LayoutOf(testimage.Index(one.Manifest, inner), one.Manifest, one.Config, one.Layers[0])...))
	_, err := openInput(t, input, Options{})
	isError(t, err, input, `is missing in the archive`)
}

// TestPick opens one image of several, in every form and as a stream.
func TestPick(t *testing.T) {
	t.Parallel()
	one, two := imageOf("docker.io/team/app:1", "", "one"), imageOf("web:2", "", "two")
	arm := imageOf("docker.io/team/app:1", "linux/arm64", "arm")
	inner := testimage.Index(one.Manifest, arm.Manifest)
	inner.Notes = map[string]string{"io.containerd.image.name": "docker.io/team/app:1"}
	files := testimage.LayoutOf(testimage.Index(inner, two.Manifest),
		inner, one.Manifest, one.Config, one.Layers[0], arm.Manifest, arm.Config, arm.Layers[0], two.Manifest, two.Config, two.Layers[0])
	files = append(files, testimage.Text("manifest.json", "["+tagged(one)+","+tagged(two)+"]"))
	dir := filepath.Join(t.TempDir(), "with:colon")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "a.tar")
	if err := os.WriteFile(archive, testimage.Tar(files...), 0o600); err != nil {
		t.Fatal(err)
	}
	layout := filepath.Join(t.TempDir(), "layout")
	if err := os.Mkdir(layout, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := testimage.WriteDir(layout, files); err != nil {
		t.Fatal(err)
	}
	has := `has no image "nope": it has "docker.io/team/app:1", "web:2"`
	hasDocker := `has no image "nope": it has "other:9", "other:9"`
	for name, tt := range map[string]struct{ input, copied, err string }{
		"all":               {"oci-archive:" + archive, "one two", ""},
		"name":              {"oci-archive:" + archive + ":web:2", "two", ""},
		"full name":         {"oci-archive:" + archive + ":docker.io/team/app:1", "one", ""},
		"short name":        {"oci-archive:" + archive + ":team/app:1", "one", ""},
		"tag":               {"oci:" + layout + ":2", "two", ""},
		"digest":            {"oci:" + layout + "@" + two.Manifest.Digest, "two", ""},
		"digest of index":   {"oci:" + layout + "@" + inner.Digest, "one", ""},
		"digest within":     {"oci:" + layout + "@" + arm.Manifest.Digest, "arm", ""},
		"not there":         {"oci:" + layout + ":nope", "", has},
		"not there, docker": {"docker-archive:" + archive + ":nope", "", hasDocker},
		"docker":            {"docker-archive:" + archive + ":web:2", "two", ""},
		"docker, index":     {"docker-archive:" + archive + ":@1", "two", ""},
		"docker, digest":    {"docker-archive:" + archive + "@" + one.Config.Digest, "one", ""},
		"docker, full name": {"docker-archive:" + archive + ":docker.io/team/app:1", "one", ""},
		"no such index":     {"docker-archive:" + archive + ":@2", "", `has no image "@2"`},
		"no such file":      {"oci:" + layout + "x:2", "", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(s *Set, err error) {
				t.Helper()
				if tt.err != "" {
					isError(t, err, tt.input, tt.err)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, img := range s.Images {
					got = append(got, strings.TrimPrefix(img.Layers[0].CreatedBy, "COPY "))
				}
				if strings.Join(got, " ") != tt.copied || tt.copied != "one two" && s.Images[0].Ref != tt.input {
					t.Errorf("%s: %v, want %s", s.Images[0].Ref, got, tt.copied)
				}
			}
			check(openInput(t, tt.input, Options{}))
			if strings.HasPrefix(tt.input, "oci:") {
				return
			}
			data, err := os.ReadFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			check(OpenStream(t.Context(), tt.input, bytes.NewReader(data), Options{}, func(context.Context, string, int64, io.Reader) error { return nil }))
		})
	}
}

// TestForm holds that a form which is named is the only one that is tried.
func TestForm(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	oci, docker, both := write(t, b.OCIArchive()), write(t, b.DockerArchive()), write(t, b.DockerArchive25())
	dir, root := t.TempDir(), t.TempDir()
	if err := testimage.WriteDir(dir, testimage.Layout(b)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"etc", "usr"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for input, want := range map[string]string{
		"oci-archive:" + both:      KindOCIArchive,
		"docker-archive:" + both:   KindDockerArchive,
		"rootfs:" + root:           KindRootfs,
		root:                       KindRootfs,
		"rootfs:" + dir:            KindRootfs,
		"oci-archive:" + docker:    "error: it is no OCI archive",
		"docker-archive:" + oci:    "error: it is no docker archive",
		"oci:" + oci:               "error: an OCI layout is a directory",
		"oci-archive:" + dir:       "error: an archive is a file",
		"docker-archive:" + dir:    "error: an archive is a file",
		"oci:" + root:              "error: the directory is no OCI layout",
		"rootfs:" + oci:            "error: a root file system is a directory",
		"oci-archive:" + dir + "x": "error: no such file",
	} {
		s, err := openInput(t, input, Options{})
		if text, ok := strings.CutPrefix(want, "error: "); ok {
			isError(t, err, input, text)
		} else if err != nil || s.Images[0].Kind != want {
			t.Errorf("%s: %+v, %v", input, s, err)
		}
	}
}

// TestStdin holds what is read from standard input.
func TestStdin(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{
		"-": true, "oci-archive:-": true, "docker-archive:-:app:1": true, "oci:-": false, "rootfs:-": false, "./-": false, "a": false,
	} {
		if Stdin(input) != want {
			t.Errorf("%s: %v", input, !want)
		}
	}
}
