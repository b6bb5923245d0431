package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// dockerEntry is one image of a docker archive's manifest.json.
type dockerEntry struct {
	Config   string   `json:"Config"`
	RepoTags []string `json:"RepoTags"`
	Layers   []string `json:"Layers"`
}

// docker opens the images of a docker archive. It names no blob digests: the
// diff IDs of the configuration are all there is.
func (r *resolver) docker(a members) ([]*Image, error) {
	r.kind = KindDockerArchive
	raw, err := a.read("manifest.json", maxManifest)
	if err != nil {
		return nil, fail(r.ref, "reading manifest.json", err)
	}
	var list []dockerEntry
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fail(r.ref, "reading manifest.json", fmt.Errorf("invalid JSON: %w", err))
	}
	if len(list) == 0 || len(list) > maxImages {
		return nil, fail(r.ref, "reading manifest.json", fmt.Errorf("it lists %d images", len(list)))
	}
	for _, e := range list {
		for i, tag := range e.RepoTags {
			e.RepoTags[i] = tag[:min(len(tag), maxShownName)]
		}
	}
	if list, err = r.pickDocker(a, list); err != nil {
		return nil, err
	}
	var images []*Image
	var last error
	served := map[string]bool{}
	for _, e := range list {
		img, err := r.dockerImage(a, e)
		if err != nil {
			return nil, err
		}
		// One archive may hold an image for several platforms.
		if len(r.wanted.platforms) > 0 && !r.wanted.all {
			serves := r.wanted.by(img.Config.Platform())
			for _, p := range serves {
				served[platformText(&p)] = true
			}
			if len(serves) == 0 {
				last = r.single(img)
				continue
			}
		}
		if len(list) > 1 {
			img.Ref += "#" + firstTag(e, img.ConfigDigest)
		}
		images = append(images, img)
	}
	if len(images) == 0 {
		return nil, last
	}
	for _, p := range r.wanted.platforms {
		if !r.wanted.all && !served[platformText(&p)] {
			return nil, fail(r.ref, "choosing the platform", hintf("leave --platform away", "no image for %s", platformText(&p)))
		}
	}
	return images, nil
}

// pickDocker keeps the images that a location names: by name or tag, by the
// digest of the configuration, or by @INDEX.
func (r *resolver) pickDocker(a members, list []dockerEntry) ([]dockerEntry, error) {
	pick := r.loc.pick
	if pick == "" {
		return list, nil
	}
	var out []dockerEntry
	ways := named(pick)
	if pick[0] == '@' || strings.HasPrefix(pick, "sha256:") { // never a name
		ways = nil
	}
	for _, how := range ways {
		for _, e := range list {
			if i := slices.IndexFunc(e.RepoTags, how); i >= 0 {
				out = append(out, dockerEntry{e.Config, e.RepoTags[i:], e.Layers})
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	labels := make([]string, 0, len(list))
	for i, e := range list {
		if "@"+strconv.Itoa(i) == pick {
			return []dockerEntry{e}, nil
		}
		raw, err := a.read(e.Config, maxConfig)
		if r.bytes += int64(len(raw)); err != nil {
			continue // another image's
		}
		if err := r.budget(); err != nil {
			return nil, fail(r.ref, "reading the configuration", err)
		}
		if digest := digestOf(raw); digest == pick {
			out = append(out, e)
		} else {
			labels = append(labels, firstTag(e, digest))
		}
	}
	if len(out) == 0 {
		return nil, r.notThere(labels)
	}
	return out, nil
}

func firstTag(e dockerEntry, digest string) string {
	if len(e.RepoTags) > 0 {
		return e.RepoTags[0]
	}
	return digest
}

func (r *resolver) dockerImage(a members, e dockerEntry) (*Image, error) {
	if e.Config == "" {
		return nil, fail(r.ref, "reading manifest.json", errors.New("an image without a configuration"))
	}
	if err := r.budget(); err != nil {
		return nil, fail(r.ref, "reading the configuration", err)
	}
	raw, err := a.read(e.Config, maxConfig)
	r.bytes += int64(len(raw))
	if err != nil {
		return nil, fail(r.ref, "reading the configuration", err)
	}
	img := &Image{Ref: r.ref, Kind: r.kind, ConfigDigest: digestOf(raw)}
	if len(e.RepoTags) > 0 {
		img.Name = stripTag(e.RepoTags[0])
	}
	if img.Config, err = parseConfig(raw); err != nil {
		return nil, fail(r.ref, "reading the configuration", err)
	}
	img.Platform = platformText(img.Config.Platform())
	if n := len(img.Config.RootFS.DiffIDs); n != len(e.Layers) || n > maxLayers {
		return nil, fail(r.ref, "reading the configuration", fmt.Errorf("it names %d layers, manifest.json %d (at most %d)", n, len(e.Layers), maxLayers))
	}
	created := instructions(img.Config, len(e.Layers))
	for i, name := range e.Layers {
		size, ok := a.size(name)
		if !ok {
			return nil, fail(r.ref, fmt.Sprintf("looking for layer %d", i), hintf("save the image again", "%s is missing in the archive", quote(name)))
		}
		img.Layers = append(img.Layers, dockerLayer(i, a, name, size, img.Config.RootFS.DiffIDs[i], created[i]))
	}
	return img, nil
}

func dockerLayer(i int, a members, name string, size int64, diffID v1.Hash, created instruction) Layer {
	return Layer{
		Blob: clean(name), Index: i, DiffID: diffID.String(), Size: size, CreatedBy: created.createdBy, Guessed: created.guessed, Key: a.key(name),
		Open: func(context.Context) (Blob, error) { return a.open(name) },
	}
}
