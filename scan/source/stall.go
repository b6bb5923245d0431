package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// errStalled says that no byte came for a time.
var errStalled = errors.New("no data came")

// watch ends a request that brings nothing for a time.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

func newWatch(ctx context.Context, stall time.Duration) *watch {
	w := &watch{stall: stall}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(stall, func() { w.cancel(fmt.Errorf("%w for %s", errStalled, stall)) })
	return w
}

// end ends the request.
func (w *watch) end() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// reason is the watch's own error where that has ended the request, else err.
func (w *watch) reason(err error) error {
	if cause := context.Cause(w.ctx); errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

// watchedBody is the body of a watched request.
type watchedBody struct {
	io.ReadCloser
	w *watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.w.timer.Reset(b.w.stall) // who reads may take any time between two calls
	n, err := b.ReadCloser.Read(p)
	b.w.timer.Stop()
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) {
		err = b.w.reason(err)
	}
	b.w.end()
	return n, err
}

func (b *watchedBody) Close() error {
	b.w.end()
	return b.ReadCloser.Close()
}
