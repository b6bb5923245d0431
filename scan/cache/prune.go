package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// What pruning keeps unless told otherwise.
const (
	DefaultMaxBytes = 1 << 30
	DefaultMaxAge   = 30 * 24 * time.Hour
)

// pruneEvery is how often a cache prunes itself.
const pruneEvery = 24 * time.Hour

// staleTemporary is how old a temporary file is that nobody writes any more.
const staleTemporary = time.Hour

// maxFiles bounds how many files are looked at.
const maxFiles = 1 << 20

// Entry is the file of one layer.
type Entry struct {
	// Path is relative to the cache's directory.
	Path string
	// Size is in bytes.
	Size int64
	// Used is about when it was used last.
	Used time.Time
	// Current says that this gpulint can use it, with the limits that the cache
	// was opened for.
	Current bool
	// temporary says that it is being written, or was.
	temporary bool
}

// Entries lists the files of the cache, those used last first. What gpulint has
// not made is not listed.
func (c *Cache) Entries() ([]Entry, error) {
	if c == nil {
		return nil, nil
	}
	var list []Entry
	err := fs.WalkDir(c.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another process prunes as well
		case err != nil:
			return err
		case p == ".":
			return nil
		case d.IsDir():
			if !ours(p) {
				return fs.SkipDir
			}
			return nil
		case !ours(p) || !d.Type().IsRegular():
			return nil
		case len(list) == maxFiles:
			return fs.SkipAll
		}
		st, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it went away in the meantime
		}
		list = append(list, Entry{
			Path: p, Size: st.Size(), Used: st.ModTime(), Current: strings.HasPrefix(p, c.generation+"/"),
			temporary: strings.HasPrefix(path.Base(p), temporary),
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(b.Used.Compare(a.Used), strings.Compare(a.Path, b.Path))
	})
	return list, nil
}

// ours says whether a path is one that a cache makes: facts-KEY/xx/NAME.
func ours(p string) bool {
	part := strings.Split(p, "/")
	ok := strings.HasPrefix(part[0], prefix) && len(part) <= 3
	if len(part) > 1 {
		ok = ok && len(part[1]) == 2
	}
	if len(part) > 2 {
		ok = ok && (strings.HasSuffix(part[2], suffix) || strings.HasPrefix(part[2], temporary))
	}
	return ok
}

// Prune deletes files that were not used for maxAge, and then those used least
// of late until no more than maxBytes are left. It returns what it deleted.
func (c *Cache) Prune(maxBytes int64, maxAge time.Duration) (files int, bytes int64, err error) {
	list, err := c.Entries()
	if err != nil || c == nil {
		return 0, 0, err
	}
	now := c.now()
	var kept int64
	var failed []error
	for _, e := range list {
		age := now.Sub(e.Used)
		if e.temporary && age < staleTemporary {
			continue
		}
		if !e.temporary && age <= maxAge && kept+e.Size <= maxBytes {
			kept += e.Size
			continue
		}
		switch err := c.root.Remove(e.Path); {
		case err == nil:
			files++
			bytes += e.Size
		case !errors.Is(err, fs.ErrNotExist):
			failed = append(failed, fmt.Errorf("cache: %w", err))
		}
	}
	c.sweep()
	return files, bytes, errors.Join(failed...)
}

// Clear deletes all that gpulint has made in the directory.
func (c *Cache) Clear() (files int, bytes int64, err error) {
	files, bytes, err = c.Prune(-1, 0)
	if c != nil {
		for _, name := range []string{tag, lastPrune} {
			if rerr := c.root.Remove(name); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, fmt.Errorf("cache: %w", rerr))
			}
		}
	}
	return files, bytes, err
}

// sweep removes directories that are empty. Others stay: removing fails.
func (c *Cache) sweep() {
	dirs, _ := fs.Glob(c.root.FS(), prefix+"*/??")
	top, _ := fs.Glob(c.root.FS(), prefix+"*")
	for _, d := range append(dirs, top...) {
		if st, err := c.root.Lstat(d); err == nil && st.IsDir() {
			_ = c.root.Remove(d)
		}
	}
}

// Tidy prunes a cache that was not pruned for a day, so that it does not grow
// without end.
func (c *Cache) Tidy() error {
	if c == nil {
		return nil
	}
	now := c.now()
	if st, err := c.root.Stat(lastPrune); err == nil && now.Sub(st.ModTime()) < pruneEvery {
		return nil
	}
	if err := c.root.WriteFile(lastPrune, nil, 0o600); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	_ = c.root.Chtimes(lastPrune, now, now) // else it is pruned again earlier
	_, _, err := c.Prune(DefaultMaxBytes, DefaultMaxAge)
	return err
}
