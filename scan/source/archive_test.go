package source

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/internal/testimage"
)

// retar writes a tar of files after each header was changed.
func retar(t *testing.T, files []testimage.File, change func(*tar.Header)) []byte {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Mode: f.Mode, Typeflag: f.Type, Linkname: f.Link, Size: int64(len(f.Data))}
		change(h)
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// dockerFiles are a docker archive whose files have these names.
func dockerFiles(b testimage.Built, config string, layers ...string) []testimage.File {
	m := `[{"Config":"` + config + `","RepoTags":["team/app:1"],"Layers":["` + strings.Join(layers, `","`) + `"]}]`
	files := []testimage.File{testimage.Text("manifest.json", m), testimage.Reg(config, b.Config.Data)}
	for i, name := range layers {
		files = append(files, testimage.Reg(name, b.Tars[i]))
	}
	return files
}

// TestTarDialects holds that every dialect of tar is read, with names of every
// length.
func TestTarDialects(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	long := strings.Repeat("directory/", 30) + "layer.tar"
	for name, tt := range map[string]struct {
		files  []testimage.File
		change func(*tar.Header)
	}{
		"ustar":         {dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar"), func(h *tar.Header) { h.Format = tar.FormatUSTAR }},
		"GNU":           {dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar"), func(h *tar.Header) { h.Format = tar.FormatGNU }},
		"PAX":           {dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar"), func(h *tar.Header) { h.Format = tar.FormatPAX }},
		"GNU long name": {dockerFiles(b, long+".json", long, "b/layer.tar"), func(h *tar.Header) { h.Format = tar.FormatGNU }},
		"PAX long name": {dockerFiles(b, long+".json", long, "b/layer.tar"), func(h *tar.Header) { h.Format = tar.FormatPAX }},
		"PAX records": {dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar"), func(h *tar.Header) {
			h.Format, h.PAXRecords = tar.FormatPAX, map[string]string{"SCHILY.xattr.user.x": "y", "comment": strings.Repeat("c", 2000)}
		}},
		"from the root":    {dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar"), func(h *tar.Header) { h.Name = "/" + h.Name }},
		"from here":        {dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar"), func(h *tar.Header) { h.Name = "./" + h.Name }},
		"named from here":  {dockerFiles(b, "./c.json", "./a/layer.tar", "./b/layer.tar"), func(h *tar.Header) { h.Name = clean(h.Name) }},
		"later file wins":  {append([]testimage.File{testimage.Text("manifest.json", "{"), testimage.Symlink("c.json", "nowhere")}, dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar")...), func(*tar.Header) {}},
		"absolute symlink": {linked(b, testimage.Symlink("b/layer.tar", "/real/layer.tar")), func(*tar.Header) {}},
		"symlink":          {linked(b, testimage.Symlink("b/layer.tar", "../real/layer.tar")), func(*tar.Header) {}},
		"hard link":        {linked(b, testimage.Hardlink("b/layer.tar", "real/layer.tar")), func(*tar.Header) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := openInput(t, write(t, retar(t, tt.files, tt.change)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := summarize(t, s.Images[0])
			if !slices.Equal(got.Content, b.DiffIDs) || got.Name != "team/app" || s.Images[0].ConfigDigest != b.Config.Digest {
				t.Errorf("%+v", got)
			}
		})
	}
}

// linked is a docker archive whose second layer is a link to real/layer.tar.
func linked(b testimage.Built, link testimage.File) []testimage.File {
	files := dockerFiles(b, "c.json", "a/layer.tar", "b/layer.tar")
	files[3] = testimage.Reg("real/layer.tar", b.Tars[1])
	return append(files, link)
}

// TestRepeatedLayer holds that a layer which occurs again is read again: old
// archives link to the first, the others name one blob twice.
func TestRepeatedLayer(t *testing.T) {
	t.Parallel()
	img := small(testimage.Plain)
	img.Layers = append(img.Layers, img.Layers[2])
	b := img.Build()
	for form, data := range map[string][]byte{"docker": b.DockerArchive(), "docker 25": b.DockerArchive25(), "oci": b.OCIArchive()} {
		s, err := openInput(t, write(t, data), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := summarize(t, s.Images[0]); !slices.Equal(got.Content, b.DiffIDs) || len(got.Content) != 3 {
			t.Errorf("%s: %v", form, got.Content)
		}
	}
}

// TestLinksNowhere holds that links which lead to nothing, in circles, or out
// of the archive are errors.
func TestLinksNowhere(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	out := filepath.Join(t.TempDir(), "layer.tar")
	if err := os.WriteFile(out, b.Tars[1], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]testimage.File{
		"nowhere": testimage.Symlink("b/layer.tar", "../nothing"),
		"circle":  testimage.Symlink("b/layer.tar", "layer.tar"),
		"outside": testimage.Symlink("b/layer.tar", out),
		"up":      testimage.Symlink("b/layer.tar", strings.Repeat("../", 40)+out),
		"dir":     testimage.Dir("b/layer.tar"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openInput(t, write(t, testimage.Tar(linked(b, link)...)), Options{})
			var e *Error
			if !errors.As(err, &e) || e.Op != "looking for layer 1" || e.Hint != "save the image again" || !strings.HasSuffix(err.Error(), `"b/layer.tar" is missing in the archive`) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestSeveralImages holds that each image of an archive is opened, and told
// from the others by its name.
func TestSeveralImages(t *testing.T) {
	t.Parallel()
	of := func(ref string) testimage.Built {
		img := small(testimage.Plain)
		img.Ref = ref
		img.Layers = append(img.Layers, testimage.Layer{CreatedBy: ref})
		return img.Build()
	}
	a, c := of("one:1"), of("two:1")
	layer := func(b testimage.Built) string {
		return `{"Config":"` + b.Image.Ref + `","RepoTags":["` + b.Image.Ref + `"],"Layers":["a","b","e"]}`
	}
	docker := testimage.Tar(
		testimage.Text("manifest.json", "["+layer(a)+","+strings.Replace(layer(c), `["two:1"]`, "null", 1)+"]"),
		testimage.Reg("one:1", a.Config.Data), testimage.Reg("two:1", c.Config.Data),
		testimage.Reg("a", a.Tars[0]), testimage.Reg("b", a.Tars[1]), testimage.Reg("e", a.Tars[2]),
	)
	for form, tt := range map[string]struct {
		data  []byte
		names string
		refs  []string
	}{
		"oci":    {testimage.Tar(testimage.Layout(a, c)...), "one two", []string{"#one:1", "#two:1"}},
		"docker": {docker, "one ", []string{"#one:1", "#" + c.Config.Digest}},
	} {
		input := write(t, tt.data)
		s, err := openInput(t, input, Options{})
		if err != nil || len(s.Images) != 2 {
			t.Fatalf("%s: %v, %v", form, s, err)
		}
		names := []string{}
		for i, img := range s.Images {
			names = append(names, img.Name)
			if img.Ref != input+tt.refs[i] {
				t.Errorf("%s: %s", form, img.Ref)
			}
		}
		if strings.Join(names, " ") != tt.names {
			t.Errorf("%s: %q", form, names)
		}
	}
}

// TestAnnotatedNames holds which annotation names an image.
func TestAnnotatedNames(t *testing.T) {
	t.Parallel()
	for want, notes := range map[string]map[string]string{
		"":              {"org.opencontainers.image.ref.name": "1.2"},
		"a/b":           {"org.opencontainers.image.ref.name": "a/b:1.2"},
		"c":             {"org.opencontainers.image.ref.name": "c:1.2"},
		"docker.io/d":   {"org.opencontainers.image.ref.name": "1.2", "io.containerd.image.name": "docker.io/d:1.2"},
		"localhost:1/e": {"org.opencontainers.image.ref.name": "x/y:1.2", "io.containerd.image.name": "localhost:1/e"},
	} {
		b := small(testimage.Plain).Build()
		b.Manifest.Notes = notes
		for _, files := range [][]testimage.File{testimage.Layout(b), testimage.NestedLayout(b)} {
			s, err := openInput(t, write(t, testimage.Tar(files...)), Options{})
			if err != nil || s.Images[0].Name != want {
				t.Errorf("%v: %v", notes, err)
			}
		}
	}
}

// TestNoHistory holds that an image without history has layers without
// instructions.
func TestNoHistory(t *testing.T) {
	t.Parallel()
	b := small(testimage.Plain).Build()
	for _, key := range []string{`"no_history":`, `"history":null,"no_history":`, `"history":[],"no_history":`} {
		b := withConfig(b, strings.Replace(string(b.Config.Data), `"history":`, key, 1))
		for _, data := range [][]byte{b.OCIArchive(), b.DockerArchive()} {
			s, err := openInput(t, write(t, data), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := summarize(t, s.Images[0]); !slices.Equal(got.CreatedBy, []string{"", ""}) {
				t.Errorf("%s: %q", key, got.CreatedBy)
			}
		}
	}
}
