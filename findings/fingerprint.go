package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
)

var (
	dotted = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)
	// rmVersion is a version of the driver (resource manager). The major
	// keeps libnl-3.so.200.26.0 and the like out.
	rmVersion = regexp.MustCompile(`^[3-9][0-9]{2}\.[0-9]{2,3}(\.[0-9]{2})?$`)
)

// NormalizeKey replaces driver versions in a key by <RM>, so that a rebuild
// with another driver keeps the fingerprint.
func NormalizeKey(key string) string {
	return dotted.ReplaceAllStringFunc(key, func(v string) string {
		if rmVersion.MatchString(v) {
			return "<RM>"
		}
		return v
	})
}

// Fingerprint identifies a finding across rebuilds, tags and layer shifts: it
// is made of the rule, the name of the subject without tag, and the thing
// found. Each part is hashed with its length, so that no two are confused.
func Fingerprint(rule, name, key string) string {
	h := sha256.New()
	for _, s := range []string{"v1", rule, stripTag(name), NormalizeKey(key)} {
		fmt.Fprintf(h, "%d:%s\n", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stripTag cuts digest and tag off a name; a port of a registry stays.
func stripTag(name string) string {
	name, _, _ = strings.Cut(name, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	return name
}

func fingerprints(list []facts.Finding, names map[string]string) []facts.Finding {
	list = slices.Clone(list)
	for i := range list {
		f := &list[i]
		f.Fingerprint = Fingerprint(f.Rule, names[f.Subject], f.Key)
	}
	return list
}
