// Command gpulint is a linter for GPU container images and clusters.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
)

// gcPercent is how much garbage there may be for each 100 bytes in use: less
// than Go's default, for memory is scarce where many scans run beside each
// other, and a scan allocates little. GOGC overrides it.
const gcPercent = 30

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Whoever asks twice does not wait.
	context.AfterFunc(ctx, stop)
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
