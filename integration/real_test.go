//go:build integration

package integration

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A realFile is a file of a package of Debian, npm or PyPI. What the tests
// assert is true of this version.
type realFile struct {
	// from is deb, npm or pypi.
	from, name, version string
	// suite is that of Debian, or the tag of a wheel's Python.
	suite string
	// member is a pattern of the path in the package.
	member string
}

// key names the file in the cache.
func (f realFile) key() string {
	return strings.NewReplacer("/", "_", "@", "", "*", "").Replace(strings.Join([]string{f.name, f.version, path.Base(f.member)}, "-"))
}

// realFiles returns files of packages by their order, which are fetched once
// and kept in the cache directory.
func realFiles(t *testing.T, files ...realFile) []string {
	t.Helper()
	paths := make([]string, len(files))
	err := locked(func(dir string) error {
		dir = filepath.Join(filepath.Dir(dir), "files")
		a := &apt{dir: filepath.Join(filepath.Dir(dir), "debian")}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for i, f := range files {
			paths[i] = filepath.Join(dir, f.key())
			if _, err := os.Stat(paths[i]); err == nil {
				continue
			}
			start := time.Now()
			if err := fetch(a, dir, files, f); err != nil {
				return fmt.Errorf("%s %s: %w", f.name, f.version, err)
			}
			t.Logf("%s %s: fetched in %s", f.name, f.version, time.Since(start).Round(time.Second))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// fetch fetches the package of a file, and takes all files out of it that are
// wanted of it.
func fetch(a *apt, dir string, files []realFile, f realFile) error {
	tmp, err := os.MkdirTemp(dir, "download-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	pkg := filepath.Join(tmp, "package")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	switch f.from {
	case "deb":
		err = a.download(f.name+":amd64", f.suite, pkg, f.version)
	case "npm":
		err = download(ctx, tmp, pkg, "npm", "pack", "--silent", f.name+"@"+f.version)
	case "pypi":
		err = download(ctx, tmp, pkg, "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
			"--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_27_x86_64", "--platform", "manylinux_2_24_x86_64",
			"--platform", "manylinux2014_x86_64", "--python-version", "3.12", "-d", ".", f.name+"=="+f.version)
	}
	if err != nil {
		return err
	}
	wanted := map[string]string{}
	for _, g := range files {
		if g.from == f.from && g.name == f.name && g.version == f.version && g.suite == f.suite {
			wanted[g.member] = filepath.Join(dir, g.key())
		}
	}
	take := func(name string, r io.Reader) error {
		for member, to := range wanted {
			if ok, err := path.Match(member, strings.TrimPrefix(name, "./")); err != nil || !ok {
				continue
			}
			delete(wanted, member)
			return writeFile(to, r)
		}
		return nil
	}
	switch f.from {
	case "deb":
		err = untarDeb(ctx, pkg, take)
	case "npm":
		err = untarGzip(pkg, take)
	case "pypi":
		err = unzip(pkg, take)
	}
	if err == nil && len(wanted) > 0 {
		err = fmt.Errorf("the package has no %v", wanted)
	}
	return err
}

// download runs a package client that leaves one file in a directory.
func download(ctx context.Context, dir, to, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: make test installs it\n%s", name, strings.Join(args, " "), err, out)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 1 {
		return fmt.Errorf("%s left %v (%w)", name, list, err)
	}
	return os.Rename(filepath.Join(dir, list[0].Name()), to)
}

func writeFile(to string, r io.Reader) error {
	f, err := os.CreateTemp(filepath.Dir(to), "file-")
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Chmod(0o755), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), to)
}

func untar(r io.Reader, take func(string, io.Reader) error) error {
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = take(h.Name, tr)
		}
		if err != nil {
			return err
		}
	}
}

func untarDeb(ctx context.Context, pkg string, take func(string, io.Reader) error) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", pkg)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := untar(out, take); err != nil {
		return err
	}
	return cmd.Wait()
}

func untarGzip(pkg string, take func(string, io.Reader) error) error {
	f, err := os.Open(pkg)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	return untar(z, take)
}

func unzip(pkg string, take func(string, io.Reader) error) error {
	z, err := zip.OpenReader(pkg)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(take(m.Name, r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}
