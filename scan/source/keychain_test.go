package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// TestKeychain holds that docker's configuration goes first, and that the
// clouds' keychains leave other hosts alone.
func TestKeychain(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	config := `{"auths":{"registry.example.com":{"auth":"dXNlcjpwYXNz"}}}` // user:pass
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"registry.example.com": "user", "other.example.com": "", "index.docker.io": ""} {
		reg, err := name.NewRegistry(host)
		if err != nil {
			t.Fatal(err)
		}
		auth, err := authn.Resolve(t.Context(), keychain(), reg)
		if err != nil {
			t.Fatal(err)
		}
		c, err := authn.Authorization(t.Context(), auth)
		if err != nil || c.Username != want {
			t.Errorf("%s: %q, want %q, %v", host, c.Username, want, err)
		}
	}
}
