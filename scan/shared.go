package scan

import (
	"sync"

	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// Shared are the layers of one [source.Set] that were read: its images often
// stand on the same base, which is then read once.
type Shared struct {
	mu    sync.Mutex
	facts map[string]*layers.Facts
}

// get returns the facts of a layer that was read before, nil if it was not, or
// not as it must be now.
func (s *Shared) get(l source.Layer, verify bool) (*layers.Facts, error) {
	if s == nil || l.Blob == "" {
		return nil, nil //nolint:nilnil // it is to be read
	}
	s.mu.Lock()
	f := s.facts[l.Blob]
	s.mu.Unlock()
	if f == nil || l.Size >= 0 && f.Size != l.Size || verify && (!f.Verified || f.DiffID == "") {
		return nil, nil //nolint:nilnil // it is to be read
	}
	return claimed(f, l)
}

func (s *Shared) put(l source.Layer, f *layers.Facts) {
	if s == nil || l.Blob == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts == nil {
		s.facts = map[string]*layers.Facts{}
	}
	s.facts[l.Blob] = f
}
