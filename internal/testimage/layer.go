package testimage

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Layer is one layer and the instruction that made it. Without files and with
// NoBlob it is history alone, such as ENV.
type Layer struct {
	CreatedBy string
	Files     []File
	NoBlob    bool
	// Raw replaces the tar by these bytes.
	Raw []byte
}

// File is one entry of a layer's tar.
type File struct {
	Name string
	Data []byte
	Mode int64
	Type byte
	Link string
}

// Reg is a regular file.
func Reg(name string, data []byte) File {
	return File{Name: name, Data: data, Mode: 0o644, Type: tar.TypeReg}
}

// Text is a regular file of text.
func Text(name, text string) File { return Reg(name, []byte(text)) }

// Exec is a program.
func Exec(name string, data []byte) File {
	return File{Name: name, Data: data, Mode: 0o755, Type: tar.TypeReg}
}

// Symlink is a symbolic link.
func Symlink(name, target string) File {
	return File{Name: name, Link: target, Mode: 0o777, Type: tar.TypeSymlink}
}

// Hardlink is a hard link.
func Hardlink(name, target string) File {
	return File{Name: name, Link: target, Mode: 0o644, Type: tar.TypeLink}
}

// Dir is a directory.
func Dir(name string) File {
	return File{Name: strings.TrimSuffix(name, "/") + "/", Mode: 0o755, Type: tar.TypeDir}
}

// Whiteout deletes a path of a lower layer.
func Whiteout(name string) File {
	return Reg(path.Join(path.Dir(name), ".wh."+path.Base(name)), nil)
}

// Opaque hides all that lower layers have in a directory.
func Opaque(dir string) File { return Reg(path.Join(dir, ".wh..wh..opq"), nil) }

// epoch is the time of all files, so that the same image has the same bytes.
var epoch = time.Unix(1700000000, 0)

// Tar is the layer uncompressed.
func (l Layer) Tar() []byte {
	if l.Raw != nil {
		return l.Raw
	}
	return Tar(l.Files...)
}

// Tar writes files as a tar.
func Tar(files ...File) []byte {
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	for _, f := range files {
		h := &tar.Header{
			Name: f.Name, Mode: f.Mode, Typeflag: f.Type, Linkname: f.Link, Size: int64(len(f.Data)), ModTime: epoch,
		}
		must(tw.WriteHeader(h))
		_, err := tw.Write(f.Data)
		must(err)
	}
	must(tw.Close())
	return buf.Bytes()
}

// Compressions of layers.
const (
	Plain = "plain"
	Gzip  = "gzip"
	Zstd  = "zstd"
)

// Compress compresses a layer. The library is pinned by go.mod: the same bytes
// come out with every version of Go.
func Compress(how string, data []byte) []byte {
	var buf bytes.Buffer
	switch how {
	case Gzip:
		w := gzip.NewWriter(&buf)
		_, err := w.Write(data)
		must(err)
		must(w.Close())
	case Zstd:
		w, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		must(err)
		_, err = w.Write(data)
		must(err)
		must(w.Close())
	default:
		return data
	}
	return buf.Bytes()
}

// Digest is the sha256 digest of bytes.
func Digest(b []byte) string { return "sha256:" + Hex(b) }

// Hex is the digest without its algorithm.
func Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// must stops on what cannot happen with input that the project itself makes.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
