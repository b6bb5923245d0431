package layers

import (
	"archive/tar"
	"context"
	"errors"
	"io"
)

// content is that of a regular file.
type content struct {
	io.Reader
	// at yields the content by position, nil where it comes as a stream.
	at func() (io.ReaderAt, error)
}

// content returns that of an entry of the tar.
func (w *walker) content(h *tar.Header, tr *tar.Reader) content {
	switch {
	case sparse(h):
		return content{Reader: &holes{ctx: w.ctx, r: tr, left: &w.sparse}}
	case w.section == nil || h.Typeflag != tar.TypeReg:
		return content{Reader: tr}
	}
	return content{tr, func() (io.ReaderAt, error) {
		at, err := w.section.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		return io.NewSectionReader(w.section, at, h.Size), nil
	}}
}

// sparse says whether a file is stored without its holes.
func sparse(h *tar.Header) bool {
	return h.Typeflag == tar.TypeGNUSparse || h.PAXRecords["GNU.sparse.major"] != "" || h.PAXRecords["GNU.sparse.map"] != ""
}

// errSparse says that sparse files have more bytes than are read of them.
var errSparse = errors.New("sparse files larger than the limit")

// holes reads a sparse file. A few bytes of the layer may stand for as many of
// the file as a number can say, so those of all are bounded together.
type holes struct {
	ctx  context.Context
	r    io.Reader
	left *int64
}

func (h *holes) Read(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	if *h.left <= 0 {
		return 0, errSparse
	}
	n, err := h.r.Read(p[:min(int64(len(p)), *h.left)])
	*h.left -= int64(n)
	return n, err
}

// tarSection is the section of a file that a tar is read from. Without digests
// only its end tells that it is whole.
type tarSection struct {
	*io.SectionReader
	// ended says that more was wanted than there is: the blocks of zeros that
	// end a tar are not there.
	ended bool
}

// Read implements io.Reader.
func (s *tarSection) Read(p []byte) (int, error) {
	n, err := s.SectionReader.Read(p)
	s.ended = s.ended || n == 0 && errors.Is(err, io.EOF)
	return n, err
}
