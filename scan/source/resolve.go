package source

import (
	"bytes"
	"context"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// store yields the blobs of a source by their descriptors.
type store interface {
	// fetch reads a manifest, index or configuration of at most limit bytes.
	// It need not be verified.
	fetch(ctx context.Context, d v1.Descriptor, limit int64) ([]byte, error)
	// layer opens a layer.
	layer(ctx context.Context, d v1.Descriptor) (Blob, error)
	// has says whether a blob is there, as far as that costs nothing.
	has(d v1.Descriptor) bool
	// key names a blob that a stream has passed, empty elsewhere.
	key(d v1.Descriptor) string
}

// entry is one image of an index.
type entry struct {
	desc v1.Descriptor
	name string
	// absent says that the source is known not to have it.
	absent bool
}

// resolver opens the images that an index or manifest names.
type resolver struct {
	ref    string
	kind   string
	store  store
	wanted wanted
	// indexes counts those that were read, bytes all metadata: one blob may be
	// named again and again.
	indexes int
	bytes   int64
}

// attestation marks BuildKit's manifests that hold no image.
const attestation = "vnd.docker.reference.type"

// root opens a manifest or index whose bytes are known and verified.
func (r *resolver) root(ctx context.Context, d v1.Descriptor, raw []byte, name string) ([]*Image, error) {
	k, err := kindOf(d.MediaType, raw)
	if err != nil {
		return nil, fail(r.ref, "reading the manifest", err)
	}
	if k == isImage {
		img, err := r.image(ctx, entry{desc: d, name: name}, raw)
		if err != nil {
			return nil, err
		}
		if err := r.single(img); err != nil {
			return nil, err
		}
		return []*Image{img}, nil
	}
	entries, err := r.entries(ctx, raw, name, 0)
	if err != nil {
		return nil, err
	}
	return r.open(ctx, entries)
}

// single checks that an image without an index is of the platform asked for.
func (r *resolver) single(img *Image) error {
	have := img.Config.Platform()
	for _, p := range r.wanted.platforms {
		if have == nil || !matches(*have, p) {
			return fail(r.ref, "choosing the platform", hintf("leave --platform away", "no image for %s: it is of %s",
				platformText(&p), orUnknown(img.Platform)))
		}
	}
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown platform"
	}
	return s
}

