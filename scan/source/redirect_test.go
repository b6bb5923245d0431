package source

import (
	"net/http"
	"testing"
)

// TestRedirected holds how often, and where, a registry may redirect.
func TestRedirected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		urls []string
		ok   bool
	}{
		{[]string{"https://registry.example.com/v2/"}, true},
		{[]string{"http://127.0.0.1:5000/v2/"}, true},
		{[]string{"https://registry.example.com/v2/", "https://blobs.example.net/x"}, true},
		{[]string{"https://registry.example.com/v2/", "https://203.0.113.7/x"}, true},
		{[]string{"https://registry.example.com/v2/", "http://169.254.169.254/latest/meta-data"}, false},
		{[]string{"https://registry.example.com/v2/", "https://blobs.example.net/x", "http://10.0.0.1/"}, false},
		{[]string{"https://203.0.113.7/v2/", "http://[::1]:8080/"}, false},
		{[]string{"https://203.0.113.7/v2/", "http://[::ffff:192.168.1.1]/"}, false},
		{[]string{"https://registry.example.com/v2/", "http://localhost/"}, false},
		{[]string{"https://registry.example.com/v2/", "http://LOCALHOST./"}, false},
		{[]string{"https://registry.example.com/v2/", "http://a.Localhost:80/"}, false},
		{[]string{"https://registry.example.com/v2/", "http://127.1/"}, false},
		{[]string{"https://registry.example.com/v2/", "http://2130706433/"}, false},
		{[]string{"https://registry.example.com/v2/", "http://0x7f000001/"}, false},
		{[]string{"https://registry.example.com/v2/", "https://blobs3.example.net./x"}, true},
		{[]string{"http://127.0.0.1:5000/v2/", "http://10.0.0.1/"}, true},
		{[]string{"http://localhost:5000/v2/", "http://localhost:6000/"}, true},
		{make([]string, maxRedirects+1), true},
		{make([]string, maxRedirects+2), false},
	} {
		var req *http.Request
		for _, u := range tt.urls {
			next, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u, nil)
			if err != nil {
				t.Fatal(err)
			}
			if req != nil {
				next.Response = &http.Response{Request: req}
			}
			req = next
		}
		if err := redirected(req); (err == nil) != tt.ok {
			t.Errorf("%v: %v", tt.urls, err)
		}
	}
}
