package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
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
	// Temporary says that it is being written, or was.
	Temporary bool
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
		case d.IsDir() && !ourDir.MatchString(p):
			return fs.SkipDir
		case !d.Type().IsRegular() || !ourFile.MatchString(p):
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
			Temporary: strings.HasPrefix(path.Base(p), temporary),
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

// Paths that a cache makes: facts-KEY/xx/HEX.facts, and a temporary file beside.
var (
	ourDir  = regexp.MustCompile(`^` + prefix + `[0-9a-f]{16}(?:/[0-9a-f]{2})?$`)
	ourFile = regexp.MustCompile(`^` + prefix + `[0-9a-f]{16}/[0-9a-f]{2}/(?:[0-9a-f]{64}\` + suffix + `|` + temporary + `[A-Z0-9]{1,64})$`)
)

// Prune deletes files that were not used for maxAge, and then those used least
// of late until no more than maxBytes are left. It returns what it deleted.
func (c *Cache) Prune(maxBytes int64, maxAge time.Duration) (files int, bytes int64, err error) {
	var kept int64
	return c.delete(func(e Entry, age time.Duration) bool {
		if e.Temporary {
			return age >= staleTemporary
		}
		kept += e.Size // of one that is deleted too: all that were used before go with it
		return age > maxAge || kept > maxBytes
	})
}

// Clear deletes all that gpulint has made in the directory.
func (c *Cache) Clear() (files int, bytes int64, err error) {
	files, bytes, err = c.delete(func(Entry, time.Duration) bool { return true })
	if c == nil {
		return files, bytes, err
	}
	for name, text := range map[string]string{tag: tagText, lastPrune: ""} {
		if data, _, rerr := c.read(name); rerr == nil && string(data) == text {
			if rerr := c.root.Remove(name); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, fmt.Errorf("cache: %w", rerr))
			}
		}
	}
	return files, bytes, err
}

// delete deletes the files that are wanted, of those used last first.
func (c *Cache) delete(want func(e Entry, age time.Duration) bool) (files int, bytes int64, err error) {
	list, err := c.Entries()
	if err != nil || c == nil {
		return 0, 0, err
	}
	now := c.now()
	var failed []error
	for _, e := range list {
		if !want(e, now.Sub(e.Used)) {
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

// sweep removes directories of its own that are empty. Others stay: removing
// fails.
func (c *Cache) sweep() {
	var dirs []string
	_ = fs.WalkDir(c.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || p == ".":
			return nil //nolint:nilerr // what cannot be read stays
		case d.IsDir() && ourDir.MatchString(p):
			dirs = append(dirs, p)
			return nil
		case d.IsDir():
			return fs.SkipDir
		}
		return nil
	})
	for _, d := range slices.Backward(dirs) {
		_ = c.root.Remove(d)
	}
}

// Tidy prunes a cache that was not pruned for a day, so that it does not grow
// without end.
func (c *Cache) Tidy() error {
	if c == nil {
		return nil
	}
	now := c.now()
	// A file of another kind would be waited for.
	switch st, err := c.root.Lstat(lastPrune); {
	case err == nil && !st.Mode().IsRegular():
		return fmt.Errorf("cache: %s is not a regular file", lastPrune)
	case err == nil && now.Sub(st.ModTime()) < pruneEvery:
		return nil
	}
	if err := c.root.WriteFile(lastPrune, nil, 0o600); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	_ = c.root.Chtimes(lastPrune, now, now) // else it is pruned again earlier
	_, _, err := c.Prune(DefaultMaxBytes, DefaultMaxAge)
	return err
}
