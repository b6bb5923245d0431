package cache

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
	"github.com/gpulint/gpulint/scan/layers"
)

// layer reads a layer with one file.
func layer(t testing.TB, text string) *layers.Facts {
	t.Helper()
	data := testimage.Tar(testimage.Text("a", text), testimage.Symlink("usr/lib/libcuda.so.1", "libcuda.so.535.161.08"))
	f, err := layers.Walk(t.Context(), layers.Blob{Reader: bytes.NewReader(data), Size: -1}, layers.Options{Limits: layers.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func opened(t testing.TB, dir string, l layers.Limits) *Cache {
	t.Helper()
	c, err := Open(dir, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // nothing is written by it
	return c
}

func put(t testing.TB, c *Cache, f *layers.Facts) {
	t.Helper()
	if err := c.Put(f); err != nil {
		t.Fatal(err)
	}
}

// has says whether the cache has usable facts.
func has(c *Cache, digest string) bool {
	f, err := c.Get(digest)
	return f != nil && err == nil && f.Digest == digest && len(f.DriverFiles) == 1 && f.Index.Len() == 2
}

// entries are the files of a cache, relative to its directory.
func entries(t testing.TB, c *Cache) []string {
	t.Helper()
	list, err := c.Entries()
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, 0, len(list))
	for _, e := range list {
		paths = append(paths, e.Path)
	}
	slices.Sort(paths)
	return paths
}

func TestCache(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "on", "demand")
	c := opened(t, dir, layers.DefaultLimits())
	f := layer(t, "x")
	if has(c, f.Digest) {
		t.Error("it is there before it was put")
	}
	put(t, c, f)
	if !has(c, f.Digest) || !has(opened(t, dir, layers.DefaultLimits()), f.Digest) {
		t.Error("it is not there")
	}
	if has(c, layer(t, "y").Digest) {
		t.Error("another layer's are")
	}
	more := layers.DefaultLimits()
	more.Facts++
	if has(opened(t, dir, more), f.Digest) {
		t.Error("facts of other limits were taken")
	}
	for _, digest := range []string{"", "sha256:", "sha256:../../../../etc/passwd", "sha512:" + strings.Repeat("a", 64), strings.ToUpper(f.Digest), f.Digest + "\n", f.Digest[7:]} {
		if got, err := c.Get(digest); got != nil || err != nil {
			t.Errorf("%q: %v, %v", digest, got, err)
		}
	}
	st, err := os.Stat(filepath.Join(dir, entries(t, c)[0]))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	var none *Cache
	if got, err := none.Get(f.Digest); got != nil || err != nil || none.Put(f) != nil || none.Close() != nil || none.Tidy() != nil {
		t.Errorf("no cache: %v, %v", got, err)
	}
}

// TestPutRefuses holds that nothing is kept which was not read as a whole.
func TestPutRefuses(t *testing.T) {
	t.Parallel()
	c := opened(t, t.TempDir(), layers.DefaultLimits())
	f := layer(t, "x")
	partial, unread, odd := *f, *f, *f
	partial.Incomplete = []facts.Incomplete{{Limit: "entries"}}
	unread.Digest = ""
	odd.Digest = "sha256:../" + f.Digest
	for _, f := range []*layers.Facts{&partial, &unread, &odd} {
		put(t, c, f)
	}
	if list := entries(t, c); len(list) > 0 {
		t.Errorf("kept: %v", list)
	}
}

// TestDamaged holds that a file which is not as it was written is found out,
// told of, and written again.
func TestDamaged(t *testing.T) {
	t.Parallel()
	f, other := layer(t, "x"), layer(t, "y")
	for name, spoil := range map[string]func(t *testing.T, data []byte, dir string) []byte{
		"empty":          func(*testing.T, []byte, string) []byte { return nil },
		"cut":            func(_ *testing.T, data []byte, _ string) []byte { return data[:len(data)-1] },
		"longer":         func(_ *testing.T, data []byte, _ string) []byte { return append(data, 0) },
		"a bit":          func(_ *testing.T, data []byte, _ string) []byte { data[len(data)/2] ^= 1; return data },
		"another format": func(_ *testing.T, data []byte, _ string) []byte { data[len(magic)-2]++; return resealed(data) },
		"other tables":   func(_ *testing.T, data []byte, _ string) []byte { data[len(magic)]++; return resealed(data) },
		"facts cut":      func(_ *testing.T, data []byte, _ string) []byte { return resealed(data[:len(data)-1]) },
		"facts changed": func(_ *testing.T, data []byte, _ string) []byte {
			data[len(magic)+32+71+5] ^= 0xff
			return resealed(data)
		},
		"another layer's": func(t *testing.T, _ []byte, dir string) []byte {
			c := opened(t, dir, layers.DefaultLimits())
			name, _ := c.file(other.Digest)
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			return data
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := opened(t, dir, layers.DefaultLimits())
			put(t, c, f)
			put(t, c, other)
			name, _ := c.file(f.Digest)
			file := filepath.Join(dir, name)
			data, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, spoil(t, data, dir), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.Get(f.Digest); got != nil || err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("%+v, %v", got, err)
			}
			if got, err := c.Get(f.Digest); got != nil || err != nil {
				t.Errorf("it was told of and is still there: %+v, %v", got, err)
			}
			put(t, c, f)
			if !has(c, f.Digest) || !has(c, other.Digest) {
				t.Error("not written again")
			}
		})
	}
}

