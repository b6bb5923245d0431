package sarifcheck

import (
	"net/url"
	"strings"
)

// relative says whether a URI is a relative path that nothing can take for a
// scheme, a host or a way out.
func relative(uri string) bool {
	first, _, _ := strings.Cut(uri, "/")
	if uri == "" || strings.HasPrefix(uri, "/") || strings.Contains(first, ":") {
		return false
	}
	for i := range len(uri) {
		// A query or a fragment would be no part of the path.
		if c := uri[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^`+"`{|}?#", c) >= 0 {
			return false
		}
	}
	for _, part := range strings.Split(uri, "/") {
		name, err := url.PathUnescape(part) // %2e%2e climbs as well
		if err != nil || name == "" || name == "." || name == ".." {
			return false
		}
	}
	return true
}
