//go:build integration

package integration

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
)

// largeBinaries are the real files with the most device code, and that with the
// most containers.
var largeBinaries = []string{"libtorch_cuda.so", "libcublasLt.so.11.", "libcufft.so.11."}

// TestLargeBinaries reads real libraries of more than 1.3 GB in a gzip layer in
// small memory.
func TestLargeBinaries(t *testing.T) { //nolint:paralleltest // it measures memory
	gpulint := program(t)
	_, _, least := run(t, nil, gpulint, "version")
	files := realFiles(t, codeFiles...)
	var paths []string
	for i, f := range codeFiles {
		for _, name := range largeBinaries {
			if strings.HasSuffix(f.key(), "-"+name) {
				paths = append(paths, files[i])
			}
		}
	}
	if len(paths) != len(largeBinaries) {
		t.Fatalf("%v", paths)
	}
	dir := bigLayout(t, bigLayer{gzip: true, fill: func(tw *tar.Writer) error {
		for _, p := range paths {
			if err := putFile(tw, "opt/"+filepath.Base(p), p); err != nil {
				return err
			}
		}
		return nil
	}})
	_, out, peak := run(t, nil, gpulint, "image", "--no-cache=false", "--cache-dir", t.TempDir(), "-f", "facts", "--input", dir)
	t.Logf("%d KiB above gpulint version's %d", peak-least, least)
	if peak-least > maxAbove {
		t.Errorf("the peak is %d KiB above that of gpulint version, which is more than %d", peak-least, maxAbove)
	}
	var found facts.Image
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Binaries) != len(paths) || len(found.Incomplete) > 0 || !found.Verified {
		t.Errorf("%d binaries, %v, verified %t", len(found.Binaries), found.Incomplete, found.Verified)
	}
	for _, b := range found.Binaries {
		if d := b.DeviceCode; d == nil || len(d.Sets) < 5 || d.Broken > 0 || d.Incomplete != "" {
			t.Errorf("%s: %+v", b.Path, d)
		}
	}
}

func putFile(tw *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err == nil {
		err = tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: st.Size()})
	}
	if err == nil {
		_, err = io.Copy(tw, f)
	}
	return errors.Join(err, f.Close())
}