// resealed gives a file that was changed the hash that it must have.
func resealed(data []byte) []byte {
	data = data[:len(data)-sha256.Size]
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// TestInTheWay holds that what else stands in the directory is neither followed
// out of it nor waited for.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	f := layer(t, "x")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, place := range map[string]func(file string) error{
		"link":      func(file string) error { return os.Symlink(outside, file) },
		"directory": func(file string) error { return os.MkdirAll(filepath.Join(file, "full"), 0o700) },
		"link of a directory": func(file string) error {
			dir := filepath.Dir(file)
			if err := os.Remove(dir); err != nil {
				return err
			}
			return os.Symlink(filepath.Dir(outside), dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := opened(t, dir, layers.DefaultLimits())
			name, _ := c.file(f.Digest)
			file := filepath.Join(dir, name)
			err := os.MkdirAll(filepath.Dir(file), 0o700)
			if err == nil {
				err = place(file)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.Get(f.Digest); got != nil || err == nil {
				t.Errorf("read: %+v, %v", got, err)
			}
			_ = c.Put(f) // it may fail, but not outside
			if _, _, err := c.Clear(); err != nil {
				t.Error(err)
			}
			list, err := os.ReadDir(filepath.Dir(outside))
			data, rerr := os.ReadFile(outside)
			if err != nil || len(list) != 1 || rerr != nil || string(data) != "mine" {
				t.Errorf("outside: %v, %v, %s, %v", list, err, data, rerr)
			}
		})
	}
}

