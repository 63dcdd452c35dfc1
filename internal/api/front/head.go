package front

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"bridged/internal/bridge"
)

const (
	// maxHead limits the head of a request, in bytes.
	maxHead = 8 << 10
	// maxHeadLines limits its fields: net/http needs 150 bytes for a field of three.
	maxHeadLines = 100
)

// head checks the head of a request while it is read. net/http does not limit the lines and allows
// 4 KiB more than its limit. If a body has a length and is chunked, net/http uses the chunks, but a
// proxy in front may use the length.
type head struct {
	size, lines int
	filled      bool // whether the last line is not empty
	start       [48]byte
	started     int // bytes in start, the beginning of the last line

	lengths, encodings int // fields that say how long the body is
	body               int64
}

var (
	errHeadTooLarge  = errors.New("the head of the request is too large")
	errHeadAmbiguous = errors.New("the length of the request's body is ambiguous")
)

// read checks bytes up to the end of the head. It returns how many belong to the head and whether the
// head has ended.
func (h *head) read(p []byte) (n int, ended bool, err error) {
	for n < len(p) {
		line := p[n:]
		i := bytes.IndexByte(line, '\n')
		if i >= 0 {
			line = line[:i+1]
		}
		n += len(line)
		h.size += len(line)
		h.started += copy(h.start[h.started:], line)
		h.filled = h.filled || len(bytes.TrimRight(line, "\r\n")) > 0
		if i >= 0 {
			ended = h.endLine()
		}
		switch {
		case h.size > maxHead, h.lines > maxHeadLines+2: // with the request line and the empty one
			return n, false, errHeadTooLarge
		case ended && (h.lengths+h.encodings > 1 || h.body < 0):
			return n, false, errHeadAmbiguous
		case ended:
			return n, true, nil
		}
	}
	return n, false, nil
}

// endLine ends a line and reports whether it ends the head. net/http skips empty lines before a
// request.
func (h *head) endLine() (ended bool) {
	if h.filled || h.lines > 0 {
		h.lines++
	}
	ended = !h.filled && h.lines > 0
	h.noteLength()
	h.filled, h.started = false, 0
	return ended
}

// noteLength stores the body's length if the last line has it: -1 if it is not a plain number or does
// not fit in start.
func (h *head) noteLength() {
	name, value, _ := bytes.Cut(h.start[:h.started], []byte(":"))
	switch {
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		h.encodings++
	case bytes.EqualFold(name, []byte("content-length")):
		h.lengths++
		length, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 63)
		if h.body = int64(length); err != nil || h.started == len(h.start) { // more of it may follow
			h.body = -1
		}
	}
}

// Read reads only a head, or only a body of known length, so that the next head is checked. After a
// chunked body the connection is closed.
func (c *conn) Read(p []byte) (n int, err error) {
	if c.body > 0 {
		p = p[:min(int64(len(p)), c.body)]
	}
	if len(c.rest) > 0 {
		n = copy(p, c.rest)
		c.rest = c.rest[n:]
	} else if n, err = c.Conn.Read(p); err != nil {
		return n, err
	}
	if !c.inHead {
		c.body = max(c.body-int64(n), 0)
		return n, nil
	}
	used, ended, err := c.head.read(p[:n])
	if err != nil {
		c.refuseHead(err)
		return 0, io.EOF
	}
	if ended {
		c.inHead, c.body = false, c.head.body
		if used < n {
			c.rest = append(append([]byte(nil), p[used:n]...), c.rest...)
		}
	}
	return used, nil
}

// headRefusals holds the answers to heads that do not reach net/http.
var headRefusals = map[error][]byte{
	errHeadTooLarge: plainAnswer(http.StatusRequestHeaderFieldsTooLarge, bridge.CodePayloadTooLarge,
		"the head of the request is larger than 8 KiB or has more than 100 fields"),
	errHeadAmbiguous: plainAnswer(http.StatusBadRequest, bridge.CodeInvalid,
		"a request must have one Content-Length that is a plain number, or one Transfer-Encoding, or neither"),
}

// plainAnswer returns a whole answer that closes the connection.
func plainAnswer(status int, code bridge.Code, sentence string) []byte {
	body := fmt.Sprintf(`{"error":%q,"code":%q}`+"\n", sentence, code)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"+
		"Cache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
}

// refuseHead answers a refused head and reads for another moment, because the caller may not get the
// answer if the connection is closed with unread bytes.
func (c *conn) refuseHead(fault error) {
	const lingering = 500 * time.Millisecond
	_ = c.Conn.SetDeadline(time.Now().Add(lingering))
	if _, err := c.Conn.Write(headRefusals[fault]); err != nil {
		return
	}
	if c.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, 1<<20)
	}
}

// ReadFrom writes the bytes of r. If r is a file, the kernel sends it.
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite ends the answer. The connection can still be read, as net/http requires.
func (c *conn) CloseWrite() error {
	if inner, can := c.Conn.(interface{ CloseWrite() error }); can {
		return inner.CloseWrite()
	}
	return net.ErrClosed
}
