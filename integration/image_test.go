//go:build integration

package integration

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A layer is one step of a Dockerfile and the files it left.
type layer struct {
	createdBy string
	files     []tarFile
}

// base is the root that the images start from: what of Debian's matters to the
// dynamic linker and to dpkg.
func base() layer {
	return layer{"ADD rootfs.tar / # buildkit", []tarFile{
		symlink("lib", "usr/lib"),
		file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
		file("etc/ld.so.conf.d/libc.conf", "# libc default configuration\n/usr/local/lib\n"),
		file("etc/ld.so.conf.d/x86_64-linux-gnu.conf", "# Multiarch support\n/usr/local/lib/x86_64-linux-gnu\n/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n"),
		file("usr/bin/app", "#!/bin/sh\n"),
		file("var/lib/dpkg/status", baseFiles),
		file("var/lib/dpkg/info/base-files.list", "/.\n/etc\n/usr\n/usr/bin\n"),
	}}
}

// baseFiles is the record of a package that has nothing to do with GPUs.
const baseFiles = `Package: base-files
Essential: yes
Status: install ok installed
Priority: required
Section: admin
Installed-Size: 341
Maintainer: Santiago Vila <sanvila@debian.org>
Architecture: amd64
Multi-Arch: foreign
Version: 12.4+deb12u11
Description: Debian base system miscellaneous files
 This package contains the basic filesystem hierarchy of a Debian system.

`

// install is a layer that installs packages, as dpkg leaves it: the status file
// is written anew with what was installed before.
func install(before, debs []*deb, more ...tarFile) layer {
	var names []string
	var files []tarFile
	status := baseFiles
	for _, d := range before {
		status += d.record()
	}
	for _, d := range debs {
		names = append(names, d.name)
		files = append(files, d.files...)
		status += d.record()
		name, text := d.list()
		files = append(files, file(name, text))
	}
	files = append(files, file("var/lib/dpkg/status", status))
	return layer{"RUN /bin/sh -c apt-get install -y " + strings.Join(names, " ") + " # buildkit", append(files, more...)}
}

// alternatives are the links that Debian's glx-alternative-nvidia makes when it
// is configured: with them the dynamic linker finds libcuda. No package has
// them in its list.
func alternatives() []tarFile {
	return []tarFile{
		symlink("usr/lib/x86_64-linux-gnu/libcuda.so.1", "/etc/alternatives/glx--libcuda.so.1-x86_64-linux-gnu"),
		symlink("etc/alternatives/glx--libcuda.so.1-x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1"),
	}
}

func file(name, text string) tarFile {
	return tarFile{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(text))}, []byte(text)}
}

func symlink(name, target string) tarFile {
	return tarFile{tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}, nil}
}

