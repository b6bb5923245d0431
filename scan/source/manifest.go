package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// errDigest says that bytes are not what their digest names.
var errDigest = errors.New("wrong digest")

const damagedHint = "the image is damaged or was tampered with: pull or build it again"

// digestOf is the SHA-256 digest of bytes.
func digestOf(b []byte) string {
	h := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(h[:])
}

// verify compares bytes with the descriptor that names them.
func verify(b []byte, d v1.Descriptor) error {
	if d.Digest.Algorithm != "sha256" {
		return fmt.Errorf("digests of kind %q are not supported", d.Digest.Algorithm)
	}
	if got := digestOf(b); got != d.Digest.String() {
		if d.Size > int64(len(b)) {
			return hintf("copy or pull the image again", "%w: the blob is cut off, %d of %d bytes are there", errDigest, len(b), d.Size)
		}
		return hintf(damagedHint, "%w: the blob is %s, it is named %s", errDigest, got, d.Digest)
	}
	return nil
}

// kind is what a manifest of some media type is.
type kind int

const (
	isImage kind = iota + 1
	isIndex
)

// kindOf tells a manifest by its media type, and by its shape where it has
// none.
func kindOf(mt types.MediaType, raw []byte) (kind, error) {
	if mt == "" {
		var shape struct {
			MediaType types.MediaType `json:"mediaType"`
			Manifests json.RawMessage `json:"manifests"`
			Layers    json.RawMessage `json:"layers"`
		}
		if err := json.Unmarshal(raw, &shape); err != nil {
			return 0, fmt.Errorf("invalid JSON: %w", err)
		}
		switch {
		case shape.MediaType != "":
			mt = shape.MediaType
		case shape.Manifests != nil:
			return isIndex, nil
		case shape.Layers != nil:
			return isImage, nil
		}
	}
	switch mt {
	case types.OCIImageIndex, types.DockerManifestList:
		return isIndex, nil
	case types.OCIManifestSchema1, types.DockerManifestSchema2:
		return isImage, nil
	case types.DockerManifestSchema1, types.DockerManifestSchema1Signed:
		return 0, hintf("push the image again with a current tool", "manifests of Docker's schema 1 are not supported")
	}
	return 0, fmt.Errorf("unknown media type %q: it is no image", mt)
}

// emptyConfig is the type of the configuration that artifacts have which are no
// images: signatures, lists of packages. Nothing can run them.
const emptyConfig = "application/vnd.oci.empty.v1+json"

var errArtifact = fmt.Errorf("its configuration is of type %q: it is no container image", emptyConfig)

// errTrailing says that something follows a document that was read.
var errTrailing = errors.New("it is followed by something else")

// parseManifest reads an image manifest and checks what it claims.
func parseManifest(raw []byte) (*v1.Manifest, error) {
	m, err := v1.ParseManifest(bytes.NewReader(raw))
	if err == nil && !json.Valid(raw) { // the parser stops at the end of the first value
		err = errTrailing
	}
	if err != nil {
		return nil, fmt.Errorf("invalid manifest: %w", err)
	}
	if len(m.Layers) > maxLayers {
		return nil, fmt.Errorf("the manifest has %d layers, more than %d", len(m.Layers), maxLayers)
	}
	switch m.Config.MediaType {
	case types.OCIConfigJSON, types.DockerConfigJSON, "":
	case emptyConfig:
		return nil, errArtifact
	default:
		return nil, fmt.Errorf("its configuration is of type %q: it is no container image", m.Config.MediaType)
	}
	if m.Config.Digest.Hex == "" {
		return nil, errors.New("the manifest names no configuration")
	}
	for i, l := range m.Layers {
		if l.Digest.Hex == "" || l.Size < 0 {
			return nil, fmt.Errorf("layer %d has no digest or size", i)
		}
		if !layerType(l.MediaType) {
			return nil, fmt.Errorf("layer %d is of type %q: it is no container image", i, l.MediaType)
		}
	}
	return m, nil
}

// layerType says whether a media type may be a layer's. How a layer is
// compressed is told by its content.
func layerType(mt types.MediaType) bool {
	switch {
	case mt == "", mt.IsLayer(), !mt.IsDistributable():
		return true
	}
	// Tools have written others for plain and zstd layers.
	s := string(mt)
	return bytes.Contains([]byte(s), []byte("layer")) || bytes.Contains([]byte(s), []byte("rootfs.diff"))
}

// parseConfig reads a configuration.
func parseConfig(raw []byte) (*v1.ConfigFile, error) {
	c, err := v1.ParseConfigFile(bytes.NewReader(raw))
	if err == nil && !json.Valid(raw) {
		err = errTrailing
	}
	if err != nil {
		return nil, fmt.Errorf("invalid configuration: %w", err)
	}
	return c, nil
}
