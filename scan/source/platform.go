package source

import (
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// wanted are the platforms asked for.
type wanted struct {
	all       bool
	platforms []v1.Platform
}

// parsePlatforms reads the options' platforms.
func parsePlatforms(o Options) (wanted, error) {
	w := wanted{all: o.AllPlatforms}
	for _, s := range o.Platforms {
		p, err := v1.ParsePlatform(s)
		if err != nil || p.OS == "" || p.Architecture == "" {
			hint := "name os/arch or os/arch/variant, or all"
			if err == nil && p.Architecture == "" && s != "linux" && s != "" {
				hint = "did you mean linux/" + s + "?"
			}
			return w, hintf(hint, "%q is no platform: want one like linux/amd64", s)
		}
		w.platforms = append(w.platforms, *p)
	}
	return w, nil
}

// matches says whether an image of platform have serves one who wants want.
func matches(have, want v1.Platform) bool {
	if have.OS != want.OS || have.Architecture != want.Architecture {
		return false
	}
	return want.Variant == "" || variant(have) == variant(want)
}

// variant of a platform: arm64 is v8 where it does not say.
func variant(p v1.Platform) string {
	if p.Variant == "" && p.Architecture == "arm64" {
		return "v8"
	}
	return p.Variant
}

// platformText is os/arch[/variant], empty for an unknown platform.
func platformText(p *v1.Platform) string {
	if p == nil || p.OS == "" || p.Architecture == "" {
		return ""
	}
	s := p.OS + "/" + p.Architecture
	if p.Variant != "" {
		s += "/" + p.Variant
	}
	return s
}

// choose picks the entries of an image by what is wanted. Of one that was saved
// with some of its platforms only, those that are there are taken.
func (w wanted) choose(entries []entry) ([]entry, error) {
	there := slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.absent })
	if len(there) == 0 { // opening one says which blob is missing
		there = entries[:1]
	}
	if w.all {
		return there, nil
	}
	if len(w.platforms) == 0 {
		if e, ok := ofPlatform(there, v1.Platform{OS: "linux", Architecture: "amd64"}); ok {
			return []entry{e}, nil
		}
		return there[:1], nil
	}
	var out []entry
	for _, p := range w.platforms {
		e, ok := ofPlatform(there, p)
		if !ok {
			if e, ok = ofPlatform(entries, p); ok {
				return nil, hintf("save it with that platform, as skopeo copy --all does", "the index names an image for %s, %s, but it is missing in the archive",
					platformText(&p), e.desc.Digest)
			}
			return nil, hintf("name one of them with --platform, or all", "no image for %s: the index has %s",
				platformText(&p), strings.Join(platformsOf(entries), ", "))
		}
		out = append(out, e)
	}
	return out, nil
}

// by are the wanted platforms that an image serves.
func (w wanted) by(have *v1.Platform) []v1.Platform {
	return slices.DeleteFunc(slices.Clone(w.platforms), func(p v1.Platform) bool { return have == nil || !matches(*have, p) })
}

func ofPlatform(entries []entry, want v1.Platform) (entry, bool) {
	i := slices.IndexFunc(entries, func(e entry) bool { return e.desc.Platform != nil && matches(*e.desc.Platform, want) })
	if i < 0 {
		return entry{}, false
	}
	return entries[i], true
}

func platformsOf(entries []entry) []string {
	var out []string
	for _, e := range entries {
		if p := platformText(e.desc.Platform); p != "" {
			out = append(out, p)
		} else {
			out = append(out, "unknown")
		}
	}
	return out
}
