package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gpulint/gpulint/scan"
	"github.com/gpulint/gpulint/scan/cache"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// cacheDir is where facts of layers are kept: what the user says, or else a
// directory of its own in the user's cache directory.
func cacheDir(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the cache is known: %w", err)
	}
	return filepath.Join(dir, "gpulint"), nil
}

// layerCache is the cache of one run.
type layerCache struct {
	*cache.Cache
	dir string
	say func(text string)

	mu   sync.Mutex
	hits int
	// failed says that it was said that the cache does not work.
	failed bool
}

// openCache opens the cache. Without one the scan goes on, unless the user named
// it.
func (r *runner) openCache(limits layers.Limits) error {
	l := &layerCache{say: func(text string) {
		if r.o.verbose && !r.o.quiet {
			say(r.errw, text)
		}
	}}
	r.cache = l
	if r.o.noCache {
		return nil
	}
	dir, err := cacheDir(r.o.cacheDir)
	if err == nil {
		l.dir = dir
		l.Cache, err = cache.Open(dir, limits)
	}
	switch {
	case err != nil && r.o.cacheDir != "":
		return &usageError{fmt.Errorf("--cache-dir: %w", err), "name a directory that can be written, or give --no-cache"}
	case err != nil:
		l.say("going on without a cache: " + err.Error())
	}
	return nil
}

// tell is told of layers that were in the cache, and of what fails.
func (l *layerCache) tell(_ source.Layer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.hits++
	case !l.failed:
		l.failed = true
		l.say(err.Error())
	}
}

// close ends the use of the cache.
func (l *layerCache) close() {
	if l.hits > 0 {
		l.say(fmt.Sprintf("%d layers were not read again: their facts were in %s", l.hits, l.dir))
	}
	for _, err := range []error{l.Tidy(), l.Close()} {
		if err != nil {
			l.tell(source.Layer{}, err)
		}
	}
}

// cached is the cache as scans use it; more is told of each layer that is in it.
func (l *layerCache) cached(more func(source.Layer)) scan.Cached {
	return scan.Cached{Cache: l.Cache, Tell: func(layer source.Layer, err error) {
		l.tell(layer, err)
		if err == nil && more != nil {
			more(layer)
		}
	}}
}
