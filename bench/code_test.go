package bench

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gpulint/gpulint/scan/binary"
)

// real is a file that the integration tests have fetched: make bench fetches it.
func real(b *testing.B, pattern string) string {
	b.Helper()
	dir := os.Getenv("GPULINT_TEST_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			b.Fatal(err)
		}
		dir = filepath.Join(base, "gpulint-test")
	}
	list, err := filepath.Glob(filepath.Join(dir, "files", pattern))
	if err != nil || len(list) != 1 {
		b.Fatalf("%s: %v (%v): make bench fetches it", pattern, list, err)
	}
	return list[0]
}

// BenchmarkDeviceCode reads torch's libtorch_cuda.so as a stream, against
// copying the same bytes through a buffer of the same size, and by position,
// against NVIDIA's cuobjdump.
func BenchmarkDeviceCode(b *testing.B) {
	path := real(b, "torch-*-libtorch_cuda.so")
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	size := int64(len(data))
	once := func(b *testing.B, f func() error) time.Duration {
		b.Helper()
		start := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	stream := func() error {
		_, err := binary.Read(struct{ io.Reader }{bytes.NewReader(data)}, size, binary.Options{Code: true})
		return err
	}
	buf := make([]byte, 256<<10)
	copied := func() error {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{bytes.NewReader(data)}, buf)
		return err
	}
	b.Run("stream", func(b *testing.B) {
		b.SetBytes(size)
		var here, limit time.Duration
		for b.Loop() {
			here += once(b, stream)
			limit += once(b, copied)
		}
		b.ReportMetric(float64(size)*float64(b.N)/here.Seconds()/1e9, "GB/s-alone")
		b.ReportMetric(float64(here)/float64(limit), "x-of-copying")
	})
	cuobjdump := real(b, "nvidia-cuda-toolkit-*-cuobjdump")
	b.Run("cuobjdump", func(b *testing.B) {
		var here, peer time.Duration
		for b.Loop() {
			here += once(b, func() error {
				f, err := os.Open(path)
				if err != nil {
					return err
				}
				defer func() { _ = f.Close() }() // read only
				_, err = binary.Read(struct{ io.Reader }{f}, size, binary.Options{Code: true})
				return err
			})
			peer += once(b, func() error { return exec.Command(cuobjdump, "-lelf", "-lptx", path).Run() })
		}
		b.ReportMetric(float64(peer)/float64(here), "x-faster-than-cuobjdump")
	})
}
