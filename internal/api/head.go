package api

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxHead is the size of the largest head of a request, in bytes.
	maxHead = 8 << 10
	// maxHeadLines bounds its fields: a field of three bytes costs net/http 150.
	maxHeadLines = 100
)

// head counts the head of a request while it is read. net/http's own limit
// knows no lines and leaves 4 KiB of slack.
type head struct {
	size, lines int
	blank       bool // the last line is empty so far
}

var errHead = errors.New("the head of the request is too large")

// take counts bytes up to the end of the head, and returns how many belong to
// it and whether it has ended.
func (h *head) take(p []byte) (n int, ended bool, err error) {
	for n < len(p) {
		line := p[n:]
		i := bytes.IndexByte(line, '\n')
		if i >= 0 {
			line = line[:i+1]
		}
		n += len(line)
		h.size += len(line)
		text := bytes.TrimRight(line, "\r\n")
		if i >= 0 {
			h.lines++
			ended = h.blank && len(text) == 0
		}
		switch {
		case h.size > maxHead, h.lines > maxHeadLines+2: // with the request line and the empty one
			return n, false, errHead
		case ended:
			return n, true, nil
		}
		h.blank = i >= 0 || h.blank && len(text) == 0
	}
	return n, false, nil
}

// Read reads the head of a request by itself, so that what follows is counted
// when it is a head in its turn.
func (c *conn) Read(p []byte) (n int, err error) {
	if len(c.rest) > 0 {
		n = copy(p, c.rest)
		c.rest = c.rest[n:]
	} else if n, err = c.Conn.Read(p); err != nil {
		return n, err
	}
	if !c.inHead {
		return n, nil
	}
	used, ended, err := c.head.take(p[:n])
	if err != nil {
		c.refuseHead()
		return 0, io.EOF
	}
	if ended {
		c.inHead = false
		if used < n {
			c.rest = append(append([]byte(nil), p[used:n]...), c.rest...)
		}
	}
	return used, nil
}

const headBody = `{"error":"the head of the request is larger than 8 KiB or has more than 100 fields","code":"payload_too_large"}` + "\n"

var headRefusal = []byte("HTTP/1.1 431 " + http.StatusText(http.StatusRequestHeaderFieldsTooLarge) + "\r\nContent-Type: application/json\r\n" +
	"X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(headBody)) + "\r\n\r\n" + headBody)

// refuseHead answers a head that is too large, and takes what is still coming
// for a moment: closing at once would take the answer back.
func (c *conn) refuseHead() {
	const lingering = 500 * time.Millisecond
	_ = c.Conn.SetDeadline(time.Now().Add(lingering))
	if _, err := c.Conn.Write(headRefusal); err != nil {
		return
	}
	if c.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c.Conn, 1<<20)
	}
}

// ReadFrom lets the kernel send files.
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite ends the answer and leaves the connection readable, as net/http
// does where it may.
func (c *conn) CloseWrite() error {
	if inner, can := c.Conn.(interface{ CloseWrite() error }); can {
		return inner.CloseWrite()
	}
	return net.ErrClosed
}
