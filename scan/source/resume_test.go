package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpulint/gpulint/internal/testimage"
)

// readLayer opens an image of a registry with a fault, and reads its first
// layer.
func readLayer(t *testing.T, o Options, fault func(w http.ResponseWriter, r *http.Request, layer []byte) bool) ([]byte, testimage.Built, error) {
	t.Helper()
	img := small(testimage.Plain)
	img.Layers[0].Files = append(img.Layers[0].Files, testimage.Reg("big", bytes.Repeat([]byte("0123456789abcdef"), 20_000)))
	b := img.Build()
	host := startRegistry(t, func(w http.ResponseWriter, r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/blobs/"+b.Layers[0].Digest) && fault(w, r, b.Layers[0].Data)
	})
	if err := b.Push(t.Context(), host, "team/app", "1"); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), host+"/team/app:1", o)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := s.Images[0].Layers[0].Open(t.Context())
	if err != nil {
		return nil, b, err
	}
	data, err := io.ReadAll(blob)
	if cerr := blob.Close(); cerr != nil {
		t.Error(cerr)
	}
	return data, b, err
}

// cutAfter sends a part of what was asked for and cuts the connection.
func cutAfter(w http.ResponseWriter, r *http.Request, data []byte, n int, ranges bool) {
	from := 0
	if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil && ranges {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
		w.Header().Set("Content-Length", strconv.Itoa(len(data)-from))
		w.WriteHeader(http.StatusPartialContent)
	} else {
		from = 0
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	}
	_, _ = w.Write(data[from:min(from+n, len(data))]) //nolint:errcheck // the client sees it
	if from+n < len(data) {
		panic(http.ErrAbortHandler)
	}
}

// TestResume holds that a transfer which breaks is taken up where it broke, by
// a range or from the start.
func TestResume(t *testing.T) {
	t.Parallel()
	for name, ranges := range map[string]bool{"with ranges": true, "without": false} {
		var asked atomic.Int32
		data, b, err := readLayer(t, plainHTTP(), func(w http.ResponseWriter, r *http.Request, layer []byte) bool {
			n := 100_000
			if !ranges {
				n *= int(asked.Load()) + 1 // each time a little further
			}
			asked.Add(1)
			cutAfter(w, r, layer, n, ranges)
			return true
		})
		if err != nil || !bytes.Equal(data, b.Layers[0].Data) {
			t.Errorf("%s: %d of %d bytes, %v", name, len(data), len(b.Layers[0].Data), err)
		}
		if n := asked.Load(); n != 4 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

// TestStall holds that a transfer without data ends with what was done.
func TestStall(t *testing.T) {
	t.Parallel()
	o := plainHTTP()
	o.Stall = 50 * time.Millisecond
	var asked atomic.Int32
	_, _, err := readLayer(t, o, func(w http.ResponseWriter, r *http.Request, layer []byte) bool {
		if asked.Add(1) == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(layer)))
			_, _ = w.Write(layer[:200_000]) //nolint:errcheck // the client sees it
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
		return true
	})
	if !errors.Is(err, errStalled) || !strings.Contains(err.Error(), "after 0.2 of 0.3 MB") || Hint(err) == "" {
		t.Errorf("%v", err)
	}
	if n := asked.Load(); n != maxResumes+1 {
		t.Errorf("asked %d times", n)
	}
}

// TestNoResume holds that an answer which will not change is not asked for
// again.
func TestNoResume(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	_, _, err := readLayer(t, plainHTTP(), func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	if err == nil || asked.Load() != 1 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

// TestRetryAfter holds that a host which asks to come again is heard.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after  string
		status int
		asked  int32
		fails  bool
	}{
		"429":            {"0", 429, 2, false},
		"503":            {"0", 503, 2, false},
		"a date":         {time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), 429, 2, false},
		"an hour":        {"3600", 429, 1, true},
		"no such header": {"", 429, 1, true},
		"nonsense":       {"soon", 429, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			data, b, err := readLayer(t, plainHTTP(), func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				if asked.Add(1) > 1 {
					return false
				}
				if tt.after != "" {
					w.Header().Set("Retry-After", tt.after)
				}
				w.WriteHeader(tt.status)
				return true
			})
			if (err != nil) != tt.fails || !tt.fails && !bytes.Equal(data, b.Layers[0].Data) {
				t.Errorf("%v", err)
			}
			if n := asked.Load(); n != tt.asked {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestPolite holds that a host gets few requests at once, and that whoever
// waits can be called off.
func TestPolite(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	release := make(chan struct{})
	p := &polite{rt: roundTripFunc(func(*http.Request) (*http.Response, error) {
		most.Store(max(most.Load(), now.Add(1)))
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(""))}, nil
	})}
	get := func(ctx context.Context) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://host/", nil)
		if err != nil {
			return nil, err
		}
		return p.RoundTrip(req)
	}
	var open, done sync.WaitGroup
	open.Add(maxPerHost)
	for range maxPerHost {
		done.Go(func() {
			res, err := get(t.Context())
			open.Done()
			if err != nil {
				t.Error(err)
				return
			}
			<-release
			now.Add(-1)
			if err := res.Body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	open.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := get(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more: %v", err)
	}
	close(release)
	done.Wait()
	if _, err := get(t.Context()); err != nil || most.Load() != maxPerHost {
		t.Errorf("%d at once, %v", most.Load(), err)
	}
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
