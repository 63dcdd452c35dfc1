package api

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/intake"
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
				n, end, err := h.take(data[used:min(used+int(step)+1, len(data))])
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

// A form's fields are bounded, whatever its parts are.
func FuzzForm(f *testing.F) {
	part := func(head, body string) string {
		return "--x\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	for _, parts := range []string{
		part(`name="jid"`, "1@g.us") + part(`name="caption"`, "a\xff"), part(`name="ptt"`, "true") + part(`name="ptt"`, "true"), part(`name*=utf-8''jid`, "x"),
		part(`name="nothing"`, ""), part(`name="jid"; filename="../a"`, "x"), strings.Repeat(part(`name=""`, ""), 20), part(`name="file"`, "hello"),
	} {
		f.Add([]byte(parts + "--x--\r\n"))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		fuzzbudget.Usual.Check(t, len(body), func() {
			form, s := &fileForm{given: make(map[string]bool)}, &server{bodies: newDecoder()}
			defer form.Close()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			parts, err := intake.NewParts(r)
			if err != nil {
				t.Fatal(err)
			}
			for {
				part, err := parts.Next()
				if err != nil || part.FormName() == "file" {
					break
				}
				if err := form.take(t.Context(), s, part); err != nil {
					if code := bridge.CodeOf(err); code == bridge.CodeInvalid || code == bridge.CodePayloadTooLarge {
						mustBeRefusal(t, err, code)
					}
					break
				}
			}
			if len(form.given) > maxFields || len(form.Caption) > maxField {
				t.Errorf("%d fields, a caption of %d bytes", len(form.given), len(form.Caption))
			}
		})
	})
}
