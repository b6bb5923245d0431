//go:build integration

package integration

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/internal/testimage"
)

// maxAbove is how much more memory than gpulint version a scan may take at its
// peak, in KiB.
const maxAbove = 64 << 10

// holes writes a file and leaves holes where whole blocks are zero.
type holes struct {
	f   *os.File
	off int64
}

var zeros [64 << 10]byte

func (h *holes) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece := p[:min(len(p), len(zeros))]
		if !bytes.Equal(piece, zeros[:len(piece)]) {
			if _, err := h.f.WriteAt(piece, h.off); err != nil {
				return 0, err
			}
		}
		h.off += int64(len(piece))
		p = p[len(piece):]
	}
	return n, nil
}

// bigLayer is a layer that is written entry by entry.
type bigLayer struct {
	gzip bool
	fill func(tw *tar.Writer) error
}

// bigLayout writes an OCI layout of an image whose layers never are in memory.
func bigLayout(t *testing.T, layers ...bigLayer) string {
	t.Helper()
	dir := t.TempDir()
	blobs := filepath.Join(dir, "blobs", "sha256")
	if err := os.MkdirAll(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	descriptors, diffIDs := make([]testimage.Blob, 0, len(layers)), make([]string, 0, len(layers))
	for i, l := range layers {
		d, diffID, err := l.write(blobs)
		if err != nil {
			t.Fatalf("layer %d: %v", i, err)
		}
		descriptors, diffIDs = append(descriptors, d), append(diffIDs, diffID)
	}
	small := func(mediaType string, v any) testimage.Blob {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b := testimage.NewBlob(mediaType, data)
		if err := os.WriteFile(filepath.Join(blobs, strings.TrimPrefix(b.Digest, "sha256:")), data, 0o600); err != nil {
			t.Fatal(err)
		}
		return b
	}
	config := small(testimage.TypeConfig, map[string]any{
		"os": "linux", "architecture": "amd64", "rootfs": map[string]any{"type": "layers", "diff_ids": diffIDs},
	})
	manifest := small(testimage.TypeManifest, map[string]any{
		"schemaVersion": 2, "mediaType": testimage.TypeManifest, "config": config, "layers": descriptors,
	})
	if err := os.WriteFile(filepath.Join(dir, "index.json"), testimage.Index(manifest).Data, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// write writes the layer's blob.
func (l bigLayer) write(blobs string) (testimage.Blob, string, error) {
	fail := func(err error) (testimage.Blob, string, error) { return testimage.Blob{}, "", err }
	f, err := os.CreateTemp(blobs, "layer")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = f.Close() }() // closed twice where all went well
	stored, plain := sha256.New(), sha256.New()
	out := &holes{f: f}
	w, z := io.MultiWriter(out, stored), (*gzip.Writer)(nil)
	if l.gzip {
		if z, err = gzip.NewWriterLevel(w, gzip.BestSpeed); err != nil {
			return fail(err)
		}
		w = z
	}
	tw := tar.NewWriter(io.MultiWriter(w, plain))
	if err := l.fill(tw); err != nil {
		return fail(err)
	}
	if err := tw.Close(); err != nil {
		return fail(err)
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return fail(err)
		}
	}
	if err := f.Truncate(out.off); err != nil {
		return fail(err)
	}
	if err := f.Close(); err != nil {
		return fail(err)
	}
	sum := func(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
	if err := os.Rename(f.Name(), filepath.Join(blobs, sum(stored))); err != nil {
		return fail(err)
	}
	mediaType := testimage.TypeLayer
	if l.gzip {
		mediaType += "+gzip"
	}
	return testimage.Blob{MediaType: mediaType, Digest: "sha256:" + sum(stored), Size: out.off}, "sha256:" + sum(plain), nil
}

// tarred writes a layout as an archive.
func tarred(dir string, w io.Writer) error {
	tw := tar.NewWriter(w)
	if err := tw.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	return tw.Close()
}

// program builds gpulint.
func program(t *testing.T) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), "gpulint")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", p, "../cmd/gpulint").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

