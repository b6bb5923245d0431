package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
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
	// name is the repository, full the name with its tag as the index has it.
	name, full string
	// within are the digests of the indexes around it.
	within []string
	// absent says that the source is known not to have it.
	absent bool
	// err is a wrong digest that was met while its platform was looked for.
	err error
}

// resolver opens the images that an index or manifest names.
type resolver struct {
	ref string
	// loc is what ref names, of an input.
	loc    location
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
	for i := range entries { // what the image was asked for by is its name, whatever the index calls it
		entries[i].name = name
	}
	return r.open(ctx, []*group{{digest: d.Digest.String(), index: true, entries: entries}})
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

// children are the descriptors of an index, attestations left out.
func (r *resolver) children(raw []byte, depth int) ([]v1.Descriptor, error) {
	index, err := v1.ParseIndexManifest(bytes.NewReader(raw))
	if err == nil && !json.Valid(raw) {
		err = errTrailing
	}
	if err != nil {
		return nil, fail(r.ref, "reading the index", fmt.Errorf("invalid index: %w", err))
	}
	if len(index.Manifests) > maxChildren || depth > maxNesting {
		return nil, fail(r.ref, "reading the index", fmt.Errorf("more than %d entries or %d levels", maxChildren, maxNesting))
	}
	if r.indexes++; r.indexes > maxIndexes {
		return nil, fail(r.ref, "reading the index", fmt.Errorf("more than %d indexes", maxIndexes))
	}
	return slices.DeleteFunc(index.Manifests, func(d v1.Descriptor) bool {
		return d.Annotations[attestation] != "" || d.Platform != nil && d.Platform.OS == "unknown"
	}), nil
}

// entries lists the images of an index, those of indexes inside it included.
func (r *resolver) entries(ctx context.Context, raw []byte, name string, depth int) ([]entry, error) {
	descriptors, err := r.children(raw, depth)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, d := range descriptors {
		inner, err := r.expand(ctx, d, name, depth)
		if err != nil {
			return nil, err
		}
		if out = append(out, inner...); len(out) > maxImages {
			return nil, fail(r.ref, "reading the index", fmt.Errorf("more than %d images", maxImages))
		}
	}
	return out, nil
}

// expand lists the images behind a descriptor of an index.
func (r *resolver) expand(ctx context.Context, d v1.Descriptor, name string, depth int) ([]entry, error) {
	full := fullName(d.Annotations)
	if n := repository(full); n != "" {
		name = n
	}
	if !d.MediaType.IsIndex() || !r.store.has(d) {
		return []entry{{desc: d, name: name, full: full, absent: !r.store.has(d)}}, nil
	}
	b, err := r.fetch(ctx, d, maxManifest, "reading an index")
	if err != nil {
		return nil, err
	}
	inner, err := r.entries(ctx, b, name, depth+1)
	for i := range inner {
		inner[i].within = append(inner[i].within, d.Digest.String())
	}
	return inner, err
}

// open opens the wanted platforms of images.
func (r *resolver) open(ctx context.Context, groups []*group) ([]*Image, error) {
	groups, err := r.pick(groups)
	if err != nil {
		return nil, err
	}
	if len(groups) == 0 || len(groups[0].entries) == 0 {
		return nil, fail(r.ref, "reading the index", errors.New("it has no image"))
	}
	var images []*Image
	var artifact error
	labels := map[string]bool{}
	for _, g := range groups {
		ref := r.ref
		if len(groups) > 1 {
			label := g.label()
			if labels[label] { // the name was given to another image before
				label += "@" + g.digest
			}
			labels[label] = true
			ref += "#" + label
		}
		if len(g.entries) > 1 || len(r.wanted.platforms) > 0 {
			for i := range g.entries {
				g.entries[i] = r.describe(ctx, g.entries[i])
				if err := g.entries[i].err; err != nil { // whichever platform it is of
					return nil, err
				}
			}
		}
		chosen, err := r.wanted.choose(g.entries)
		if err != nil {
			return nil, fail(ref, "choosing the platform", err)
		}
		for _, e := range chosen {
			img, err := r.chosen(ctx, e)
			if errors.Is(err, errArtifact) && r.loc.pick == "" && r.kind != KindRegistry { // beside images, or else it is all there is
				artifact = err
				continue
			}
			if err != nil {
				return nil, err
			}
			img.Ref = ref
			if len(g.entries) > 1 {
				img.IndexPlatforms, img.AbsentPlatforms = platformsOf(g.entries), platformsOf(absent(g.entries))
			}
			images = append(images, img)
		}
	}
	if len(images) == 0 {
		return nil, artifact
	}
	return images, nil
}

// chosen opens an image of an index.
func (r *resolver) chosen(ctx context.Context, e entry) (*Image, error) {
	raw, err := r.fetch(ctx, e.desc, maxManifest, "reading the manifest")
	if err != nil {
		return nil, err
	}
	return r.image(ctx, e, raw)
}

// absent are the entries that the source is known not to have.
func absent(entries []entry) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return !e.absent })
}

// describe fills in a platform that an index does not state, as that of an OCI
// layout does not, from the configuration.
func (r *resolver) describe(ctx context.Context, e entry) entry {
	if e.desc.Platform != nil || e.absent {
		return e
	}
	raw, err := r.fetch(ctx, e.desc, maxManifest, "reading the manifest")
	if err != nil {
		e.err = err
		return e
	}
	m, err := parseManifest(raw)
	if err != nil {
		return e
	}
	b, err := r.fetch(ctx, m.Config, maxConfig, "reading the configuration")
	if err != nil {
		e.err = err
		return e
	}
	if c, err := parseConfig(b); err == nil {
		e.desc.Platform = c.Platform()
	}
	return e
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
			Key:  r.store.key(d),
			Blob: d.Digest.String(),
			// These give blobs by their digests; in an archive or layout a name is a
			// claim like any other.
			Addressed: r.kind == KindRegistry || r.kind == KindContainerd,
			Foreign:   !d.MediaType.IsDistributable() && !r.store.has(d),
			Open:      func(ctx context.Context) (Blob, error) { return r.store.layer(ctx, d) },
		})
	}
	return img, nil
}
