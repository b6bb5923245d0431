// Command gpulint is a linter for GPU container images and clusters.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/gpulint/gpulint/cmd/gpulint/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// Whoever asks twice does not wait.
	context.AfterFunc(ctx, stop)
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
