package packages

import (
	"fmt"
	"path"
	"slices"
	"strings"

	rpmdb "github.com/anchore/go-rpmdb/pkg"
	_ "github.com/glebarez/go-sqlite" // the database of rpm since 4.16
)

// Rpm is the manager of Red Hat's, SUSE's and Amazon's distributions.
const Rpm = "rpm"

// MaxRpm is the size in bytes up to which a database of rpm is read.
const MaxRpm = 512 << 20

// rpmDirs and rpmFiles are where rpm keeps its database: Berkeley DB, ndb, and
// SQLite.
var (
	rpmDirs  = []string{"/var/lib/rpm", "/usr/lib/sysimage/rpm", "/usr/share/rpm"}
	rpmFiles = []string{"Packages", "Packages.db", "rpmdb.sqlite"}
)

// RpmDatabase says whether a path is that of a database of rpm.
func RpmDatabase(p string) bool {
	return slices.Contains(rpmFiles, path.Base(p)) && slices.Contains(rpmDirs, path.Dir(p))
}

// ReadRpm reads a database of rpm in a file: the library that knows its three
// formats opens paths only. keep gets each record with those of its files, as
// absolute paths, that want accepts. A broken database is an error, never a
// panic.
func ReadRpm(file string, want func(path string) bool, keep func(rec Record, files []string)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a broken database: %v", r)
		}
	}()
	db, err := rpmdb.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // read only
	list, err := db.ListPackages()
	if err != nil {
		return err
	}
	for n, p := range list {
		if n >= maxRecords {
			return fmt.Errorf("more than %d records: %w", maxRecords, ErrLimit)
		}
		if p == nil || p.Name == "" {
			continue
		}
		rec := Record{
			Manager: Rpm, Name: short(p.Name), Version: short(p.Version + "-" + p.Release), Arch: short(p.Arch),
			Source: short(p.SourceRpm), State: Installed,
		}
		for _, d := range p.Requires {
			// Names of packages; not of libraries, files and features.
			if !strings.ContainsAny(d, "(/ ") && len(rec.Depends) < maxDepends {
				rec.Depends = append(rec.Depends, short(d))
			}
		}
		names, err := p.InstalledFileNames()
		if err != nil {
			return fmt.Errorf("the files of %s: %w", rec.Name, err)
		}
		var files []string
		for _, f := range names {
			if f = path.Clean("/" + f); len(f) <= maxPath && want(f) {
				files = append(files, f)
			}
		}
		keep(rec, files)
	}
	return nil
}
