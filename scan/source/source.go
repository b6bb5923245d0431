// Package source opens every kind of image reference and yields its manifest,
// its configuration and its layers as blobs that can be read in parallel.
// Nothing is unpacked and nothing is written to disk.
package source

import (
	"context"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Kinds of sources, as facts.Image.Source states them.
const (
	KindRegistry      = "registry"
	KindOCIArchive    = "oci-archive"
	KindDockerArchive = "docker-archive"
	KindOCILayout     = "oci-layout"
	KindRootfs        = "rootfs"
)

// Set is what one reference or input holds: one image for each platform asked
// for.
type Set struct {
	Images []*Image
	closer io.Closer
}

// Close releases the files behind the set.
func (s *Set) Close() error {
	if s == nil || s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// Image is one image of one platform, opened but not read.
type Image struct {
	// Ref is the reference or input as the user gave it.
	Ref string
	// Name is the repository, or the name in the archive, tag stripped; empty
	// if the source names none. Never the input's path.
	Name string
	Kind string
	// Digest is the manifest's digest, empty for a docker archive without one.
	Digest string
	// ConfigDigest is the digest of the raw configuration (always computed
	// from the bytes read).
	ConfigDigest string
	// Platform is os/arch[/variant] as the configuration says.
	Platform string
	// IndexPlatforms are all platforms of the index, AbsentPlatforms those whose
	// images the archive does not hold.
	IndexPlatforms, AbsentPlatforms []string
	// Annotations are the manifest's.
	Annotations map[string]string
	Config      *v1.ConfigFile
	Layers      []Layer
	// Root is the directory of a root file system, which has no layers; nil
	// for an image.
	Root *os.Root
}

// Layer is one layer of the manifest. All digests are claims until the blob
// was read whole.
type Layer struct {
	// Index counts the manifest's layers from 0.
	Index int
	// Digest is the blob's digest as the manifest names it; empty in a docker
	// archive, which names none.
	Digest string
	// DiffID is the uncompressed tar's digest as the configuration names it.
	DiffID string
	// Size is the blob's size as stored in bytes, -1 if not known.
	Size        int64
	MediaType   string
	Annotations map[string]string
	// CreatedBy is the history entry that made the layer, empty if unknown.
	CreatedBy string
	// Guessed says that CreatedBy is a guess.
	Guessed bool
	// Key names the blob among those that a stream has shown, empty elsewhere.
	Key string
	// Blob names the blob within its set: layers of one name are the same bytes.
	Blob string
	// Addressed says that the source gives blobs by their digests, so that the
	// digest is the blob's own name and no claim of the image.
	Addressed bool
	// Foreign says that the blob is not distributed with the image.
	Foreign bool
	// Open opens the blob as stored (compressed or not). It may be called
	// more than once and from several goroutines.
	Open func(ctx context.Context) (Blob, error)
}

// Blob is the stored bytes of a layer. Digests are not verified by it.
type Blob interface {
	io.ReadCloser
	// Section returns the blob as a seekable section of a local file, nil
	// where it comes from a network.
	Section() *io.SectionReader
}
