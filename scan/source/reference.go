package source

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// CheckReference explains what is wrong with a reference that cannot be one, as
// far as that is seen without looking anywhere. The error is of type [Error].
func CheckReference(ref string) error {
	bad := func(hint, format string, args ...any) error {
		return &Error{Ref: quote(ref), Op: "reading the reference", Err: fmt.Errorf(format, args...), Hint: hint, Usage: true}
	}
	scheme, rest, url := strings.Cut(ref, "://")
	switch {
	case ref == "":
		return bad("is a variable not set?", "it is empty")
	case ref == "-":
		return bad("an archive on standard input is read with --input -", "no image is named so")
	case !url || strings.ContainsAny(scheme, "/:@"):
	case scheme == "file":
		return bad("gpulint image --input "+rest, "it is a URL, not a path")
	case scheme == "http":
		return bad("gpulint image --plain-http "+rest, "it is a URL, references have no scheme")
	case scheme == "docker", scheme == "https":
		return bad("gpulint image "+rest, "it is a URL, references have no scheme")
	case scheme == "docker-daemon":
		return bad("gpulint image docker:"+rest, "it is a URL, references have no scheme")
	default:
		return bad("name REPOSITORY[:TAG|@DIGEST], or say where to look with docker:, podman:, containerd:, oci:, oci-archive:, docker-archive:, rootfs: or registry:",
			"it is a URL, references have no scheme")
	}
	return nil
}

// parseReference reads a reference of a registry.
func parseReference(ref string, opts ...name.Option) (name.Reference, error) {
	r, err := name.ParseReference(ref, opts...)
	if err == nil {
		return r, nil
	}
	repo, digest, pinned := strings.Cut(ref, "@")
	text, hint := "it is no image reference", "an image is named REPOSITORY[:TAG|@DIGEST]; a file is given with --input"
	lower := lowerRepository(ref)
	_, lowerErr := name.ParseReference(lower, opts...)
	switch _, repoErr := name.ParseReference(repo, opts...); {
	case strings.ContainsAny(ref, " \t\r\n"):
		text = "it has a blank in it"
	case pinned && repoErr == nil:
		text, hint = fmt.Sprintf("%q is no digest", digest), "a digest is sha256: and 64 hex digits"
	case lower != ref && lowerErr == nil:
		text, hint = "repositories are written in lower case", "did you mean "+lower+"?"
	}
	return nil, &Error{Ref: ref, Op: "reading the reference", Err: &short{err, text}, Hint: hint, Usage: true}
}

// lowerRepository writes all but the tag in lower case.
func lowerRepository(ref string) string {
	repo := stripTag(ref)
	return strings.ToLower(repo) + strings.TrimPrefix(ref, repo)
}

// FileLike says whether a reference has the name of an archive's file.
func FileLike(ref string) bool {
	for _, end := range []string{".tar", ".tgz", ".gz", ".zst", ".oci"} {
		if strings.HasSuffix(ref, end) {
			return true
		}
	}
	return false
}
