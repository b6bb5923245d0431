package source

import (
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
			return w, hintf("name os/arch or os/arch/variant, or all", "%q is no platform: want one like linux/amd64", s)
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

// choose picks the entries of an index by what is wanted.
func (w wanted) choose(entries []entry) ([]entry, error) {
	if w.all || len(entries) == 0 {
		return entries, nil
	}
	if len(w.platforms) == 0 {
		linux := v1.Platform{OS: "linux", Architecture: "amd64"}
		for _, e := range entries {
			if e.desc.Platform != nil && matches(*e.desc.Platform, linux) && !e.absent {
				return []entry{e}, nil
			}
		}
		return entries[:1], nil
	}
	var out []entry
	for _, p := range w.platforms {
		found := false
		for _, e := range entries {
			if e.desc.Platform != nil && matches(*e.desc.Platform, p) {
				out, found = append(out, e), true
				break
			}
		}
		if !found {
			return nil, hintf("name one of them with --platform, or all", "no image for %s: the index has %s",
				platformText(&p), strings.Join(platformsOf(entries), ", "))
		}
	}
	return out, nil
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
