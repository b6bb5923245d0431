package layers

import (
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/scan/catalog"
	"github.com/gpulint/gpulint/scan/packages"
)

// maxLookups bounds how many hard links whose names matter are looked for in
// the index.
const maxLookups = 1000

// hardlink gives what was found in a file a second name. It notes where the
// second name alone makes the file matter: its content was passed by.
func (w *walker) hardlink(abs, target string) {
	t, ok := cleanName(target)
	if ok {
		t, ok = w.paths.canonical(t)
	}
	if !ok {
		w.paths.add(strings.TrimPrefix(abs, "/"), Regular, "")
		w.forget(abs)
		return
	}
	if to, is := w.paths.readlink(t); is {
		// A hard link to a symbolic link is one, too.
		w.paths.add(strings.TrimPrefix(abs, "/"), Symlink, to)
		w.forget(abs)
		w.symlink(abs, to)
		return
	}
	w.paths.add(strings.TrimPrefix(abs, "/"), Regular, "")
	w.forget(abs)
	from := "/" + t
	judged := w.again(abs, from)
	if !w.matters(abs) || judged {
		return
	}
	if w.lookups++; w.lookups > maxLookups || !w.paths.has(t) || !w.matters(from) {
		// Best effort: what the file of a lower layer is named there is judged.
		w.f.incomplete("hard-link", abs, "what files hold that get their names by hard links to files of other names or of lower layers")
	}
}

// again notes what is known of a file under a second name, and says whether the
// file was judged as a driver's.
func (w *walker) again(abs, from string) (judged bool) {
	if i, ok := w.driver[from]; ok {
		d := w.f.DriverFiles[i]
		d.Path, d.Place = abs, place(abs)
		w.addDriver(d)
		judged = true
	}
	if i, ok := w.binary[from]; ok {
		b := w.f.Binaries[i]
		b.Path = abs
		w.addBinary(b)
		// Files with a driver library's SONAME were looked into for versions.
		_, known := catalog.SONAME(b.SONAME)
		judged = judged || known
	}
	if i, ok := w.runtime[from]; ok {
		r := w.f.Runtimes[i]
		r.Path = abs
		w.addRuntime(r)
	}
	if w.live[from] == 0 || !w.matters(abs) {
		return judged
	}
	w.textsAgain(abs, from)
	return judged
}

// textsAgain does the same for what was read in files of text.
func (w *walker) textsAgain(abs, from string) {
	serial := w.live[from]
	for i := range w.f.Toolkits {
		if t := w.f.Toolkits[i]; t.Path == from && w.toolkits[i] == serial {
			t.Path = abs
			w.f.Toolkits = append(w.f.Toolkits, t)
			w.from(abs, &w.toolkits)
		}
	}
	for i := range w.f.Statements {
		if s := w.f.Statements[i]; s.Path == from && w.statements[i] == serial {
			s.Path = abs
			w.f.Statements = append(w.f.Statements, s)
			w.from(abs, &w.statements)
		}
	}
	for i := range w.f.Conf {
		if c := w.f.Conf[i]; c.Path == from && w.confs[i] == serial {
			c.Path = abs
			w.f.Conf = append(w.f.Conf, c)
			w.from(abs, &w.confs)
		}
	}
	_, oldDir, wheel := packages.PipRecord(from)
	_, newDir, _ := packages.PipRecord(abs)
	for i := range w.f.Records {
		if r := w.f.Records[i]; r.Path == from && w.packages[i] == serial {
			r.Path = abs
			w.f.Records = append(w.f.Records, r)
			w.from(abs, &w.packages)
		}
	}
	if !wheel {
		return
	}
	// uv and pip make wheels' files hard links of their cache: the paths of a
	// RECORD begin at its own directory.
	for _, p := range slices.Clone(w.ownedBy[from]) {
		o, ok := w.owners[p]
		if rest, below := strings.CutPrefix(p, strings.TrimSuffix(oldDir, "/")+"/"); ok && below && o.record == from && o.serial == serial {
			w.own(abs, path.Join(newDir, rest), o.Owner)
		}
	}
}

// matters says whether the name alone makes a file one to be looked into, beside
// all that are ELF files.
func (w *walker) matters(abs string) bool {
	dir, base := path.Split(abs)
	if _, ok := catalog.Match(base); ok {
		return true
	}
	switch {
	case abs == packages.DpkgStatus, strings.HasPrefix(abs, packages.DpkgStatusDir), packages.RpmDatabase(abs),
		slices.Contains(packages.ApkInstalled, abs),
		abs == "/etc/ld.so.conf", dir == "/etc/ld.so.conf.d/" && strings.HasSuffix(base, ".conf"), abs == "/etc/ld.so.cache":
		return true
	case base == "version.json", base == "version.txt":
		return strings.Contains(strings.ToLower(path.Base(path.Dir(abs))), "cuda")
	case base == "RECORD":
		_, _, ok := packages.PipRecord(abs)
		return ok
	case strings.HasSuffix(base, ".json"):
		_, ok := packages.CondaMeta(abs)
		return ok
	}
	if _, ok := packages.DpkgListOwner(abs); ok {
		return true
	}
	return slices.ContainsFunc(statementFiles, func(f struct{ suffix, framework string }) bool { return strings.HasSuffix(abs, f.suffix) })
}