// TestPrune holds which files are deleted, and that others stay.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := opened(t, dir, layers.DefaultLimits())
	now := time.Now()
	var names []string
	var size int64
	for i := range 5 {
		f := layer(t, fmt.Sprint(i))
		put(t, c, f)
		name, _ := c.file(f.Digest)
		at := now.Add(-time.Duration(i) * 24 * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		names, size = append(names, name), st.Size()
	}
	foreign := []string{
		"mine.facts", "facts-/mine", "facts-x/zz/mine", "docs/ab/x.facts", "facts-x/ab/deep/x.facts", "facts-2024.csv", tag, "last-prune",
		c.generation + "/notes", c.generation + "/ab/mine.facts", c.generation + "/ab/" + strings.Repeat("a", 63) + ".facts",
	}
	for _, p := range foreign {
		p = filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		old := now.Add(-1000 * time.Hour)
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
	}
	left := func(want ...string) {
		t.Helper()
		want = slices.Sorted(slices.Values(want))
		if got := entries(t, c); !slices.Equal(got, want) {
			t.Errorf("left are %v, want %v", got, want)
		}
	}
	left(names...)
	if _, err := c.Get("sha256:" + strings.TrimSuffix(filepath.Base(names[4]), suffix)); err != nil {
		t.Fatal(err)
	}
	// The fifth has been used now, so the fourth is the oldest.
	if n, bytes, err := c.Prune(1<<30, 60*time.Hour); n != 1 || bytes < size/2 || err != nil {
		t.Errorf("%d, %d, %v", n, bytes, err)
	}
	left(names[0], names[1], names[2], names[4])
	if n, _, err := c.Prune(size*2+size/2, time.Hour*1000); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	left(names[0], names[4])
	if n, _, err := c.Clear(); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	left()
	var all []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, p)
		}
		return err
	})
	slices.Sort(foreign)
	if err != nil || !slices.Equal(all, foreign) {
		t.Errorf("of others are left %v, want %v, %v", all, foreign, err)
	}
}

// TestTidy holds that a cache prunes itself, once a day.
func TestTidy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := opened(t, dir, layers.DefaultLimits())
	tidy := func(after time.Duration, want int) {
		t.Helper()
		start := time.Now()
		c.now = func() time.Time { return start.Add(after) }
		if err := c.Tidy(); err != nil {
			t.Fatal(err)
		}
		if got := entries(t, c); len(got) != want {
			t.Errorf("after %s: %v, want %d", after, got, want)
		}
	}
	put(t, c, layer(t, "x"))
	name := filepath.Join(c.generation, "ab", temporary+"LEFT")
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tidy(0, 2)
	tidy(2*time.Hour, 2) // not yet again
	tidy(25*time.Hour, 1)
	tidy(DefaultMaxAge+time.Hour, 0)
}

// TestPruneByUse holds that a file which was used before one that does not fit
// goes too, however small it is.
func TestPruneByUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := opened(t, dir, layers.DefaultLimits())
	now := time.Now()
	for i, size := range []int64{300, 900, 100} {
		name, _ := c.file(fmt.Sprintf("sha256:%064d", i))
		p := filepath.Join(dir, name)
		at := now.Add(-time.Duration(i) * time.Hour)
		err := os.MkdirAll(filepath.Dir(p), 0o700)
		if err == nil {
			err = os.WriteFile(p, make([]byte, size), 0o600)
		}
		if err == nil {
			err = os.Chtimes(p, at, at)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, bytes, err := c.Prune(1000, DefaultMaxAge); n != 2 || bytes != 1000 || err != nil {
		t.Errorf("%d files, %d bytes, %v", n, bytes, err)
	}
}

// TestPipes holds that a pipe in the directory is not waited for.
func TestPipes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{lastPrune, tag, "facts-0123456789abcdef", "facts-0123456789abcdef/ab"} {
		dir := t.TempDir()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Fatal(err)
		}
		c := opened(t, dir, layers.DefaultLimits())
		c.now = func() time.Time { return time.Now().Add(48 * time.Hour) }
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = c.Put(layer(t, "x")) // it may fail
			_ = c.Tidy()
			if _, _, err := c.Clear(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("%s: it waits", name)
		}
		if _, err := os.Lstat(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTogether holds that many may use one directory at once.
func TestTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found := make([]*layers.Facts, 4)
	for i := range found {
		found[i] = layer(t, fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			c, err := Open(dir, layers.DefaultLimits())
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			for i := range 40 {
				f := found[(i+n)%len(found)]
				switch {
				case n == 0 && i%10 == 0:
					if _, _, err := c.Clear(); err != nil {
						t.Error(err)
					}
				case i%2 == 0:
					_ = c.Put(f) // the directory may go away in the meantime
				default:
					if got, err := c.Get(f.Digest); err != nil || got != nil && got.Digest != f.Digest {
						t.Errorf("%+v, %v", got, err)
					}
				}
			}
		})
	}
	wg.Wait()
}