// run runs gpulint and returns its exit status, standard output and the peak of
// its memory in KiB. That is read from the kernel while it runs: what wait
// tells of a child counts its parent's memory, too.
func run(t *testing.T, in io.Reader, program string, args ...string) (status int, out []byte, peak int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	peaks := make(chan int)
	go func() {
		high := 0
		for {
			high = max(high, highWater(cmd.Process.Pid))
			select {
			case <-done:
				peaks <- high
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	err := cmd.Wait()
	close(done)
	peak = <-peaks
	status = cmd.ProcessState.ExitCode()
	if err != nil && status < 0 || status > 1 {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	return status, stdout.Bytes(), peak
}

// highWater is the peak of a process's memory in KiB, 0 if it has ended.
func highWater(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}

// put writes a small file.
func put(tw *tar.Writer, name string, data []byte) error {
	if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := tw.Write(data)
	return err
}

// TestLarge reads a layer of more than 2 GiB and layers of three million files,
// links and whiteouts in small memory: by position, as a whole, as a stream, and
// from the cache.
func TestLarge(t *testing.T) { //nolint:paralleltest // it measures memory, and fills the machine
	gpulint := program(t)
	_, _, least := run(t, nil, gpulint, "version")
	if least == 0 {
		t.Fatal("the memory of gpulint version is not known")
	}
	const driver = "usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08"
	lib := testimage.DriverLibrary("libcuda.so.1", "535.161.08")
	const big = 9 << 28 // 2.25 GiB
	huge := bigLayer{fill: func(tw *tar.Writer) error {
		if err := tw.WriteHeader(&tar.Header{Name: "opt/weights.bin", Mode: 0o644, Size: big}); err != nil {
			return err
		}
		for n := 0; n < big; n += len(zeros) {
			if _, err := tw.Write(zeros[:]); err != nil {
				return err
			}
		}
		return put(tw, driver, lib)
	}}
	const many = 3_000_000
	entries := func(header func(dir, n int) tar.Header) bigLayer {
		return bigLayer{gzip: true, fill: func(tw *tar.Writer) error {
			for n := range many {
				h := header(n/1000, n)
				if err := tw.WriteHeader(&h); err != nil {
					return err
				}
			}
			return put(tw, driver, lib)
		}}
	}
	one := bigLayer{gzip: true, fill: func(tw *tar.Writer) error {
		if err := put(tw, "usr/lib/x86_64-linux-gnu/libcuda.so.470.256.02", lib); err != nil {
			return err
		}
		return put(tw, "srv/d7/.keep", nil)
	}}
	for _, tt := range []struct {
		name   string
		layers []bigLayer
		inputs []string
	}{
		{"2.25 GiB", []bigLayer{huge}, []string{"seek", "verify", "stream"}},
		{"files", []bigLayer{one, entries(func(dir, n int) tar.Header {
			return tar.Header{Name: fmt.Sprintf("srv/d%d/file-%d", dir, n), Mode: 0o644}
		})}, []string{"verify", "cached", "stream"}},
		{"symlinks", []bigLayer{one, entries(func(dir, n int) tar.Header {
			return tar.Header{Name: fmt.Sprintf("srv/d%d/link-%d", dir, n), Typeflag: tar.TypeSymlink, Linkname: fmt.Sprintf("../d%d/x%d", n%1000, n)}
		})}, []string{"verify", "cached"}},
		{"whiteouts", []bigLayer{one, entries(func(dir, n int) tar.Header {
			if n == many/2 {
				return tar.Header{Name: "usr/lib/x86_64-linux-gnu/.wh.libcuda.so.470.256.02"}
			}
			return tar.Header{Name: fmt.Sprintf("srv/d%d/.wh.file-%d", dir, n)}
		})}, []string{"verify"}},
	} {
		dir, cache := bigLayout(t, tt.layers...), t.TempDir()
		for _, how := range tt.inputs {
			t.Run(tt.name+" "+how, func(t *testing.T) {
				args := []string{"image", "--no-cache=false", "--cache-dir", cache, "-f", "facts", "--input", dir}
				var in io.Reader
				switch how {
				case "verify":
					args = append(args, "--verify")
				case "stream":
					args[len(args)-1] = "-"
					r, w := io.Pipe()
					in = r
					go func() { _ = w.CloseWithError(tarred(dir, w)) }()
				}
				start := time.Now()
				status, out, peak := run(t, in, gpulint, args...)
				t.Logf("%d KiB above gpulint version's %d, %s", peak-least, least, time.Since(start).Round(100*time.Millisecond))
				if peak-least > maxAbove {
					t.Errorf("the peak is %d KiB above that of gpulint version, which is more than %d", peak-least, maxAbove)
				}
				var found facts.Image
				if err := json.Unmarshal(out, &found); err != nil {
					t.Fatal(err)
				}
				want, visible := len(tt.layers), 0
				for _, f := range found.DriverFiles {
					if f.Shadowed == nil {
						visible++
					}
				}
				if tt.name == "whiteouts" {
					want--
				}
				if status != 1 || visible != want || len(found.Incomplete) > 0 || found.Verified != (how != "seek" && how != "cached") {
					t.Errorf("status %d, %d driver files (want %d), verified %t, incomplete %v", status, visible, want, found.Verified, found.Incomplete)
				}
			})
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}
