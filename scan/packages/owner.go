package packages

import (
	"path"
	"strings"
)

// Managers.
const (
	Dpkg  = "dpkg"
	Apk   = "apk"
	Conda = "conda"
	Pip   = "pip"
	Npm   = "npm"
)

// Owner is a package that owns a path.
type Owner struct{ Manager, Name string }

// rank orders managers: where two claim a path, as Debian's and pip's records
// of one Python package do, the distribution's owns it.
var rank = map[string]int{Dpkg: 4, Rpm: 4, Apk: 4, Conda: 3, Pip: 2, Npm: 1}

// Outranks says whether an owner goes before another one of the same path.
func (o Owner) Outranks(p Owner) bool { return rank[o.Manager] > rank[p.Manager] }

// NpmOwner tells the package by the path of a file, which npm installs below
// node_modules/NAME or node_modules/@SCOPE/NAME.
func NpmOwner(p string) (Owner, bool) {
	i := strings.LastIndex(p, "/node_modules/")
	if i < 0 {
		return Owner{}, false
	}
	rest := strings.Split(p[i+len("/node_modules/"):], "/")
	n := 1
	if strings.HasPrefix(rest[0], "@") {
		n = 2
	}
	if len(rest) <= n || rest[0] == "" || rest[n-1] == "" || strings.HasPrefix(rest[0], ".") {
		return Owner{}, false
	}
	return Owner{Npm, strings.Join(rest[:n], "/")}, true
}

// absolute makes a path that stands in a record absolute below a directory.
func absolute(dir, p string) string { return path.Join("/", dir, p) }
