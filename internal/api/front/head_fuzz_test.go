package front

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/fuzzbudget"
)

// A head that passes is bounded, and means to net/http the body that it means
// here: what follows it is looked at from the same byte on.
func FuzzHead(f *testing.F) {
	const get = "GET / HTTP/1.1\r\nHost: x\r\n"
	for _, lines := range []string{
		"", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "content-length:5\n", "Content-Length: +5\r\n",
		"Content-Length:\r\n 5\r\n", "A: b\r\n Content-Length: 5\r\n", "Content-Length: " + strings.Repeat("0", 40) + "5\r\n", "Content-Length: 5, 5\r\n", strings.Repeat("A:\r\n", 101),
	} {
		f.Add([]byte(get+lines+"\r\nhello"), byte(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, step byte) {
		fuzzbudget.Usual.Check(t, len(data), func() {
			var h head
			used, ended := 0, false
			for used < len(data) && !ended {
				n, end, err := h.read(data[used:min(used+int(step)+1, len(data))])
				if err != nil {
					return
				}
				if used, ended = used+n, end; n == 0 {
					t.Fatalf("nothing is taken of %q at %d", data, used)
				}
			}
			if h.size > maxHead || h.lines > maxHeadLines+2 {
				t.Errorf("%d bytes, %d lines", h.size, h.lines)
			}
			if !ended {
				return
			}
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data[:used])))
			if err == nil && r.ContentLength >= 0 && (r.ContentLength != h.body || h.encodings > 0) || err == nil && r.ContentLength < 0 && h.encodings != 1 {
				t.Errorf("%q has %d bytes behind it, and here %d (%d encodings)", data[:used], r.ContentLength, h.body, h.encodings)
			}
		})
	})
}
