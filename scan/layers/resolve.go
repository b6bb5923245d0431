package layers

import (
	"path"
	"slices"
	"strings"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/catalog"
)

// resolver finds the files that the dynamic linker takes for the names that
// binaries need, as ld.so(8) of glibc and musl's do it after ldconfig has run:
// container toolkits run it at start. What lies in directories of hardware
// capabilities is left out.
type resolver struct {
	tree *Tree
	// files are the visible binaries by path.
	files map[string]*facts.Binary
	// bySONAME are the directories' binaries that have a SONAME, for ldconfig
	// makes its links.
	bySONAME map[string]map[string]string
	// env, conf and standard are directories, resolved.
	env, conf, standard []string
	musl                bool
	muslDirs            []string
	memo                map[[3]string]string
}

func (m *merger) newResolver() *resolver {
	r := &resolver{tree: m.tree, files: map[string]*facts.Binary{}, bySONAME: map[string]map[string]string{}, memo: map[[3]string]string{}}
	glibc := false
	for i := range m.img.Binaries {
		b := &m.img.Binaries[i]
		if b.Shadowed != nil {
			continue
		}
		r.files[b.Path] = b
		base := path.Base(b.Path)
		r.musl = r.musl || strings.HasPrefix(base, "ld-musl-")
		glibc = glibc || strings.HasPrefix(base, "ld-linux") || b.SONAME == "libc.so.6"
		if b.SONAME == "" || b.Kind != facts.BinaryLibrary {
			continue
		}
		dir := path.Dir(b.Path)
		if r.bySONAME[dir] == nil {
			r.bySONAME[dir] = map[string]string{}
		}
		// Of several, ldconfig links to the one with the newest name.
		if old := r.bySONAME[dir][b.SONAME]; old == "" || newerName(path.Base(b.Path), path.Base(old)) {
			r.bySONAME[dir][b.SONAME] = b.Path
		}
	}
	r.musl = r.musl && !glibc
	for _, d := range m.img.LinkerDirs {
		switch d.From {
		case "LD_LIBRARY_PATH":
			r.env = append(r.env, d.Resolved)
		case "default":
			r.standard = append(r.standard, d.Resolved)
		default:
			r.conf = append(r.conf, d.Resolved)
		}
	}
	r.muslDirs = []string{"/lib", "/usr/local/lib", "/usr/lib"}
	return r
}

// newerName compares names of files as ldconfig does: numbers by their value.
func newerName(a, b string) bool {
	for a != "" && b != "" {
		x, restA := leading(a)
		y, restB := leading(b)
		if x != y {
			if digits(x) && digits(y) {
				x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
				if len(x) != len(y) {
					return len(x) > len(y)
				}
			}
			if x != y {
				return x > y
			}
		}
		a, b = restA, restB
	}
	return len(a) > len(b)
}

