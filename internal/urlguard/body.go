package urlguard

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
)

// pieceBytes is the memory that one fetch takes for a file of any size.
const pieceBytes = 64 << 10

// receive streams a body into w, decompressed, and returns its size. Errors of w stay as they are.
func receive(w io.Writer, resp *http.Response, limit int64) (int64, error) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(resp.Header.Values("Content-Encoding"), ",")))
	switch encoding {
	case "", "identity":
		if resp.ContentLength > limit {
			return 0, errTooLarge(limit)
		}
		return copyLimited(w, resp.Body, limit)
	case "gzip", "x-gzip":
		return receiveGzip(w, resp.Body, limit)
	}
	return 0, refuse("the server compressed the file in a way that was not asked for")
}

// receiveGzip bounds its input, too: empty blocks can go on forever without yielding a byte.
func receiveGzip(w io.Writer, body io.ReadCloser, limit int64) (int64, error) {
	most := min(limit, math.MaxInt64/2)
	capped := http.MaxBytesReader(nil, body, most+most/64+64<<10)
	unzipped, err := gzip.NewReader(capped)
	if errors.Is(err, io.EOF) {
		return 0, nil // an empty body, which was not compressed
	}
	if err != nil {
		return 0, readError(err, limit)
	}
	return copyLimited(w, unzipped, limit)
}

// copyLimited copies up to the limit, and writes nothing beyond it.
func copyLimited(w io.Writer, r io.Reader, limit int64) (int64, error) {
	buf := make([]byte, pieceBytes)
	var done int64
	for {
		n, err := r.Read(buf)
		if done+int64(n) > limit {
			return done, errTooLarge(limit)
		}
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return done, err
			}
			done += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return done, readError(err, limit)
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
