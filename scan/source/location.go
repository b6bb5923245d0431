package source

import (
	"io/fs"
	"os"
	"strings"
)

// Forms of an input, as its prefix names them.
const (
	formOCI     = "oci"
	formArchive = "oci-archive"
	formDocker  = "docker-archive"
	formRootfs  = "rootfs"
)

// location is what an input names: PATH, FORM:PATH, or one image of it as
// FORM:PATH:NAME, FORM:PATH:TAG, FORM:PATH@DIGEST or FORM:PATH:@INDEX.
type location struct {
	// form is empty where the content is to tell.
	form string
	path string
	// pick is a name, a tag, a digest or @INDEX; empty for every image.
	pick string
}

// locate takes an input apart. Paths may have colons in them: the whole is
// taken for the path if it is there, else the longest part before a colon that
// is.
func locate(input string) location {
	form, rest, ok := strings.Cut(input, ":")
	switch form {
	case formOCI, formArchive, formDocker, formRootfs:
	default:
		ok = false
	}
	if !ok {
		return location{path: input}
	}
	l := location{form: form, path: rest}
	if form == formRootfs || there(form, rest) {
		return l
	}
	if i := strings.LastIndex(rest, "@sha256:"); i > 0 && there(form, rest[:i]) {
		return location{form, rest[:i], rest[i+1:]}
	}
	for i := len(rest); ; {
		if i = strings.LastIndexByte(rest[:i], ':'); i <= 0 {
			return l
		}
		if there(form, rest[:i]) {
			return location{form, rest[:i], rest[i+1:]}
		}
	}
}

// suits is an error if what is at the path cannot be of the form.
func (l location) suits(st fs.FileInfo) error {
	switch {
	case l.form == formOCI && !st.IsDir():
		return hintf("a file is named oci-archive:FILE or docker-archive:FILE", "an OCI layout is a directory, this is none")
	case l.form == formRootfs && !st.IsDir():
		return hintf("name the root directory", "a root file system is a directory, this is none")
	case (l.form == formArchive || l.form == formDocker) && st.IsDir():
		return hintf("a directory is named oci:DIR or rootfs:DIR", "an archive is a file, this is a directory")
	}
	return nil
}

// there says whether a path is one that an image may be picked of.
func there(form, path string) bool {
	if path == "-" && form != formOCI {
		return true
	}
	_, err := os.Stat(path)
	return err == nil
}

// Stdin says whether an input is standard input: -, or oci-archive:- and
// docker-archive:-.
func Stdin(input string) bool {
	l := locate(input)
	return l.path == "-" && l.form != formOCI && l.form != formRootfs
}
