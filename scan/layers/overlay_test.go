//go:build integration

package layers

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMergeIsOverlayfs compares the merged tree of random layer stacks with
// what a real overlay mount of the unpacked layers shows. It needs to mount, as
// root or as the root of a user namespace (`unshare -Urm`).
func TestMergeIsOverlayfs(t *testing.T) {
	t.Parallel()
	const stacks = 1500
	base := t.TempDir()
	opaque, options := opaqueAttr(t, base)
	for seed := range uint64(stacks) {
		dir := filepath.Join(base, fmt.Sprint(seed))
		r := rand.New(rand.NewPCG(seed, 7))
		var lower []string
		var indexes []*Index
		var dump strings.Builder
		for l := range 2 + r.IntN(4) {
			root := filepath.Join(dir, fmt.Sprint("layer", l))
			if err := os.MkdirAll(root, 0o755); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&dump, "layer %d\n", l)
			data := randomLayer(t, r, root, opaque, &dump)
			f, err := Walk(context.Background(), Blob{Reader: bytes.NewReader(data), Size: -1}, Options{Limits: DefaultLimits()})
			if err != nil {
				t.Fatalf("seed %d layer %d: %v\n%s", seed, l, err, dump.String())
			}
			lower = append([]string{root}, lower...)
			indexes = append(indexes, f.Index)
		}
		mnt := filepath.Join(dir, "mnt")
		if err := os.Mkdir(mnt, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("overlay", mnt, "overlay", unix.MS_RDONLY, "lowerdir="+strings.Join(lower, ":")+options); err != nil {
			t.Fatalf("mounting overlayfs needs root of a user namespace at least: %v", err)
		}
		want := listDisk(t, mnt)
		if err := unix.Unmount(mnt, 0); err != nil {
			t.Fatal(err)
		}
		tree := NewTree(indexes)
		if got := listTree(tree); got != want {
			t.Fatalf("seed %d\n%s\noverlayfs shows\n%s\nMerge shows\n%s", seed, dump.String(), want, got)
		}
		checkShadows(t, seed, tree)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// checkShadows holds Shadow, which goes by layers, against Lstat, which goes
// by the merged tree.
func checkShadows(t *testing.T, seed uint64, tree *Tree) {
	t.Helper()
	for i, x := range tree.layers {
		x.from("", func(e *Entry) bool {
			if n := x.Get(e.Path); e.Type == Whiteout || e.Type == Opaque || n.seq != e.seq || n.Type == Dir || n.Type == 0 {
				return true
			}
			_, layer := tree.Lstat(e.Path)
			if s := tree.Shadow(i, e.Path); (s == nil) != (layer == i) {
				t.Errorf("seed %d: layer %d %s: shadow %+v, but layer %d shows it", seed, i, e.Path, s, layer)
			}
			return true
		})
	}
}

var names = []string{"a", "b", "c"}

func randomPath(r *rand.Rand) string {
	var parts []string
	for range 1 + r.IntN(3) {
		parts = append(parts, names[r.IntN(len(names))])
	}
	return strings.Join(parts, "/")
}

// opaqueAttr is the attribute that marks opaque directories, and the mount
// options that have it read: trusted attributes are for real root alone.
func opaqueAttr(t *testing.T, dir string) (attr, options string) {
	t.Helper()
	const trusted, user = "trusted.overlay.opaque", "user.overlay.opaque"
	probe := filepath.Join(dir, "probe")
	if err := os.Mkdir(probe, 0o755); err != nil {
		t.Fatal(err)
	}
	if unix.Setxattr(probe, trusted, []byte("y"), 0) == nil {
		return trusted, ""
	}
	if err := unix.Setxattr(probe, user, []byte("y"), 0); err != nil {
		t.Fatalf("no attribute can mark a directory as opaque: %v", err)
	}
	return user, ",userxattr"
}

// randomLayer makes a tar and unpacks it as container engines do; entries that
// cannot be unpacked are left out of both.
func randomLayer(t *testing.T, r *rand.Rand, root, opaque string, dump *strings.Builder) []byte {
	t.Helper()
	var buf bytes.Buffer
	tw := tar.NewWriter(&buf)
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for range 1 + r.IntN(7) {
		p := randomPath(r)
		h := &tar.Header{Name: p, Mode: 0o755}
		switch r.IntN(10) {
		case 0, 1, 2:
			h.Typeflag = tar.TypeReg
		case 3, 4:
			h.Typeflag, h.Name = tar.TypeDir, p+"/"
		case 5, 6:
			h.Typeflag, h.Linkname = tar.TypeSymlink, randomTarget(r)
		case 7, 8:
			h.Typeflag, h.Name = tar.TypeReg, path.Join(path.Dir(p), ".wh."+path.Base(p))
		case 9:
			h.Typeflag, h.Name = tar.TypeReg, path.Join(p, ".wh..wh..opq")
		}
		if r.IntN(4) == 0 {
			h.Name = "./" + h.Name
		}
		if err := unpack(fd, h, opaque); err != nil {
			continue
		}
		fmt.Fprintf(dump, "  %c %s -> %s\n", h.Typeflag, h.Name, h.Linkname)
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func randomTarget(r *rand.Rand) string {
	return []string{"", "/", "../", "../../"}[r.IntN(4)] + randomPath(r)
}

// unpack does to a directory what an engine does to a layer's: in a chroot,
// the new entry replaces the old unless both are directories, and whiteouts
// become overlayfs's own.
func unpack(root int, h *tar.Header, opaque string) error {
	p := path.Clean(strings.TrimSuffix(h.Name, "/"))
	dir, err := parentDir(root, path.Dir(p))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	base := path.Base(p)
	if base == opaqueMarker {
		return unix.Setxattr(fmt.Sprintf("/proc/self/fd/%d", dir), opaque, []byte("y"), 0)
	}
	if name, ok := strings.CutPrefix(base, whiteoutPrefix); ok {
		return unix.Mknodat(dir, name, unix.S_IFCHR, 0)
	}
	var st unix.Stat_t
	if unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && (st.Mode&unix.S_IFMT != unix.S_IFDIR || h.Typeflag != tar.TypeDir) {
		if err := os.RemoveAll(fmt.Sprintf("/proc/self/fd/%d/%s", dir, base)); err != nil {
			return err
		}
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := unix.Mkdirat(dir, base, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		return nil
	case tar.TypeSymlink:
		return unix.Symlinkat(h.Linkname, dir, base)
	}
	f, err := unix.Openat(dir, base, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return unix.Close(f)
}

// parentDir opens a directory below the root, and makes what is missing.
func parentDir(root int, p string) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY, Resolve: unix.RESOLVE_IN_ROOT}
	if p == "." {
		return unix.Openat2(root, ".", &how)
	}
	fd, err := unix.Openat2(root, p, &how)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	up, err := parentDir(root, path.Dir(p))
	if err != nil {
		return -1, err
	}
	defer unix.Close(up)
	if err := unix.Mkdirat(up, path.Base(p), 0o755); err != nil {
		return -1, err
	}
	return unix.Openat2(root, p, &how)
}

func listDisk(t *testing.T, root string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		// A directory of one layer alone is read as it is, whiteouts included;
		// looking one up finds nothing.
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		rel, _ := filepath.Rel(root, p)
		switch {
		case e.IsDir():
			lines = append(lines, "d "+rel)
		case e.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			if err != nil {
				return err
			}
			lines = append(lines, "l "+rel+" -> "+to)
		default:
			lines = append(lines, "f "+rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func listTree(tree *Tree) string {
	var lines []string
	var walk func(dir string)
	walk = func(dir string) {
		for _, name := range tree.ReadDir(dir) {
			p := path.Join(dir, name)
			switch n, _ := tree.Lstat(p); n.Type {
			case Dir:
				lines = append(lines, "d "+p)
				walk(p)
			case Symlink:
				lines = append(lines, "l "+p+" -> "+n.Link)
			default:
				lines = append(lines, "f "+p)
			}
		}
	}
	walk("")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
