package layers

import (
	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/packages"
)

// Facts are what one layer holds. Paths are absolute; the Layer fields of the
// single facts are set by [Merge].
type Facts struct {
	// Digest and DiffID are computed from the bytes; empty where they were not
	// read whole.
	Digest string
	DiffID string
	// Verified says that the digest that the manifest names, or else the diff
	// ID, was computed and holds.
	Verified bool
	// Size is that of the blob as read, in bytes; of a seekable one its size.
	Size int64
	// Entries is the number of tar entries.
	Entries     int
	DriverFiles []facts.DriverFile
	Runtimes    []facts.Runtime
	Toolkits    []facts.Toolkit
	Binaries    []facts.Binary
	// Conf are the linker's configuration files.
	Conf []ConfFile
	// Statements are what files of frameworks say of their versions.
	Statements []Statement
	// LinkerCache is what /etc/ld.so.cache has of CUDA and the driver.
	LinkerCache []CacheEntry
	// Records are packages of the driver and of CUDA, and those that depend on
	// one of the driver's.
	Records []PackageRecord
	// Owners are the packages that own paths with interesting names, by path
	// as the record spells it.
	Owners map[string]packages.Owner
	// Incomplete lists the limits that were hit.
	Incomplete []facts.Incomplete
	Index      *Index
}

// ConfFile is a configuration file of the dynamic linker.
type ConfFile struct {
	Path string
	// Dirs are directories and "include" patterns, in order.
	Lines []string
}

// CacheEntry is an entry of the linker's cache, with the file that holds it.
type CacheEntry struct {
	facts.CachedLibrary
	Cache string
}

// PackageRecord is a package record with the file that holds it.
type PackageRecord struct {
	packages.Record
	Path string
}

// incomplete counts a limit that was hit.
func (f *Facts) incomplete(limit, path, hides string) {
	for i := range f.Incomplete {
		if f.Incomplete[i].Limit == limit {
			f.Incomplete[i].Count++
			return
		}
	}
	f.Incomplete = append(f.Incomplete, facts.Incomplete{Limit: limit, Path: path, Hides: hides, Count: 1})
}
