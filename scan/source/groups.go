package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// group are the entries of a layout's index that make one image, of one
// platform or several.
type group struct {
	// names are those that the index gives it, tags included.
	names []string
	// digest is that of the descriptor that stands in index.json.
	digest string
	// index says that the descriptor is of an index.
	index   bool
	entries []entry
}

// label tells the image from the others of its archive.
func (g *group) label() string {
	if len(g.names) > 0 {
		return g.names[0]
	}
	return g.digest
}

// groups are the images of a layout, in order. An index is one image, whatever
// its platforms, except that it may name its entries differently. Manifests
// beside each other are one image of several platforms if they have one name,
// or none, and each a platform of its own: a name is given again to the next
// image that is built, and both are kept.
func (r *resolver) groups(ctx context.Context, raw []byte) ([]*group, error) {
	descriptors, err := r.children(raw, 0)
	if err != nil {
		return nil, err
	}
	var out []*group
	known := map[string]*group{}
	total := 0
	for _, d := range descriptors {
		full := fullName(d.Annotations)
		if g, ok := known[d.Digest.String()]; ok { // one image under several names
			if full != "" && !slices.Contains(g.names, full) {
				g.names = append(g.names, full)
			}
			continue
		}
		entries, err := r.expand(ctx, d, "", 0)
		if err != nil {
			return nil, err
		}
		if total += len(entries); total > maxImages {
			return nil, fail(r.ref, "reading the index", fmt.Errorf("more than %d images", maxImages))
		}
		for _, g := range byName(entries, d, full) {
			if known[g.digest] == nil {
				known[g.digest] = g
			}
			out = append(out, g)
		}
	}
	return r.merge(ctx, listedOnce(out)), nil
}

// listedOnce leaves out manifests without a name that stand beside the index
// which names them, too.
func listedOnce(groups []*group) []*group {
	inside := map[string]bool{}
	for _, g := range groups {
		for _, e := range g.entries {
			if g.index {
				inside[e.desc.Digest.String()] = true
			}
		}
	}
	return slices.DeleteFunc(groups, func(g *group) bool { return !g.index && len(g.names) == 0 && inside[g.digest] })
}

// byName parts the entries of one descriptor of index.json by the names that
// an index inside it gives them.
func byName(entries []entry, d v1.Descriptor, full string) []*group {
	var out []*group
	for _, e := range entries {
		own := full // an index's own name goes before those of its entries
		if own == "" {
			own = e.full
		}
		i := slices.IndexFunc(out, func(g *group) bool { return strings.Join(g.names, "") == own })
		if i < 0 {
			i = len(out)
			g := &group{digest: d.Digest.String(), index: d.MediaType.IsIndex()}
			if own != "" {
				g.names = []string{own}
			}
			out = append(out, g)
		}
		out[i].entries = append(out[i].entries, e)
	}
	return out
}

// merge makes one image of the manifests of one name.
func (r *resolver) merge(ctx context.Context, groups []*group) []*group {
	same := map[string]int{}
	for _, g := range groups {
		if !g.index {
			same[strings.Join(g.names, "")]++
		}
	}
	var out []*group
	for _, g := range groups {
		key := strings.Join(g.names, "")
		if g.index || same[key] < 2 {
			out = append(out, g)
			continue
		}
		e := r.describe(ctx, g.entries[0])
		i := slices.IndexFunc(out, func(o *group) bool {
			return !o.index && strings.Join(o.names, "") == key && e.desc.Platform != nil &&
				!slices.ContainsFunc(o.entries, func(x entry) bool {
					return x.desc.Platform == nil || platformText(x.desc.Platform) == platformText(e.desc.Platform)
				})
		})
		if i < 0 {
			out = append(out, &group{names: g.names, digest: g.digest, entries: []entry{e}})
			continue
		}
		out[i].entries = append(out[i].entries, e)
	}
	return out
}

// pick keeps the images that a location names: by full name, else by a name
// that means the same, else by tag; or one image or platform by digest.
func (r *resolver) pick(groups []*group) ([]*group, error) {
	if r.loc.pick == "" {
		return groups, nil
	}
	if strings.HasPrefix(r.loc.pick, "sha256:") { // a digest is never a name
		if g := byDigest(groups, r.loc.pick); g != nil {
			return []*group{g}, nil
		}
		return nil, r.notThere(labelsOf(groups))
	}
	var out []*group
	for _, how := range named(r.loc.pick) {
		for _, g := range groups {
			if i := slices.IndexFunc(g.names, how); i >= 0 {
				out = append(out, &group{names: g.names[i : i+1], digest: g.digest, index: g.index, entries: g.entries})
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, r.notThere(labelsOf(groups))
}

// byDigest is the manifest or index of a digest, nil if there is none.
func byDigest(groups []*group, digest string) *group {
	for _, g := range groups {
		for _, e := range g.entries {
			if e.desc.Digest.String() == digest {
				return &group{names: g.names, digest: digest, entries: []entry{e}}
			}
		}
		if g.index && g.digest == digest {
			return g
		}
		inner := &group{names: g.names, digest: digest, index: true}
		for _, e := range g.entries {
			if slices.Contains(e.within, digest) {
				inner.entries = append(inner.entries, e)
			}
		}
		if len(inner.entries) > 0 {
			return inner
		}
	}
	return nil
}

func labelsOf(groups []*group) []string {
	labels := make([]string, 0, len(groups))
	for _, g := range groups {
		labels = append(labels, g.label())
	}
	return labels
}

// named are the ways in which a name may be meant, the surest first.
func named(pick string) []func(string) bool {
	want, err := name.ParseReference(pick)
	return []func(string) bool{
		func(n string) bool { return n == pick },
		func(n string) bool {
			have, herr := name.ParseReference(n)
			return err == nil && herr == nil && have.Name() == want.Name()
		},
		func(n string) bool { return tagOf(n) == pick },
	}
}

// tagOf is the tag of a name; a name that is a tag alone is one itself.
func tagOf(n string) string {
	n, _, _ = strings.Cut(n, "@")
	if i := strings.LastIndexByte(n, ':'); i > strings.LastIndexByte(n, '/') {
		return n[i+1:]
	}
	return n
}

// notThere says that the picked image is not in the archive, and what is.
func (r *resolver) notThere(labels []string) error {
	const most = 10
	more := ""
	if len(labels) > most {
		more = fmt.Sprintf(" and %d more", len(labels)-most)
		labels = labels[:most]
	}
	for i := range labels {
		labels[i] = quote(labels[i])
	}
	if len(labels) == 0 {
		return fail(r.ref, "choosing the image", errors.New("it has no image"))
	}
	return fail(r.ref, "choosing the image", hintf("name one of them, or leave the name away for all",
		"%s has no image %s: it has %s%s", r.loc.path, quote(r.loc.pick), strings.Join(labels, ", "), more))
}
