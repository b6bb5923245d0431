package cache

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/gpulint/gpulint/scan/layers"
)

// magic begins each file.
const magic = "gpulint layer facts 1\n"

// maxFile bounds a file in bytes, beside the index that the limits allow.
const maxFile = 160 << 20

var errFile = errors.New("not what was written")

// seal writes the content of a file: magic, key, digest, facts, and the hash of
// all these. The key and the digest hold that a file which was moved is found
// out.
func (c *Cache) seal(w io.Writer, f *layers.Facts) error {
	hash := sha256.New()
	b := bufio.NewWriterSize(io.MultiWriter(w, hash), 64<<10)
	if _, err := b.Write(c.head(f.Digest)); err != nil {
		return err
	}
	if err := f.Encode(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	_, err := w.Write(hash.Sum(nil))
	return err
}

func (c *Cache) head(digest string) []byte {
	return append(append([]byte(magic), c.key[:]...), digest...)
}

// open takes apart what seal made.
func (c *Cache) open(digest string, data []byte) (*layers.Facts, error) {
	n := len(data) - sha256.Size
	if n < 0 {
		return nil, errFile
	}
	if sum := sha256.Sum256(data[:n]); !bytes.Equal(sum[:], data[n:]) {
		return nil, errFile
	}
	body, ok := bytes.CutPrefix(data[:n], c.head(digest))
	if !ok {
		return nil, errFile
	}
	f, err := layers.Decode(body, c.limits)
	if err != nil {
		return nil, err
	}
	if f.Digest != digest || len(f.Incomplete) > 0 {
		return nil, errFile
	}
	return f, nil
}

// read returns the content of a regular file and when it was used last.
func (c *Cache) read(name string) ([]byte, time.Time, error) {
	var never time.Time
	if st, err := c.root.Lstat(name); err != nil {
		return nil, never, err
	} else if !st.Mode().IsRegular() { // a pipe would not end
		return nil, never, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil, never, err
	}
	defer func() { _ = f.Close() }() // read only
	st, err := f.Stat()
	if err != nil {
		return nil, never, err
	}
	limit := int64(c.limits.IndexBytes) + maxFile
	if st.Size() > limit {
		return nil, never, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	data := make([]byte, st.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, never, fmt.Errorf("%s: %w", name, err)
	}
	return data, st.ModTime(), nil
}

// write writes the facts of a layer so that they are there as a whole or not at
// all.
func (c *Cache) write(name string, l *layers.Facts) error {
	if err := c.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	c.mark()
	tmp := path.Join(path.Dir(name), temporary+rand.Text())
	f, err := c.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(c.seal(f, l), f.Close()); err == nil {
		err = c.root.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, c.root.Remove(tmp))
	}
	return nil
}

const tagText = "Signature: 8a477f597d28d172789f06886806bc55\n# Facts of image layers, kept by gpulint. They can be deleted at any time.\n"

// mark tells backup programs that the directory can be left out, as
// bford.info/cachedir has it.
func (c *Cache) mark() {
	if _, err := c.root.Lstat(tag); errors.Is(err, fs.ErrNotExist) {
		_ = c.root.WriteFile(tag, []byte(tagText), 0o600) // a convenience
	}
}
