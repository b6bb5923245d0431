package source

import (
	"context"
	"io"
	"os"
)

// interruptible reads from what may block for ever, a pipe or a terminal, until
// the context ends. A reading that is under way then stays behind, and its
// bytes are lost.
type interruptible struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	rest []byte
	err  error
	done chan result
}

type result struct {
	n   int
	err error
}

func newInterruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptible{ctx: ctx, r: r, buf: make([]byte, 256<<10), done: make(chan result, 1)}
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.rest) == 0 {
		if i.err != nil {
			return 0, i.err
		}
		go func() {
			n, err := i.r.Read(i.buf)
			i.done <- result{n, err}
		}()
		select {
		case <-i.ctx.Done():
			i.err = context.Cause(i.ctx)
			return 0, i.err
		case res := <-i.done:
			i.rest, i.err = i.buf[:res.n], res.err
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	if n == 0 && len(p) > 0 {
		return 0, i.err
	}
	return n, nil
}

// openWaiting opens a file. A named pipe waits for a program that writes to it,
// but not past the context's end.
func openWaiting(ctx context.Context, p string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(p)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
