package api_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Requests that two readers could cut in two ways are refused, and nothing
// that follows on their connection is taken for a request.
func TestProtocol_AmbiguousRequestsAreRefused(t *testing.T) {
	t.Parallel()
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
		"the same length twice":       "POST /api/auth/pair" + posting + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" + next,
		"a length far behind blanks":  "POST /api/auth/pair" + posting + "Content-Length:" + strings.Repeat(" ", 60) + "2\r\n\r\n{}" + next,
		"a length of many zeros":      "POST /api/auth/pair" + posting + "Content-Length: " + strings.Repeat("0", 60) + "2\r\n\r\n{}" + next,
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
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		answers := bufio.NewReader(conn)
		for _, c := range []struct {
			method, path string
			status       int
			allow        string
		}{
			{"HEAD", "/healthz", 200, ""},
			{"HEAD", "/api/auth/status", 200, ""},
			{"OPTIONS", "/healthz", 405, "GET, HEAD"},
			{"OPTIONS", "/api/auth/pair", 405, "POST"},
			{"TRACE", "/healthz", 405, "GET, HEAD"},
			{"CONNECT", "/healthz", 405, "GET, HEAD"},
			{"GET", "/healthz", 200, ""},
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

// A request behind a body is looked at as closely as the first one of its
// connection.
func TestProtocol_BehindABodyNothingIsOverlooked(t *testing.T) {
	t.Parallel()
	const known = "POST /api/auth/pair" + posting
	ambiguous := known + "Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	large := known + strings.Repeat("A:\r\n", 100) + "\r\n"
	for name, c := range map[string]struct{ sent, statuses string }{
		"a length, ambiguous":    {known + "Content-Length: 2\r\n\r\n{}" + ambiguous, "200 400"},
		"a length, large":        {known + "Content-Length: 2\r\n\r\n{}" + large, "200 431"},
		"empty lines, ambiguous": {known + "Content-Length: 2\r\n\r\n{}\r\n\r\n" + ambiguous, "200 400"},
		"an unread body, large":  {"GET /healthz" + posting + "Content-Length: 2\r\n\r\n{}" + large, "200 431"},
		"chunks, ambiguous":      {known + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + ambiguous, "200"},
		"chunks, large":          {known + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + large, "200"},
		"three that will do":     {strings.Repeat(known+"Content-Length: 2\r\n\r\n{}", 3), "200 200 200"},
	} {
		t.Run(name, func(t *testing.T) {
			onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
				conn := dial()
				go func() { _, _ = io.WriteString(conn, c.sent) }() // it is not read to its end
				got, _ := waitForEnd(conn)
				var statuses []string
				for _, answer := range strings.Split(got, "HTTP/1.1 ")[1:] {
					statuses = append(statuses, answer[:3])
				}
				if all := strings.Join(statuses, " "); all != c.statuses {
					t.Errorf("answered %s, want %s: %s", all, c.statuses, got)
				}
			})
		})
	}
}

// Behind chunks nothing is looked at, whatever the handler says of the
// connection: one beside the router may keep it open.
func TestProtocol_BehindChunksOfAnotherHandlerNothingIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Connection", "keep-alive")
			_, _ = io.WriteString(w, "done")
		})
		serveOnPipes(t, handler, func(dial func() net.Conn) {
			conn := dial()
			second := "POST /mcp" + posting + strings.Repeat("A:\r\n", 200) + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
			go func() {
				_, _ = io.WriteString(conn, "POST /mcp"+posting+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"+second)
			}()
			if got, _ := waitForEnd(conn); strings.Count(got, "HTTP/1.1") != 1 || calls != 1 {
				t.Errorf("%d calls: %s", calls, got)
			}
		})
	})
}

// OPTIONS * is a request like others: it has the bounds and the headers of all,
// and its body is not waited for.
func TestProtocol_OptionsOfTheWholeServer(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		write(t, conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
		got, after := waitForEnd(conn)
		if !strings.HasPrefix(got, "HTTP/1.1 404 ") || !strings.Contains(got, "X-Request-Id") || after > 2*time.Second {
			t.Errorf("after %s: %s", after, got)
		}
	})
}

// HTTP/2 is not spoken, and its preface opens nothing.
func TestProtocol_PrefaceOfHTTP2(t *testing.T) {
	t.Parallel()
	onPipes(t, func(t *testing.T, _ *account, dial func() net.Conn) {
		conn := dial()
		go func() { _, _ = io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") }()
		if got, after := waitForEnd(conn); strings.Contains(got, " 200 ") || after > 11*time.Second {
			t.Errorf("after %s: %s", after, got)
		}
	})
}
