package cli

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/gpulint/gpulint/scan/source"
)

// minProgress is the size in bytes from which a layer gets a line of its own:
// smaller ones are read before it can be seen.
const minProgress = 4 << 20

// progress shows how far the layers are, one line each, while they are read,
// and all of them together.
type progress struct {
	bars *mpb.Progress
	// size is that of all layers in bytes; total is their line, begun with the
	// first of them.
	size  int64
	once  sync.Once
	total *mpb.Bar
}

// newProgress is nil where nobody looks: standard error is no terminal, a CI
// system runs it, or it is not wanted.
func (o *imageOptions) newProgress(errw io.Writer, images []*source.Image) *progress {
	f, ok := errw.(*os.File)
	if o.noProgress || o.quiet || !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progress{bars: mpb.New(mpb.WithOutput(errw), mpb.WithWidth(32)), size: totalSize(images)}
}

// totalSize is the size in bytes of all layers, each counted once.
func totalSize(images []*source.Image) int64 {
	var n int64
	seen := map[string]bool{}
	for _, img := range images {
		for _, l := range img.Layers {
			if l.Foreign || l.Size < 0 || l.Blob != "" && seen[l.Blob] {
				continue
			}
			seen[l.Blob] = true
			n += l.Size
		}
	}
	return n
}

// layer starts the line of a layer.
func (p *progress) layer(l source.Layer) (read func(int), done func()) {
	p.begin()
	if l.Size < minProgress {
		return p.total.IncrBy, func() {}
	}
	bar := p.line(fmt.Sprintf("layer %d %s", l.Index, digestStart(l.Digest)), l.Size, mpb.BarRemoveOnComplete())
	return func(n int) { bar.IncrBy(n); p.total.IncrBy(n) }, func() { bar.Abort(true) }
}

// begin starts the line of all layers.
func (p *progress) begin() {
	p.once.Do(func() { p.total = p.line("total", p.size, mpb.BarPriority(math.MaxInt)) })
}

// known is told of a layer that need not be read.
func (p *progress) known(l source.Layer) {
	if l.Size > 0 {
		p.begin()
		p.total.IncrInt64(l.Size)
	}
}

func (p *progress) line(name string, size int64, option mpb.BarOption) *mpb.Bar {
	return p.bars.AddBar(size, option,
		mpb.PrependDecorators(decor.Name(name+" ")),
		mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f "), decor.AverageSpeed(decor.SizeB1024(0), "% .1f")),
	)
}

// wait ends the lines, so that the report stands below them.
func (p *progress) wait() {
	if p == nil {
		return
	}
	if p.total != nil {
		p.total.Abort(true)
	}
	p.bars.Shutdown()
}

// digestStart is as much of a digest as people compare. It comes from a
// manifest, where only hex digits pass.
func digestStart(d string) string {
	_, hex, _ := strings.Cut(d, ":")
	return hex[:min(len(hex), 12)]
}
