package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/gpulint/gpulint/scan/source"
)

// minProgress is the size in bytes from which a layer gets a line of its own:
// smaller ones are read before it can be seen.
const minProgress = 4 << 20

// progress shows how far the layers are, one line each, while they are read.
type progress struct{ bars *mpb.Progress }

// newProgress is nil where nobody looks: standard error is no terminal, a CI
// system runs it, or it is not wanted.
func (o *imageOptions) newProgress(errw io.Writer) *progress {
	f, ok := errw.(*os.File)
	if o.noProgress || o.quiet || !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progress{mpb.New(mpb.WithOutput(errw), mpb.WithWidth(32))}
}

// layer starts the line of a layer.
func (p *progress) layer(l source.Layer) (read func(int), done func()) {
	if l.Size < minProgress {
		return func(int) {}, func() {}
	}
	bar := p.bars.AddBar(l.Size, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("layer %d %s ", l.Index, digestStart(l.Digest)))),
		mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f "), decor.AverageSpeed(decor.SizeB1024(0), "% .1f")),
	)
	return bar.IncrBy, func() { bar.Abort(true) }
}

// wait ends the lines, so that the report stands below them.
func (p *progress) wait() {
	if p != nil {
		p.bars.Shutdown()
	}
}

// digestStart is as much of a digest as people compare. It comes from a
// manifest, where only hex digits pass.
func digestStart(d string) string {
	_, hex, _ := strings.Cut(d, ":")
	return hex[:min(len(hex), 12)]
}
