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

// receiveGzip bounds what comes in as well as what comes out: empty gzip blocks
// can go on forever without yielding a byte.
func receiveGzip(w io.Writer, body io.Reader, req Request) (int64, error) {
	capped := http.MaxBytesReader(nil, io.NopCloser(body), compressedLimit(req.MaxBytes))
	unzipped, err := gzip.NewReader(capped)
	if errors.Is(err, io.EOF) {
		return 0, nil // an empty body, which was not compressed
	}
	if err != nil {
		return 0, readError(err, req.MaxBytes)
	}
	return copyLimited(w, unzipped, req, -1)
}

// compressedLimit returns the size that the largest permitted file may have when
// compression only made it longer, with room for headers.
func compressedLimit(limit int64) int64 {
	if limit > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return limit + limit/64 + 64<<10
}

// copyLimited copies up to the limit. It stops before it writes a piece that
// exceeds it.
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

// readError explains why a body of a file that has a limit could not be read.
func readError(err error, limit int64) error {
	var tooLarge *http.MaxBytesError
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &tooLarge):
		return errTooLarge(limit)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return broke(err, "the compressed file is damaged")
	}
	return broke(err, "the file broke off before its end")
}
