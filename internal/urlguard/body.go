package urlguard

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
)

// pieceBytes is the memory that one fetch takes for a file of any size.
const pieceBytes = 64 << 10

// writeError is a failure of the caller's writer, not of the URL.
type writeError struct{ err error }

func (e *writeError) Error() string { return fmt.Sprintf("write what was fetched: %v", e.err) }
func (e *writeError) Unwrap() error { return e.err }

// receive streams a body into w, decompressed, and returns its size.
func receive(w io.Writer, resp *http.Response, req Request) (int64, error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ",")))
	total := resp.ContentLength
	switch encoding {
	case "", "identity":
		if total > req.MaxBytes {
			return 0, errTooLarge(req.MaxBytes)
		}
		return copyLimited(w, resp.Body, req, total)
	case "gzip", "x-gzip":
		return receiveGzip(w, resp.Body, req)
	}
	return 0, refuse("the server compressed the file in a way that was not asked for")
}

// receiveGzip bounds its input as well as its output: empty gzip blocks can go on
// forever without yielding a byte. Compression may make a file a little longer.
func receiveGzip(w io.Writer, body io.ReadCloser, req Request) (int64, error) {
	limit := min(req.MaxBytes, math.MaxInt64/2)
	capped := http.MaxBytesReader(nil, body, limit+limit/64+64<<10)
	unzipped, err := gzip.NewReader(capped)
	if errors.Is(err, io.EOF) {
		return 0, nil // an empty body, which was not compressed
	}
	if err != nil {
		return 0, readError(err, req.MaxBytes)
	}
	return copyLimited(w, unzipped, req, -1)
}

// copyLimited copies up to the limit, and writes nothing beyond it.
func copyLimited(w io.Writer, r io.Reader, req Request, total int64) (int64, error) {
	buf := make([]byte, pieceBytes)
	var done int64
	for {
		n, err := r.Read(buf)
		if done+int64(n) > req.MaxBytes {
			return done, errTooLarge(req.MaxBytes)
		}
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return done, &writeError{err}
			}
			done += int64(n)
			if req.Progress != nil {
				req.Progress(done, total)
			}
		}
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return done, readError(err, req.MaxBytes)
		}
	}
}

func readError(err error, limit int64) error {
	switch {
	case is[*http.MaxBytesError](err):
		return errTooLarge(limit)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), is[flate.CorruptInputError](err):
		return broke(err, "the compressed file is damaged")
	}
	return broke(err, "the file broke off before its end")
}
