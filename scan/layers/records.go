package layers

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/scan/catalog"
	"github.com/gpulint/gpulint/scan/packages"
)

// maxDepends is how many dependencies on driver packages are kept of a layer.
const maxDepends = 200_000

// dpkgStatus reads package records.
func (w *walker) dpkgStatus(abs string, r io.Reader) error {
	err := packages.ReadDpkg(r, func(rec packages.Record) {
		keep := catalog.DriverPackage(rec.Name) || catalog.CUDAPackage(rec.Name)
		var deps []string
		for _, d := range rec.Depends {
			if !catalog.DriverPackage(d) {
				continue
			}
			if w.depends++; w.depends > maxDepends {
				w.f.incomplete("packages", abs, "which packages pull others in")
				break
			}
			deps = append(deps, strings.Clone(d)) // not the line it stands in
		}
		if !keep && len(deps) == 0 {
			return
		}
		rec.Depends = deps
		if len(w.f.Records) >= w.o.Limits.Facts {
			w.f.incomplete("packages", abs, "further package records")
			return
		}
		w.addRecord(abs, rec)
	})
	return w.recordLimit(abs, err)
}

// records reads what package managers keep of single packages.
func (w *walker) records(abs, base string, r io.Reader) (bool, error) {
	if owner, ok := packages.DpkgListOwner(abs); ok {
		o := packages.Owner{Manager: packages.Dpkg, Name: owner}
		return true, w.recordLimit(abs, packages.ReadDpkgList(r, func(p string) { w.own(abs, p, o) }))
	}
	switch {
	case packages.RpmDatabase(abs):
		return true, w.rpm(abs, r)
	case base == "RECORD":
		rec, dir, ok := packages.PipRecord(abs)
		if !ok {
			return false, nil
		}
		owns := false
		err := packages.ReadPipRecord(r, dir, func(p string) {
			owns = w.own(abs, p, packages.Owner{Manager: packages.Pip, Name: rec.Name}) || owns
		})
		w.record(abs, rec, owns)
		return true, w.recordLimit(abs, err)
	case base == "installed" && slices.Contains(packages.ApkInstalled, abs):
		return true, w.recordLimit(abs, packages.ReadApk(r, interesting, func(rec packages.Record, files []string) {
			for _, p := range files {
				w.own(abs, p, packages.Owner{Manager: packages.Apk, Name: rec.Name})
			}
			w.record(abs, rec, len(files) > 0)
		}))
	case strings.HasSuffix(base, ".json"):
		prefix, ok := packages.CondaMeta(abs)
		if !ok {
			return false, nil
		}
		var files []string
		rec, err := packages.ReadConda(r, prefix, func(p string) {
			if interesting(p) {
				files = append(files, p)
			}
		})
		for _, p := range files {
			w.own(abs, p, packages.Owner{Manager: packages.Conda, Name: rec.Name})
		}
		w.record(abs, rec, len(files) > 0)
		return true, w.recordLimit(abs, err)
	}
	return false, nil
}

// rpm reads a database of rpm by way of a temporary file.
func (w *walker) rpm(abs string, r io.Reader) error {
	tmp, err := os.CreateTemp(w.o.TmpDir, "gpulint-rpm-*")
	if err != nil {
		w.f.incomplete("packages", abs, "the packages of rpm, for which a temporary file is needed: "+err.Error())
		return nil
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // nothing else can be done
	n, err := io.Copy(tmp, io.LimitReader(r, packages.MaxRpm+1))
	if cerr := tmp.Close(); err == nil && cerr != nil {
		w.f.incomplete("packages", abs, "the packages of rpm, for which a temporary file is needed: "+cerr.Error())
		return nil
	}
	var pe *os.PathError
	switch {
	case errors.As(err, &pe) && pe.Path == tmp.Name():
		w.f.incomplete("packages", abs, "the packages of rpm, for which a temporary file is needed: "+err.Error())
		return nil
	case err != nil:
		return err
	case n > packages.MaxRpm:
		w.f.incomplete("packages", abs, "the packages of rpm: its database is too large")
		return nil
	case n == 0:
		return nil
	}
	err = packages.ReadRpm(tmp.Name(), interesting, func(rec packages.Record, files []string) {
		for _, p := range files {
			w.own(abs, p, packages.Owner{Manager: packages.Rpm, Name: rec.Name})
		}
		w.record(abs, rec, len(files) > 0)
	})
	if err != nil {
		// The image may be whole, and only its database not what is known.
		w.f.incomplete("packages", abs, "packages of rpm: "+strings.ReplaceAll(err.Error(), tmp.Name(), "the database"))
	}
	return nil
}

// interesting says whether a path may be of a file that matters: a shared
// library, or a program of the driver.
func interesting(p string) bool {
	base := path.Base(p)
	if strings.Contains(base, ".so") {
		return true
	}
	_, ok := catalog.Match(base)
	return ok
}

// own notes the owner of a path, and says whether it matters.
func (w *walker) own(record, p string, o packages.Owner) bool {
	if o.Name == "" || !interesting(p) {
		return false
	}
	before, ok := w.owners[p]
	ok = ok && w.live[before.record] == before.serial
	switch {
	case ok && !o.Outranks(before.Owner) && before.Manager != o.Manager:
	case !ok && len(w.owners) >= w.o.Limits.Facts:
		w.f.incomplete("packages", record, "the owners of some files")
	default:
		if w.owners == nil {
			w.owners = map[string]owned{}
		}
		p = strings.Clone(p)
		w.owners[p] = owned{o, record, w.keep(record)}
		if o.Manager == packages.Pip {
			if w.ownedBy == nil {
				w.ownedBy = map[string][]string{}
			}
			w.ownedBy[record] = append(w.ownedBy[record], p)
		}
	}
	return true
}

// record keeps the record of a package that matters: by its name, by the files
// that it owns, or because it wants a package of the driver.
func (w *walker) record(abs string, rec packages.Record, owns bool) {
	rec.Depends = slices.DeleteFunc(rec.Depends, func(d string) bool { return !catalog.DriverPackage(d) })
	owns = owns || len(rec.Depends) > 0
	if rec.Name == "" || !owns && !catalog.DriverPackage(rec.Name) && !catalog.CUDAPackage(rec.Name) {
		return
	}
	if w.depends += len(rec.Depends); w.depends > maxDepends {
		w.f.incomplete("packages", abs, "which packages pull others in")
		rec.Depends = nil
	}
	if len(w.f.Records) >= w.o.Limits.Facts {
		w.f.incomplete("packages", abs, "further package records")
		return
	}
	w.addRecord(abs, rec)
}

func (w *walker) addRecord(abs string, rec packages.Record) {
	w.f.Records = append(w.f.Records, PackageRecord{Record: rec, Path: abs})
	w.from(abs, &w.packages)
}

func (w *walker) recordLimit(abs string, err error) error {
	if errors.Is(err, packages.ErrLimit) {
		w.f.incomplete("packages", abs, "package records: "+err.Error())
		return nil
	}
	return err
}
