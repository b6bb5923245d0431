package source

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// maxRedirects is how often one request may be sent elsewhere.
const maxRedirects = 10

// redirected checks a request that comes of redirects: a registry must not send
// in circles, nor from outside to addresses that only this machine reaches.
func redirected(req *http.Request) error {
	n := 0
	first := req
	for first.Response != nil && first.Response.Request != nil {
		if n++; n > maxRedirects {
			return fmt.Errorf("stopped after %d redirects", maxRedirects)
		}
		first = first.Response.Request
	}
	if n > 0 && first.URL.Hostname() != req.URL.Hostname() && inner(req) && !inner(first) {
		return fmt.Errorf("a redirect from %s to the inner address %s is not followed", first.URL.Host, req.URL.Host)
	}
	return nil
}

// inner says whether a request goes to an address of this machine or its
// network, given as a number or as localhost.
func inner(req *http.Request) bool {
	host := strings.ToLower(strings.TrimSuffix(req.URL.Hostname(), "."))
	ip, err := netip.ParseAddr(host)
	if err != nil {
		// 127.1 and 0x7f000001 are addresses to some resolvers.
		last := host[strings.LastIndexByte(host, '.')+1:]
		return last == "localhost" || last != "" && last[0] >= '0' && last[0] <= '9'
	}
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}
