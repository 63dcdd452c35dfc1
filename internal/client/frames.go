package client

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"
)

// frame is one piece of a stream of server-sent events. One without data is
// for the reader of the stream alone.
type frame struct {
	id    string
	event string
	data  string
	retry time.Duration
}

// frames reads server-sent events (the HTML standard's text/event-stream).
type frames struct{ lines *bufio.Reader }

func newFrames(r io.Reader) *frames { return &frames{bufio.NewReader(r)} }

// next returns the next frame: io.EOF at the end, also where a frame is cut
// off.
func (r *frames) next() (f frame, err error) {
	some := false
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			return frame{}, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			if some {
				return f, nil
			}
			continue
		}
		some = f.field(line) || some
	}
}

// field reads one line and reports whether it says anything: comments do not.
func (f *frame) field(line string) bool {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		f.id = value
	case "event":
		f.event = value
	case "data":
		if f.data != "" {
			f.data += "\n"
		}
		f.data += value
	case "retry":
		if ms, err := strconv.Atoi(value); err == nil {
			f.retry = time.Duration(ms) * time.Millisecond
		}
	default:
		return false
	}
	return true
}
