//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
)

// TestSilentInput holds that an input which sends nothing, or stops in the
// middle, does not outlast --timeout.
func TestSilentInput(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		input string
		begin string
	}{
		"silent standard input":         {"-", ""},
		"standard input that stops":     {"-", strings.Repeat("x", 100)},
		"a named pipe without a writer": {fifo, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := io.Pipe()
			defer func() { _ = w.Close() }()
			go func() { _, _ = io.WriteString(w, tc.begin) }()
			var out, errw bytes.Buffer
			done := make(chan int, 1)
			go func() {
				done <- cli.Main(context.Background(), []string{"image", "--timeout", "200ms", "-f", "json", "--input", tc.input}, r, &out, &errw)
			}()
			select {
			case code := <-done:
				if code != 4 || !strings.Contains(errw.String(), "out of time after 200ms (--timeout)") {
					t.Errorf("exit status %d, %s", code, errw.String())
				}
			case <-time.After(time.Minute):
				t.Fatal("it waits for ever")
			}
		})
	}
}
