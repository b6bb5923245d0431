package testimage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Layout is an OCI layout of images: the files by name, in order.
func Layout(images ...Built) []File {
	manifests := make([]Blob, 0, len(images))
	blobs := make([]Blob, 0, 3*len(images))
	for _, b := range images {
		manifests = append(manifests, b.Manifest)
		blobs = append(append(append(blobs, b.Layers...), b.Config), b.Manifest)
	}
	return LayoutOf(Index(manifests...), blobs...)
}

// NestedLayout is an OCI layout whose index.json names one image index of all
// images, as multi-platform builds write it.
func NestedLayout(images ...Built) []File {
	manifests := make([]Blob, 0, len(images))
	blobs := make([]Blob, 0, 3*len(images))
	for _, b := range images {
		manifests = append(manifests, b.Manifest)
		blobs = append(append(append(blobs, b.Layers...), b.Config), b.Manifest)
	}
	inner := Index(manifests...)
	return LayoutOf(Index(inner), append(blobs, inner)...)
}

// LayoutOf is an OCI layout of an index and blobs.
func LayoutOf(index Blob, blobs ...Blob) []File {
	files := []File{
		Dir("blobs"), Dir("blobs/sha256"),
		Text("oci-layout", `{"imageLayoutVersion":"1.0.0"}`), Reg("index.json", index.Data),
	}
	seen := map[string]bool{}
	for _, b := range blobs {
		if name := "blobs/sha256/" + strings.TrimPrefix(b.Digest, "sha256:"); !seen[name] {
			seen[name] = true
			files = append(files, Reg(name, b.Data))
		}
	}
	return files
}

// OCIArchive is an OCI layout as a tar.
func (b Built) OCIArchive() []byte { return Tar(Layout(b)...) }

type dockerManifest struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func (b Built) tags() []string {
	if b.Image.Ref == "" {
		return nil
	}
	return []string{b.Image.Ref}
}

// DockerArchive is what docker save wrote before version 25: a directory for
// each layer; a layer that occurs again is a link to the first.
func (b Built) DockerArchive() []byte {
	m := dockerManifest{Config: strings.TrimPrefix(b.Config.Digest, "sha256:") + ".json", RepoTags: b.tags()}
	files := []File{Reg(m.Config, b.Config.Data)}
	first := map[string]string{}
	for i, t := range b.Tars {
		dir := Hex([]byte(b.DiffIDs[i] + strings.Repeat("+", i)))
		name := dir + "/layer.tar"
		m.Layers = append(m.Layers, name)
		files = append(files, Dir(dir), Text(dir+"/VERSION", "1.0"))
		if prior, ok := first[b.DiffIDs[i]]; ok {
			files = append(files, Symlink(name, "../"+prior))
			continue
		}
		first[b.DiffIDs[i]] = name
		files = append(files, Reg(name, t))
	}
	return Tar(append(files, Reg("manifest.json", jsonOf([]dockerManifest{m})))...)
}

// DockerArchive25 is what docker save writes since version 25: an OCI layout
// with a manifest.json beside it.
func (b Built) DockerArchive25() []byte {
	name := func(digest string) string { return "blobs/sha256/" + strings.TrimPrefix(digest, "sha256:") }
	m := dockerManifest{Config: name(b.Config.Digest), RepoTags: b.tags()}
	for _, l := range b.Layers {
		m.Layers = append(m.Layers, name(l.Digest))
	}
	return Tar(append(Layout(b), Reg("manifest.json", jsonOf([]dockerManifest{m})))...)
}

// WriteDir writes files into a directory.
func WriteDir(dir string, files []File) error {
	for _, f := range files {
		p := filepath.Join(dir, filepath.FromSlash(f.Name))
		if strings.HasSuffix(f.Name, "/") {
			if err := os.MkdirAll(p, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Without leaves out the files of a name, to break an archive.
func Without(files []File, name string) []File {
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool { return f.Name == name })
}
