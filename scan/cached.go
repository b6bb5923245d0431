package scan

import (
	"context"

	"github.com/gpulint/gpulint/scan/cache"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// minClaimed is the size in bytes from which the cache is used for a layer that
// only claims its digest: below it is read as fast, and then it is verified.
const minClaimed = 4 << 20

// Cached says how the facts of layers are kept between scans.
type Cached struct {
	// Cache holds them, nil if they are not kept.
	Cache *cache.Cache
	// Tell, if not nil, is told of each layer whose facts were there, and of
	// what fails: it never fails a scan.
	Tell func(l source.Layer, err error)
}

// get returns the facts of a layer that was read by an earlier scan, nil if
// there are none. An error says that they are of another layer than the
// configuration claims.
func (c Cached) get(ctx context.Context, l source.Layer, o Options) (*layers.Facts, error) {
	if c.Cache == nil || o.Verify || l.Digest == "" || !l.Addressed && l.Size < minClaimed {
		return nil, nil //nolint:nilnil // it is to be read
	}
	f, err := c.Cache.Get(l.Digest)
	if err != nil {
		c.tell(l, err)
	}
	if f == nil || l.Size >= 0 && f.Size != l.Size || f.DiffID == "" && o.Base.compares(l) {
		return nil, nil //nolint:nilnil // it is to be read
	}
	if !o.Base.compares(l) {
		// A layer that is read has no diff ID without a reason, either.
		kept := *f
		kept.DiffID = ""
		f = &kept
	}
	if f, err = claimed(f, l); err != nil {
		return nil, err
	}
	if !l.Addressed {
		if o.Base.compares(l) {
			return nil, nil //nolint:nilnil // its diff ID is not known unless it is read
		}
		// They are of the blob that the manifest names. Whether it is this one
		// only its bytes tell, but it must be there, and of its size.
		b, err := l.Open(ctx)
		if err == nil {
			err = b.Close()
		}
		if err != nil {
			return nil, err
		}
		f.Digest, f.Verified = "", false
	}
	c.tell(l, nil)
	return f, nil
}

// put keeps the facts of a layer that was read as a whole.
func (c Cached) put(l source.Layer, f *layers.Facts) {
	if err := c.Cache.Put(f); err != nil {
		c.tell(l, err)
	}
}

func (c Cached) tell(l source.Layer, err error) {
	if c.Tell != nil {
		c.Tell(l, err)
	}
}