func digits(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// leading cuts off the digits, or the other character, that a text begins with.
func leading(s string) (string, string) {
	n := 1
	if digits(s) {
		for n < len(s) && digits(s[n:]) {
			n++
		}
	}
	return s[:n], s[n:]
}

// resolve finds what a binary gets for a name that it needs: the file and what
// led to it, nothing if it gets none by itself, and the files that come after.
func (r *resolver) resolve(name string, from *facts.Binary) (file, via string, others []string) {
	if strings.Contains(name, "/") {
		if file = r.at(name, from.Machine); file != "" {
			via = facts.ViaPath
		}
		return file, via, nil
	}
	for _, step := range r.order(from) {
		for _, dir := range step.dirs {
			f := r.in(dir, name, from.Machine, step.ldconfig)
			switch {
			case f == "" || f == file || slices.Contains(others, f) || len(others) == maxOthers:
			case file == "":
				file, via = f, step.via
			default:
				others = append(others, f)
			}
		}
	}
	return file, via, others
}

// maxOthers bounds how many files of one name are listed.
const maxOthers = 16

// links notes what the binaries get for the libraries of CUDA and the driver,
// and which of all libraries they do not find.
func (m *merger) links() {
	r := m.newResolver()
	elsewhere := map[string][]string{}
	for i := range m.img.Binaries {
		if b := &m.img.Binaries[i]; b.SONAME != "" && b.Shadowed == nil && b.Kind == facts.BinaryLibrary && len(elsewhere[b.SONAME]) < maxOthers {
			elsewhere[b.SONAME] = append(elsewhere[b.SONAME], b.Path)
		}
	}
	for i := range m.img.Binaries {
		b := &m.img.Binaries[i]
		if b.Shadowed != nil || b.Kind == facts.BinaryObject {
			continue
		}
		for _, name := range b.Needed {
			file, via, others := r.resolve(name, b)
			if file != "" && !catalog.Opened(name) {
				continue
			}
			l := facts.Link{Name: name, Path: file, Via: via, Others: others}
			if file == "" {
				l.Elsewhere = elsewhere[name]
			}
			b.Links = append(b.Links, l)
		}
	}
}

// step is one place where the linker looks.
type step struct {
	via  string
	dirs []string
	// ldconfig says that the directories are indexed by SONAME.
	ldconfig bool
}

// order lists where the linker looks for what a binary needs.
func (r *resolver) order(from *facts.Binary) []step {
	rpath, runpath := r.origin(from.RPATH, from.Path), r.origin(from.RUNPATH, from.Path)
	if r.musl {
		if len(runpath) == 0 {
			runpath = rpath
		}
		return []step{{facts.ViaEnv, r.env, false}, {facts.ViaRUNPATH, runpath, false}, {facts.ViaDefault, r.muslDirs, false}}
	}
	steps := make([]step, 0, 5)
	if from.RUNPATH == "" {
		steps = append(steps, step{facts.ViaRPATH, rpath, false})
	}
	return append(steps, step{facts.ViaEnv, r.env, false}, step{facts.ViaRUNPATH, runpath, false}, step{facts.ViaConf, r.conf, true}, step{facts.ViaDefault, r.standard, true})
}

// origin takes a search path apart. Of the linker's variables only $ORIGIN and
// $LIB have a value that is known; entries with others are left out.
func (r *resolver) origin(list, file string) []string {
	var dirs []string
	for d := range strings.SplitSeq(list, ":") {
		for _, v := range []string{"$ORIGIN", "${ORIGIN}"} {
			d = strings.ReplaceAll(d, v, path.Dir(file))
		}
		lib := []string{d}
		if strings.Contains(d, "$LIB") || strings.Contains(d, "${LIB}") {
			lib = lib[:0]
			for _, l := range []string{"lib/x86_64-linux-gnu", "lib64", "lib"} {
				lib = append(lib, strings.NewReplacer("${LIB}", l, "$LIB", l).Replace(d))
			}
		}
		for _, d := range lib {
			if strings.HasPrefix(d, "/") && !strings.Contains(d, "$") && len(d) <= maxPathLength {
				dirs = append(dirs, d)
			}
		}
	}
	return dirs
}

// in finds a name in a directory, as a path or, where ldconfig indexes the
// directory, by its SONAME.
func (r *resolver) in(dir, name, machine string, ldconfig bool) string {
	key := [3]string{dir, name, machine}
	if ldconfig {
		key[2] += "+"
	}
	if file, ok := r.memo[key]; ok {
		return file
	}
	file := r.at(dir+"/"+name, machine)
	if file == "" && ldconfig {
		if to, n, ok := r.tree.Resolve(strings.TrimPrefix(dir, "/")); ok && n.Type == Dir {
			if f := r.bySONAME["/"+to][name]; f != "" && r.files[f].Machine == machine {
				file = f
			}
		}
	}
	if len(r.memo) >= maxMemo {
		clear(r.memo)
	}
	r.memo[key] = file
	return file
}

// at is the file at a path that the linker would take: one of the same machine.
func (r *resolver) at(p, machine string) string {
	if len(p) > maxPathLength {
		return ""
	}
	to, n, ok := r.tree.Resolve(strings.TrimPrefix(p, "/"))
	if !ok || n.Type != Regular {
		return ""
	}
	if b := r.files["/"+to]; b == nil || b.Machine != machine {
		return ""
	}
	return "/" + to
}
