package scan

import (
	"context"
	"fmt"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/layers"
	"github.com/gpulint/gpulint/scan/source"
)

// noLayer is the layer of files that no layer brought.
const noLayer = -1

// rootfs reads the root directory of a file system, which has no layers.
func rootfs(ctx context.Context, img *source.Image, o Options) (*facts.Image, error) {
	f, err := layers.WalkDir(ctx, img.Root, layers.Options{Limits: o.Limits, TmpDir: o.TmpDir})
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: reading the directory: %w", img.Ref, err)
	}
	out := header(img)
	layers.Merge(out, []*layers.Facts{f})
	for i := range out.DriverFiles {
		out.DriverFiles[i].Layer = noLayer
	}
	for i := range out.Runtimes {
		out.Runtimes[i].Layer = noLayer
	}
	for i := range out.Toolkits {
		out.Toolkits[i].Layer = noLayer
	}
	for i := range out.Binaries {
		out.Binaries[i].Layer = noLayer
	}
	for i := range out.Libraries {
		out.Libraries[i].Layer = noLayer
	}
	for i := range out.Frameworks {
		out.Frameworks[i].Layer = noLayer
	}
	for i := range out.Packages {
		out.Packages[i].Layer = noLayer
	}
	for i := range out.Incomplete {
		out.Incomplete[i].Layer = noLayer
	}
	return out, nil
}
