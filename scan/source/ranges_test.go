package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// part answers with a part of the data that begins and ends where it says.
func part(w http.ResponseWriter, data []byte, from, to int, says string) {
	w.Header().Set("Content-Range", says)
	w.Header().Set("Content-Length", strconv.Itoa(to-from))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(data[from:to]) //nolint:errcheck // the client sees it
}

// hangUp closes a connection without an answer.
func hangUp() { panic(http.ErrAbortHandler) }

// TestRanges holds that a transfer which broke goes on whatever a registry
// answers to the range that is asked for, and to how many connections it gives
// none.
func TestRanges(t *testing.T) {
	t.Parallel()
	whole := func(w http.ResponseWriter, layer []byte) {
		_, _ = w.Write(layer) //nolint:errcheck // the client sees it
	}
	from := func(r *http.Request) (n int) {
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &n) // 0 without
		return n
	}
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, layer []byte, n int32){
		"shorter ranges": func(w http.ResponseWriter, r *http.Request, layer []byte, _ int32) {
			at := from(r)
			to := min(at+50_000, len(layer))
			part(w, layer, at, to, fmt.Sprintf("bytes %d-%d/%d", at, to-1, len(layer)))
		},
		"another range": func(w http.ResponseWriter, r *http.Request, layer []byte, _ int32) {
			if from(r) == 0 {
				whole(w, layer)
				return
			}
			part(w, layer, 0, len(layer), fmt.Sprintf("bytes 0-%d/%d", len(layer)-1, len(layer)))
		},
		"no range that it names": func(w http.ResponseWriter, r *http.Request, layer []byte, _ int32) {
			if from(r) == 0 {
				whole(w, layer)
				return
			}
			part(w, layer, 7, len(layer), "")
		},
		"not satisfiable": func(w http.ResponseWriter, r *http.Request, layer []byte, _ int32) {
			if from(r) == 0 {
				whole(w, layer)
				return
			}
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		},
		"no answer for a while": func(w http.ResponseWriter, r *http.Request, layer []byte, n int32) {
			if n < 4 {
				hangUp()
			}
			cutAfter(w, r, layer, len(layer), true)
		},
	} {
		var asked atomic.Int32
		data, b, err := readLayer(t, plainHTTP(), func(w http.ResponseWriter, r *http.Request, layer []byte) bool {
			if n := asked.Add(1); n > 1 {
				answer(w, r, layer, n)
				return true
			}
			cutAfter(w, r, layer, 100_000, true)
			return true
		})
		if err != nil || !bytes.Equal(data, b.Layers[0].Data) {
			t.Errorf("%s: %d of %d bytes, asked %d times, %v", name, len(data), len(b.Layers[0].Data), asked.Load(), err)
		}
	}
}

// TestGone holds that a registry which gives no answer any more is blamed, and
// not the image.
func TestGone(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	_, _, err := readLayer(t, plainHTTP(), func(w http.ResponseWriter, r *http.Request, layer []byte) bool {
		if asked.Add(1) > 1 {
			hangUp()
		}
		cutAfter(w, r, layer, 100_000, true)
		return true
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "the connection was cut 5 times") || !strings.Contains(Hint(err), "network") {
		t.Errorf("%v (%s)", err, Hint(err))
	}
}

// TestPatience holds how often one answer is asked for where the registry asks
// to come again, and that its own words are the reason.
func TestPatience(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{http.StatusTooManyRequests: "(429)", http.StatusServiceUnavailable: "(503 Service Unavailable)"} {
		var asked atomic.Int32
		_, _, err := readLayer(t, plainHTTP(), func(w http.ResponseWriter, r *http.Request, layer []byte) bool {
			if asked.Add(1) == 1 {
				cutAfter(w, r, layer, 100_000, true)
				return true
			}
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(code)
			return true
		})
		if n := asked.Load(); err == nil || !strings.Contains(err.Error(), want) || n != 1+1+maxPatience {
			t.Errorf("%d: asked %d times, %v", code, n, err)
		}
	}
}
