package source

import (
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
)

// Options say how references are opened.
type Options struct {
	// Platforms are those to take of an index, os/arch[/variant]. Empty:
	// linux/amd64 if it is there, else the first.
	Platforms []string
	// AllPlatforms takes every platform.
	AllPlatforms bool
	// PlainHTTP allows HTTP, Insecure any TLS certificate.
	PlainHTTP, Insecure bool
	// CAFile names further certificate authorities in PEM.
	CAFile string
	// Keychain yields credentials, those of docker login if nil.
	Keychain authn.Keychain
	// Transport replaces the HTTP transport.
	Transport http.RoundTripper
	UserAgent string
	// Stall is how long a transfer may bring no data, 60 s if 0. Backoff is how
	// long the first wait before a broken one is taken up again is.
	Stall, Backoff time.Duration
}

// Bounds on what is believed of a manifest.
const (
	maxManifest  = 4 << 20  // bytes of a manifest or index, registries' own bound
	maxConfig    = 8 << 20  // bytes of a configuration
	maxMetadata  = 64 << 20 // bytes of all of these of one input, each as often as it is named
	maxChildren  = 1000     // entries of an index
	maxLayers    = 1000     // layers of a manifest
	maxNesting   = 4        // indexes within indexes
	maxIndexes   = 1000     // indexes of one input, each as often as it is named
	maxImages    = 1000     // images of one input
	maxTarBlobs  = 1 << 20  // entries of an archive
	maxTarName   = 4096     // bytes of a name in an archive
	maxJobs      = 64       // requests at once: an open layer holds one
	maxLinkDepth = 16       // links within an archive
)
