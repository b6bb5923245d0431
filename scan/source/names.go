package source

import (
	"os"
	"strings"
)

// fullName is the name that an index gives one of its images. containerd and
// docker write the whole name; others a tag alone.
func fullName(a map[string]string) string {
	n := a["io.containerd.image.name"]
	if n == "" {
		n = a["org.opencontainers.image.ref.name"]
	}
	if len(n) > maxShownName {
		n = n[:maxShownName]
	}
	return n
}

// repository is the repository of such a name: a tag alone names none.
func repository(full string) string {
	if !strings.ContainsAny(full, ":/") {
		return ""
	}
	return stripTag(full)
}

// maxShownName bounds names of archives, in bytes.
const maxShownName = 512

// stripTag drops tag and digest of a reference, without checking it: what is
// in an archive is only a name.
func stripTag(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		ref = ref[:i]
	}
	if len(ref) > maxShownName {
		ref = ref[:maxShownName]
	}
	return ref
}

// IsPath says whether a reference can only be meant as a path: it is written as
// one (/x, ./x, ../x), or a file of that very name is there.
func IsPath(ref string) bool {
	for _, p := range []string{"/", "./", "../"} {
		if strings.HasPrefix(ref, p) {
			return true
		}
	}
	st, err := os.Stat(ref)
	return err == nil && st.Mode().IsRegular()
}

// schemes are the prefixes that say where a reference is to be found.
var schemes = []string{"registry:", "docker:", "podman:", "containerd:", "oci-archive:", "docker-archive:", "oci:", "rootfs:"}

// Scheme takes the source's name off a reference: docker of docker:app:1. It is
// empty where there is none: registry:5000/x is a host with a port, and
// registry:2 the image of that name.
func Scheme(ref string) (scheme, rest string) {
	for _, s := range schemes {
		rest, ok := strings.CutPrefix(ref, s)
		if !ok || rest == "" {
			continue
		}
		if s == "registry:" || s == "docker:" || s == "podman:" || s == "containerd:" {
			if rest[0] >= '0' && rest[0] <= '9' && !namedByDigits(rest) {
				return "", ref
			}
		}
		return strings.TrimSuffix(s, ":"), rest
	}
	return "", ref
}

// namedByDigits says whether what begins with a digit and follows a scheme is a
// reference by itself, and neither a port with a path nor a tag.
func namedByDigits(rest string) bool {
	digits := strings.TrimLeft(rest, "0123456789")
	if digits == "" || digits[0] == '/' {
		return false // 5000/x, 2
	}
	return strings.ContainsAny(rest, "/:@") // not 24.0-dind
}
