package api_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Requests that two readers could cut in two ways are refused, and nothing
// that follows on their connection is taken for a request.
func TestProtocol_AmbiguousRequestsAreRefused(t *testing.T) {
	const next = "GET /api/auth/status" + posting + "\r\n"
	for name, request := range map[string]string{
		"two lengths":                 "POST /api/auth/pair" + posting + "Content-Length: 2\r\nContent-Length: 60\r\n\r\n{}" + next,
		"a list of lengths":           "POST /api/auth/pair" + posting + "Content-Length: 2, 60\r\n\r\n{}" + next,
		"a signed length":             "POST /api/auth/pair" + posting + "Content-Length: +2\r\n\r\n{}" + next,
		"a length and chunks":         "POST /api/auth/pair" + posting + "Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + next,
		"chunks and a length":         "POST /api/auth/pair" + posting + "Transfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + next,
		"an unknown encoding":         "POST /api/auth/pair" + posting + "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + next,
		"two encodings":               "POST /api/auth/pair" + posting + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + next,
		"a space before the colon":    "POST /api/auth/pair" + posting + "Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + next,
		"a carriage return in a line": "POST /api/auth/pair" + posting + "X: y\rTransfer-Encoding: chunked\r\n\r\n" + next,
		"no host":                     "POST /api/auth/pair HTTP/1.1\r\nAuthorization: Bearer " + token + "\r\n\r\n" + next,
		"two hosts":                   "POST /api/auth/pair" + posting + "Host: y\r\n\r\n" + next,
		"a bad chunk":                 "POST /api/auth/pair" + posting + "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n" + next,
	} {
		t.Run(name, func(t *testing.T) {
			onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
				conn := dial()
				go func() { _, _ = io.WriteString(conn, request) }() // it is not read to its end
				got, _ := waitForEnd(conn)
				if answers := strings.Count(got, "HTTP/1.1 "); answers > 1 || answers == 1 && !strings.HasPrefix(got, "HTTP/1.1 400 ") && !strings.HasPrefix(got, "HTTP/1.1 501 ") {
					t.Errorf("answered %s", got)
				}
			})
		})
	}
}

// HEAD is GET without the body, and other methods are told what there is.
func TestProtocol_OtherMethods(t *testing.T) {
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		answers := bufio.NewReader(conn)
		for _, c := range []struct {
			method, path string
			status       int
			allow        string
		}{
			{"HEAD", "/healthz", 200, ""}, {"HEAD", "/api/auth/status", 200, ""}, {"OPTIONS", "/healthz", 405, "GET, HEAD"},
			{"OPTIONS", "/api/auth/pair", 405, "POST"}, {"TRACE", "/healthz", 405, "GET, HEAD"}, {"CONNECT", "/healthz", 405, "GET, HEAD"}, {"GET", "/healthz", 200, ""},
		} {
			write(t, conn, c.method+" "+c.path+posting+"\r\n")
			resp, err := http.ReadResponse(answers, &http.Request{Method: c.method})
			if err != nil {
				t.Fatalf("%s %s: %v", c.method, c.path, err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.status || resp.Header.Get("Allow") != c.allow || (len(body) == 0) != (c.method == "HEAD") {
				t.Errorf("%s %s: %d, Allow %q, %s, %v", c.method, c.path, resp.StatusCode, resp.Header.Get("Allow"), body, err)
			}
		}
	})
}
