// Package cache keeps the facts of layers in a directory, so that a layer that
// was read once is not fetched again. There is one file for each layer, written
// under a temporary name and renamed: no lock, any number of processes.
//
// A layer is found by the digest of its blob as it was computed from the bytes,
// together with all else that its facts depend on. Nothing that an image merely
// claims stores anything.
package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"time"

	"github.com/gpulint/gpulint/scan/catalog"
	"github.com/gpulint/gpulint/scan/layers"
)

const (
	// prefix begins the names of the directories, one for each version of facts.
	prefix = "facts-"
	suffix = ".facts"
	// temporary begins the names of files that are being written.
	temporary = "tmp-"
	// tag names the file that tells backup programs what the directory is.
	tag = "CACHEDIR.TAG"
	// lastPrune is the file whose time is that of the last pruning.
	lastPrune = "facts-pruned"
)

// used is how old the time of a file may be before a use of it renews it.
const used = time.Hour

// Cache is a directory of facts. All methods of a nil Cache do nothing. It is
// safe for concurrent use, by several processes too.
type Cache struct {
	root   *os.Root
	limits layers.Limits
	// key is the hash of what facts depend on beside the bytes of the layer,
	// generation the directory of those that have it.
	key        [sha256.Size]byte
	generation string
	// now is the time, replaced by tests.
	now func() time.Time
}

// Open opens the cache in a directory, which is made if it is not there, for
// facts that are taken with these limits. The error names the directory.
func Open(dir string, limits layers.Limits) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return OpenExisting(dir, limits)
}

// OpenExisting is [Open] of a directory that is there. The error wraps
// fs.ErrNotExist if it is not.
func OpenExisting(dir string, limits layers.Limits) (*Cache, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	c := &Cache{root: root, limits: limits, now: time.Now}
	c.key = sha256.Sum256(fmt.Appendf(nil, "version %d tables %s limits %+v mode stream", layers.Version, catalog.Hash(), limits))
	c.generation = prefix + hex.EncodeToString(c.key[:8])
	return c, nil
}

// Close releases the directory.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	return c.root.Close()
}

var sha256Digest = regexp.MustCompile(`^sha256:([0-9a-f]{64})$`)

// file is the path of the facts of a blob. It is false for digests that are
// none as gpulint computes them.
func (c *Cache) file(digest string) (string, bool) {
	m := sha256Digest.FindStringSubmatch(digest)
	if m == nil {
		return "", false
	}
	return path.Join(c.generation, m[1][:2], m[1]+suffix), true
}

// Get returns the facts of the blob with a digest, nil if there are none. An
// error says that there were some which cannot be used; they are gone then.
func (c *Cache) Get(digest string) (*layers.Facts, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // none
	}
	name, ok := c.file(digest)
	if !ok {
		return nil, nil //nolint:nilnil // none
	}
	data, modified, err := c.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // none
	}
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	f, err := c.open(digest, data)
	if err != nil {
		_ = c.root.Remove(name) // or else it is written over
		return nil, fmt.Errorf("cache: %s is damaged: %w", name, err)
	}
	if now := c.now(); now.Sub(modified) > used {
		_ = c.root.Chtimes(name, now, now) // only makes it be pruned earlier
	}
	return f, nil
}

// Put keeps the facts of a layer under the digest that was computed from its
// bytes. Facts without one, and partial ones, are not kept.
func (c *Cache) Put(f *layers.Facts) error {
	if c == nil || len(f.Incomplete) > 0 {
		return nil
	}
	name, ok := c.file(f.Digest)
	if !ok {
		return nil
	}
	if err := c.write(name, f); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	return nil
}
