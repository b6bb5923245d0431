package layers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/catalog"
)

// Bounds of /etc/ld.so.cache: real ones have some hundred entries.
const (
	maxLinkerCache   = 8 << 20 // bytes
	maxLinkerEntries = 1 << 16
)

// The two formats of the cache; the newer may follow the older in one file.
const (
	oldCache = "ld.so-1.7.0"
	newCache = "glibc-ld.so.cache1.1"
)

var errLinkerCache = errors.New("neither of glibc's formats")

// parseLinkerCache calls yield for each entry of the linker's cache, in its
// order.
func parseLinkerCache(b []byte, yield func(name, path string)) error {
	const oldHeader, oldEntry = 16, 12
	if bytes.HasPrefix(b, []byte(oldCache)) && len(b) >= oldHeader {
		n := uint64(binary.LittleEndian.Uint32(b[12:]))
		if n > maxLinkerEntries || oldHeader+n*oldEntry > uint64(len(b)) {
			return errLinkerCache
		}
		rest := b[oldHeader+n*oldEntry:]
		// The newer format is aligned to eight bytes.
		at := (oldHeader + n*oldEntry + 7) &^ 7
		if at < uint64(len(b)) && bytes.HasPrefix(b[at:], []byte(newCache)) {
			return parseNewCache(b[at:], yield)
		}
		for i := range n {
			e := b[oldHeader+i*oldEntry:]
			cacheEntry(rest, e[4:], yield)
		}
		return nil
	}
	return parseNewCache(b, yield)
}

func parseNewCache(b []byte, yield func(name, path string)) error {
	const header, entry = 48, 24
	if !bytes.HasPrefix(b, []byte(newCache)) || len(b) < header {
		return errLinkerCache
	}
	n := uint64(binary.LittleEndian.Uint32(b[20:]))
	if n > maxLinkerEntries || header+n*entry > uint64(len(b)) {
		return errLinkerCache
	}
	for i := range n {
		cacheEntry(b, b[header+i*entry+4:], yield)
	}
	return nil
}

// cacheEntry reads the places of a name and a path, which lie in texts.
func cacheEntry(texts, e []byte, yield func(name, path string)) {
	text := func(at uint32) string {
		if uint64(at) >= uint64(len(texts)) {
			return ""
		}
		s, _, ok := bytes.Cut(texts[at:min(uint64(len(texts)), uint64(at)+maxPathLength)], []byte{0})
		if !ok {
			return ""
		}
		return string(s)
	}
	name, path := text(binary.LittleEndian.Uint32(e)), text(binary.LittleEndian.Uint32(e[4:]))
	if name != "" && path != "" {
		yield(name, path)
	}
}

// linkerCache keeps what the linker's cache has of CUDA's and the driver's
// libraries.
func (w *walker) linkerCache(abs string, r io.Reader) error {
	b, whole, err := limited(r, maxLinkerCache)
	if err != nil {
		return err
	}
	if !whole {
		w.f.incomplete("ld.so.cache", abs, "what the linker's cache says: it is too large")
		return nil
	}
	// The linker takes no notice of a cache that is none, either.
	_ = parseLinkerCache(b, func(name, path string) {
		if !catalog.Opened(name) {
			return
		}
		if len(w.f.LinkerCache) >= w.o.Limits.Facts {
			w.f.incomplete("ld.so.cache", abs, "entries of the linker's cache")
			return
		}
		w.f.LinkerCache = append(w.f.LinkerCache, CacheEntry{CachedLibrary: facts.CachedLibrary{Name: name, Path: path}, Cache: abs})
		w.from(abs, &w.cached)
	})
	return nil
}