// tar writes the layer, with each directory once and before what is in it.
func (l layer) tar(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	written := map[string]bool{".": true}
	var mkdir func(dir string)
	put := func(h *tar.Header, data []byte) {
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	mkdir = func(dir string) {
		if written[dir] {
			return
		}
		mkdir(path.Dir(dir))
		written[dir] = true
		put(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}, nil)
	}
	for _, f := range l.files {
		h := f.Header
		h.Name = path.Clean(h.Name)
		if h.Typeflag == tar.TypeDir {
			mkdir(h.Name)
			continue
		}
		mkdir(path.Dir(h.Name))
		h.Format = tar.FormatUnknown
		put(&h, f.data)
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// compressions are those of layers, with the ends of their OCI media types.
var compressions = []string{"plain", "gzip", "zstd"}

func compress(t *testing.T, how string, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	var err error
	switch how {
	case "plain":
		return data
	case "gzip":
		w, err = gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	case "zstd":
		w, err = zstd.NewWriter(&buf, zstd.WithEncoderLevel(zstd.SpeedFastest))
	default:
		t.Fatalf("unknown compression %q", how)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// A blob is a piece of an image with its digest.
type blob struct {
	mediaType string
	digest    string
	data      []byte
}

func newBlob(mediaType string, data []byte) blob {
	return blob{mediaType, digest(data), data}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (b blob) hex() string { return strings.TrimPrefix(b.digest, "sha256:") }

func (b blob) descriptor() map[string]any {
	return map[string]any{"mediaType": b.mediaType, "digest": b.digest, "size": len(b.data)}
}

// An image is all blobs of an image of one compression.
type image struct {
	config, manifest blob
	layers           []blob
	diffIDs          []string
	createdBy        []string
}

// build makes an image. Its history has steps without a layer too.
func build(t *testing.T, compression string, layers ...layer) *image {
	t.Helper()
	suffix := map[string]string{"plain": "", "gzip": "+gzip", "zstd": "+zstd"}[compression]
	img := &image{}
	var history []map[string]any
	for i, l := range layers {
		raw := l.tar(t)
		img.diffIDs = append(img.diffIDs, digest(raw))
		img.createdBy = append(img.createdBy, l.createdBy)
		img.layers = append(img.layers, newBlob("application/vnd.oci.image.layer.v1.tar"+suffix, compress(t, compression, raw)))
		history = append(history,
			map[string]any{"created": "2026-01-02T03:04:05Z", "created_by": l.createdBy},
			map[string]any{"created": "2026-01-02T03:04:05Z", "created_by": fmt.Sprintf("ENV STEP=%d", i), "empty_layer": true})
	}
	img.config = newBlob("application/vnd.oci.image.config.v1+json", toJSON(t, map[string]any{
		"architecture": "amd64", "os": "linux", "created": "2026-01-02T03:04:05Z",
		"config":  map[string]any{"Env": []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, "Cmd": []string{"app"}},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": img.diffIDs},
		"history": history,
	}))
	descriptors := make([]any, 0, len(img.layers))
	for _, l := range img.layers {
		descriptors = append(descriptors, l.descriptor())
	}
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	img.manifest = newBlob(manifestType, toJSON(t, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": img.config.descriptor(), "layers": descriptors,
	}))
	return img
}

func toJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// formats are the ways to write an image to a file.
var formats = map[string]func(t *testing.T, img *image, name, tag string) []tarFile{
	"oci":    ociArchive,
	"docker": dockerArchive,
}

// ociArchive is an OCI layout in a tar, as of buildx and skopeo.
func ociArchive(t *testing.T, img *image, name, tag string) []tarFile {
	t.Helper()
	d := img.manifest.descriptor()
	d["platform"] = map[string]any{"os": "linux", "architecture": "amd64"}
	d["annotations"] = map[string]any{"io.containerd.image.name": name + ":" + tag, "org.opencontainers.image.ref.name": tag}
	files := []tarFile{
		file("oci-layout", `{"imageLayoutVersion":"1.0.0"}`),
		file("index.json", string(toJSON(t, map[string]any{"schemaVersion": 2, "manifests": []any{d}}))),
	}
	for _, b := range append(slices.Clone(img.layers), img.config, img.manifest) {
		files = append(files, file("blobs/sha256/"+b.hex(), string(b.data)))
	}
	return files
}

// dockerArchive is what docker save wrote up to Docker 24: no manifest, no
// digests of blobs, and a directory for each layer.
func dockerArchive(t *testing.T, img *image, name, tag string) []tarFile {
	t.Helper()
	var files []tarFile
	var paths []string
	for i, l := range img.layers {
		id := strings.TrimPrefix(digest(fmt.Appendf(nil, "%s %d", img.diffIDs[i], i)), "sha256:")
		paths = append(paths, id+"/layer.tar")
		files = append(files,
			file(id+"/VERSION", "1.0"),
			file(id+"/json", string(toJSON(t, map[string]any{"id": id, "os": "linux"}))),
			file(id+"/layer.tar", string(l.data)))
	}
	config := img.config.hex() + ".json"
	return append(files,
		file(config, string(img.config.data)),
		file("manifest.json", string(toJSON(t, []any{map[string]any{
			"Config": config, "RepoTags": []string{name + ":" + tag}, "Layers": paths,
		}}))),
		file("repositories", string(toJSON(t, map[string]any{name: map[string]string{tag: path.Dir(paths[len(paths)-1])}}))))
}

// write writes the image to a file and returns its path.
func (img *image) write(t *testing.T, format, name, tag string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "image.tar")
	data := layer{files: formats[format](t, img, name, tag)}.tar(t)
	if err := os.WriteFile(p, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}
