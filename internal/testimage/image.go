package testimage

import (
	"encoding/json"
	"strings"
)

// Image is an image to be built.
type Image struct {
	// Ref is name:tag as archives carry it; empty for none.
	Ref string
	// Platform is os/arch[/variant], linux/amd64 if empty.
	Platform string
	Layers   []Layer
	// Compression of the layers' blobs: [Plain] (also if empty), [Gzip] or [Zstd].
	Compression string
	Env         []string
	Labels      map[string]string
	// Annotations are the manifest's.
	Annotations map[string]string
	Entrypoint  []string
	Cmd         []string
}

// Blob is a blob with its media type and digest.
type Blob struct {
	MediaType string            `json:"mediaType"`
	Digest    string            `json:"digest"`
	Size      int64             `json:"size"`
	Platform  *Platform         `json:"platform,omitempty"`
	Notes     map[string]string `json:"annotations,omitempty"`
	Data      []byte            `json:"-"`
}

// Platform is a platform as an index names it.
type Platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant,omitempty"`
}

// Built is an image as blobs.
type Built struct {
	Image    Image
	Manifest Blob
	Config   Blob
	Layers   []Blob
	DiffIDs  []string
	Tars     [][]byte
}

// Media types of OCI images.
const (
	TypeIndex    = "application/vnd.oci.image.index.v1+json"
	TypeManifest = "application/vnd.oci.image.manifest.v1+json"
	TypeConfig   = "application/vnd.oci.image.config.v1+json"
	TypeLayer    = "application/vnd.oci.image.layer.v1.tar"
)

// NewBlob is a blob of bytes.
func NewBlob(mediaType string, data []byte) Blob {
	return Blob{MediaType: mediaType, Digest: Digest(data), Size: int64(len(data)), Data: data}
}

func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	must(err)
	return b
}

func (i Image) platform() Platform {
	parts := append(strings.Split(orElse(i.Platform, "linux/amd64"), "/"), "", "")
	return Platform{OS: parts[0], Architecture: parts[1], Variant: parts[2]}
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// Build makes the blobs.
func (i Image) Build() Built {
	b := Built{Image: i}
	type history struct {
		CreatedBy string `json:"created_by"`
		Empty     bool   `json:"empty_layer,omitempty"`
	}
	var hist []history
	suffix := map[string]string{Gzip: "+gzip", Zstd: "+zstd"}[i.Compression]
	for _, l := range i.Layers {
		hist = append(hist, history{l.CreatedBy, l.NoBlob})
		if l.NoBlob {
			continue
		}
		t := l.Tar()
		b.Tars = append(b.Tars, t)
		b.DiffIDs = append(b.DiffIDs, Digest(t))
		b.Layers = append(b.Layers, NewBlob(TypeLayer+suffix, Compress(i.Compression, t)))
	}
	p := i.platform()
	b.Config = NewBlob(TypeConfig, jsonOf(map[string]any{
		"os": p.OS, "architecture": p.Architecture, "variant": p.Variant,
		"config":  map[string]any{"Env": i.Env, "Labels": i.Labels, "Entrypoint": i.Entrypoint, "Cmd": i.Cmd},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": b.DiffIDs},
		"history": hist,
	}))
	manifest := map[string]any{"schemaVersion": 2, "mediaType": TypeManifest, "config": b.Config, "layers": b.Layers}
	if i.Annotations != nil {
		manifest["annotations"] = i.Annotations
	}
	b.Manifest = NewBlob(TypeManifest, jsonOf(manifest))
	b.Manifest.Platform = &p
	if i.Ref != "" {
		// containerd and docker write the whole name beside OCI's tag.
		b.Manifest.Notes = map[string]string{
			"io.containerd.image.name": i.Ref, "org.opencontainers.image.ref.name": tag(i.Ref),
		}
	}
	return b
}

func tag(ref string) string {
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		return ref[i+1:]
	}
	return "latest"
}

// Index is an image index of manifests, or of other indexes.
func Index(manifests ...Blob) Blob {
	return NewBlob(TypeIndex, jsonOf(map[string]any{"schemaVersion": 2, "mediaType": TypeIndex, "manifests": manifests}))
}
