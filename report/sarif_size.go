package report

import (
	"bytes"
	"compress/gzip"
	"io"
)

// maxCompressed is how large a file may be when compressed. GitHub refuses more
// than 10 MB; those who upload may compress a little worse.
const maxCompressed = 9_000_000

// writeSmall writes the file that build makes with as many results in a run,
// and as many further places in all, as the size allows. Only names from a
// hostile image, long and random, ever need fewer than the usual.
func writeSmall(w io.Writer, size int, build func(results, related int) (any, error)) error {
	results, related := maxResults, maxRelatedInFile
	for {
		log, err := build(results, related)
		if err != nil {
			return err
		}
		var file bytes.Buffer
		if err := encode(&file, log); err != nil {
			return err
		}
		if results == 0 || compressedFits(file.Bytes(), size) {
			_, err := w.Write(file.Bytes())
			return err
		}
		switch { // what a result says matters more than its further places
		case related == maxRelatedInFile:
			related /= 10
		case related > 0:
			related = 0
		default:
			results /= 2
		}
	}
}

// compressedFits says whether data is no larger than size when compressed.
func compressedFits(data []byte, size int) bool {
	if len(data) <= size {
		return true // it hardly grows
	}
	n := &counter{}
	z := gzip.NewWriter(n)
	_, _ = z.Write(data) // a counter takes all
	_ = z.Close()
	return n.bytes <= size
}

type counter struct{ bytes int }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}
