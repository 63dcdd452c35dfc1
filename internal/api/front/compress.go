package front

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

const (
	// compressing limits how many answers are compressed at the same time, because each holds about 1 MB.
	compressing = 8
	// compressedFrom is the size of the smallest answer that is compressed, in bytes.
	compressedFrom = 1 << 10
	// padding hides the exact size of a compressed answer: it adds up to so many bytes to the head of gzip.
	padding = 32
)

// Compress returns a middleware that compresses JSON and YAML with gzip for callers that accept it. While
// many answers are being compressed, further ones are not. It is not for streams of events, nor for answers
// with a secret: a caller that chose a part of such an answer could guess the rest by its size.
func Compress() func(http.Handler) http.Handler {
	slots := make(chan struct{}, compressing)
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(compressedFrom), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false),
		gzhttp.ContentTypes([]string{"application/json", "application/yaml"}), gzhttp.RandomJitter(padding, compressedFrom, false),
	)
	if err != nil {
		panic("front: wrong options for gzip: " + err.Error())
	}
	return func(next http.Handler) http.Handler {
		compressed := wrap(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			accepts := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && r.Method != http.MethodHead
			if !accepts || strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
				w.Header().Add("Vary", "Accept-Encoding")
				next.ServeHTTP(w, r)
				return
			}
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
				compressed.ServeHTTP(w, r)
			default:
				w.Header().Add("Vary", "Accept-Encoding")
				next.ServeHTTP(w, r)
			}
		})
	}
}
