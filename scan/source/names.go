package source

import "strings"

// annotatedName is the name that an index gives one of its images, tag
// stripped. containerd and docker write the whole name; others a tag alone,
// which names nothing.
func annotatedName(a map[string]string) string {
	if n := a["io.containerd.image.name"]; n != "" {
		return stripTag(n)
	}
	if n := a["org.opencontainers.image.ref.name"]; strings.ContainsAny(n, ":/") {
		return stripTag(n)
	}
	return ""
}

// stripTag drops tag and digest of a reference, without checking it: what is
// in an archive is only a name.
func stripTag(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		ref = ref[:i]
	}
	if len(ref) > 512 {
		ref = ref[:512]
	}
	return ref
}