// entries lists the images of an index, those of indexes inside it included.
func (r *resolver) entries(ctx context.Context, raw []byte, name string, depth int) ([]entry, error) {
	index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
	if err != nil {
		return nil, fail(r.ref, "reading the index", fmt.Errorf("invalid index: %w", err))
	}
	if len(index.Manifests) > maxChildren || depth > maxNesting {
		return nil, fail(r.ref, "reading the index", fmt.Errorf("more than %d entries or %d levels", maxChildren, maxNesting))
	}
	if r.indexes++; r.indexes > maxIndexes {
		return nil, fail(r.ref, "reading the index", fmt.Errorf("more than %d indexes", maxIndexes))
	}
	var out []entry
	for _, d := range index.Manifests {
		if d.Annotations[attestation] != "" || d.Platform != nil && d.Platform.OS == "unknown" {
			continue
		}
		n := annotatedName(d.Annotations)
		if n == "" {
			n = name
		}
		switch {
		case d.MediaType == types.OCIImageIndex || d.MediaType == types.DockerManifestList:
			if !r.store.has(d) {
				continue
			}
			b, err := r.fetch(ctx, d, maxManifest, "reading an index")
			if err != nil {
				return nil, err
			}
			inner, err := r.entries(ctx, b, n, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		default:
			out = append(out, entry{desc: d, name: n})
		}
		if len(out) > maxImages {
			return nil, fail(r.ref, "reading the index", fmt.Errorf("more than %d images", maxImages))
		}
	}
	return out, nil
}

// open opens the wanted images of an index. Entries of different names are
// different images, and each is taken by its own.
func (r *resolver) open(ctx context.Context, entries []entry) ([]*Image, error) {
	if len(entries) == 0 {
		return nil, fail(r.ref, "reading the index", fmt.Errorf("it has no image"))
	}
	var images []*Image
	groups := byName(entries)
	for _, g := range groups {
		g = r.describe(ctx, g)
		chosen, err := r.wanted.choose(g)
		if err != nil {
			return nil, fail(r.ref, "choosing the platform", err)
		}
		for _, e := range chosen {
			raw, err := r.fetch(ctx, e.desc, maxManifest, "reading the manifest")
			if err != nil {
				return nil, err
			}
			img, err := r.image(ctx, e, raw)
			if err != nil {
				return nil, err
			}
			if len(g) > 1 {
				img.IndexPlatforms = platformsOf(g)
			}
			if len(groups) > 1 {
				img.Ref += "#" + e.name
			}
			images = append(images, img)
		}
	}
	return images, nil
}

// byName groups the entries of an index by their names, in order. Entries
// without a name but with one platform more than once are images by
// themselves.
func byName(entries []entry) [][]entry {
	var out [][]entry
	at := map[string]int{}
	for _, e := range entries {
		i, ok := at[e.name]
		if !ok {
			i = len(out)
			at[e.name] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	return out
}

// describe fills in platforms that an index does not state, as that of an OCI
// layout does not, from the configurations; and puts blobs that are there
// first, for an archive may hold one platform of many.
func (r *resolver) describe(ctx context.Context, g []entry) []entry {
	var there, missing []entry
	for _, e := range g {
		if !r.store.has(e.desc) {
			e.absent = true
			missing = append(missing, e)
			continue
		}
		if e.desc.Platform == nil && len(g) > 1 {
			if raw, err := r.fetch(ctx, e.desc, maxManifest, ""); err == nil {
				if m, err := parseManifest(raw); err == nil {
					if b, err := r.fetch(ctx, m.Config, maxConfig, ""); err == nil {
						if c, err := parseConfig(b); err == nil {
							e.desc.Platform = c.Platform()
						}
					}
				}
			}
		}
		there = append(there, e)
	}
	if len(there) == 0 {
		return g
	}
	return append(there, missing...)
}

// budget is an error once all metadata is larger than its limit.
func (r *resolver) budget() error {
	if r.bytes > maxMetadata {
		return hintf("scan its images one by one", "it has manifests and configurations of more than %d bytes together", maxMetadata)
	}
	return nil
}

// fetch reads and verifies a small blob.
func (r *resolver) fetch(ctx context.Context, d v1.Descriptor, limit int64, op string) ([]byte, error) {
	if d.Size > limit {
		return nil, fail(r.ref, op, fmt.Errorf("%s has %d bytes, more than %d", d.Digest, d.Size, limit))
	}
	if err := r.budget(); err != nil {
		return nil, fail(r.ref, op, err)
	}
	b, err := r.store.fetch(ctx, d, limit)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.bytes += int64(len(b))
	if err == nil {
		err = verify(b, d)
	}
	if err != nil {
		return nil, fail(r.ref, op+" "+d.Digest.String(), err)
	}
	return b, nil
}

// image opens an image of which the manifest is known.
func (r *resolver) image(ctx context.Context, e entry, raw []byte) (*Image, error) {
	k, err := kindOf(e.desc.MediaType, raw)
	if err == nil && k != isImage {
		err = fmt.Errorf("an index stands where a manifest was named")
	}
	if err != nil {
		return nil, fail(r.ref, "reading the manifest", err)
	}
	m, err := parseManifest(raw)
	if err != nil {
		return nil, fail(r.ref, "reading the manifest", err)
	}
	rawConfig, err := r.fetch(ctx, m.Config, maxConfig, "reading the configuration")
	if err != nil {
		return nil, err
	}
	img := &Image{
		Ref: r.ref, Name: e.name, Kind: r.kind, Digest: e.desc.Digest.String(), ConfigDigest: m.Config.Digest.String(),
		Annotations: m.Annotations,
	}
	if img.Config, err = parseConfig(rawConfig); err != nil {
		return nil, fail(r.ref, "reading the configuration", err)
	}
	img.Platform = platformText(img.Config.Platform())
	if n := len(img.Config.RootFS.DiffIDs); n != len(m.Layers) {
		return nil, fail(r.ref, "reading the configuration", fmt.Errorf("it names %d layers, the manifest %d", n, len(m.Layers)))
	}
	created := instructions(img.Config, len(m.Layers))
	for i, d := range m.Layers {
		img.Layers = append(img.Layers, Layer{
			Index: i, Digest: d.Digest.String(), DiffID: img.Config.RootFS.DiffIDs[i].String(), Size: d.Size,
			MediaType: string(d.MediaType), Annotations: d.Annotations, CreatedBy: created[i].createdBy, Guessed: created[i].guessed,
			Key:     r.store.key(d),
			Foreign: !d.MediaType.IsDistributable() && !r.store.has(d),
			Open:    func(ctx context.Context) (Blob, error) { return r.store.layer(ctx, d) },
		})
	}
	return img, nil
}
