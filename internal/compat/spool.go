package compat

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// spooler passes a JSON object on while it is read, with an empty text in place of each one
// that a member has for a file. It checks no more of the object than it needs to find them.
type spooler struct {
	in      *bufio.Reader
	members []string // paths
	take    func(text io.Reader) error

	deepest int // how many levels the paths have at most

	levels []level
	inText bool   // a string is passed on
	isKey  bool   // that string is a member's name
	isNext bool   // its next byte is escaped
	name   []byte // of that member, with its escapes

	buffer []byte
	at     int // what of the buffer was passed on
	err    error
}

// level is an object or a list around what is read.
type level struct {
	isObject bool
	wantsKey bool   // the next string is a member's name
	key      string // of the member whose value is read
}

const (
	maxLevels = 100
	// maxName bounds the names that are compared with those of members.
	maxName = 256
	// spoolStep is how many bytes are passed on at a time.
	spoolStep = 4 << 10
)

// newSpooler returns a reader of an object. take gets the unescaped text of a member that
// is not [isPlain], and must read it to its end.
func newSpooler(in io.Reader, members []string, take func(text io.Reader) error) *spooler {
	s := &spooler{in: bufio.NewReaderSize(in, 16<<10), members: members, take: take}
	for _, path := range members {
		s.deepest = max(s.deepest, strings.Count(path, ".")+1)
	}
	return s
}

// Read implements io.Reader.
func (s *spooler) Read(p []byte) (int, error) {
	if s.at == len(s.buffer) {
		s.buffer, s.at = s.buffer[:0], 0
		for s.err == nil && len(s.buffer) < spoolStep {
			s.err = s.step()
		}
	}
	n := copy(p, s.buffer[s.at:])
	s.at += n
	if n == 0 && len(p) > 0 {
		return 0, s.err
	}
	return n, nil
}

// step passes the next byte on, or stores a file.
func (s *spooler) step() error {
	b, err := s.in.ReadByte()
	if err != nil {
		return err
	}
	s.buffer = append(s.buffer, b)
	if s.inText {
		s.inside(b)
		return nil
	}
	return s.outside(b)
}

// inside follows a string that is passed on.
func (s *spooler) inside(b byte) {
	switch {
	case b == '"' && !s.isNext:
		s.inText = false
		if s.isKey {
			s.levels[len(s.levels)-1].key = s.unescaped()
		}
		return
	case s.isKey && len(s.name) <= maxName:
		s.name = append(s.name, b)
	}
	s.isNext = b == '\\' && !s.isNext
}

// unescaped returns the member's name; empty for one that is too long, too deep or no JSON.
func (s *spooler) unescaped() (name string) {
	switch {
	case len(s.name) > maxName || len(s.levels) > s.deepest:
		return ""
	case bytes.IndexByte(s.name, '\\') < 0:
		return string(s.name)
	}
	if json.Unmarshal(slices.Concat([]byte(`"`), s.name, []byte(`"`)), &name) != nil {
		return ""
	}
	return name
}

func (s *spooler) outside(b byte) error {
	top := &level{}
	if len(s.levels) > 0 {
		top = &s.levels[len(s.levels)-1]
	}
	switch b {
	case '{', '[':
		if len(s.levels) == maxLevels {
			return bridge.Invalid("the body is nested more than %d levels deep", maxLevels)
		}
		s.levels = append(s.levels, level{isObject: b == '{', wantsKey: b == '{'})
	case '}', ']':
		s.levels = s.levels[:max(len(s.levels)-1, 0)]
	case ',':
		top.wantsKey = top.isObject
	case ':':
		top.wantsKey = false
	case '"':
		if !top.wantsKey && s.isFile() && !isPlain(s.in) {
			s.buffer = append(s.buffer, '"')
			return s.take(&stringReader{in: s.in})
		}
		s.inText, s.isKey, s.isNext, s.name = true, top.wantsKey, false, s.name[:0]
	}
	return nil
}

// isFile reports whether a member with a file is being read.
func (s *spooler) isFile() bool {
	if len(s.levels) == 0 || len(s.levels) > s.deepest {
		return false
	}
	keys := make([]string, len(s.levels))
	for i, l := range s.levels {
		if !l.isObject {
			return false
		}
		keys[i] = l.key
	}
	path := strings.Join(keys, ".")
	return slices.ContainsFunc(s.members, func(member string) bool { return strings.EqualFold(member, path) })
}

// isPlain reports whether a text is none of a file: it is empty, or the address of one.
func isPlain(text *bufio.Reader) bool {
	head, err := text.Peek(32)
	if err != nil && !errors.Is(err, io.EOF) {
		return true // whose reading fails
	}
	head = bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	return len(head) == 0 || head[0] == '"' || bytes.HasPrefix(head, []byte("http:")) || bytes.HasPrefix(head, []byte("https:"))
}

// stringReader reads the rest of a JSON string, behind its quote, without its escapes. What
// has no place in base64 becomes a question mark.
type stringReader struct {
	in   *bufio.Reader
	over bool
}

// Read implements io.Reader.
func (t *stringReader) Read(p []byte) (n int, err error) {
	for n < len(p) && !t.over {
		if n > 0 && t.in.Buffered() == 0 {
			return n, nil
		}
		if _, err := t.in.Peek(1); err != nil {
			return n, whole(err)
		}
		head, _ := t.in.Peek(min(t.in.Buffered(), len(p)-n)) // which are there
		plain := bytes.IndexAny(head, `"\`)
		if plain < 0 {
			plain = len(head)
		}
		n += copy(p[n:], head[:plain])
		_, _ = t.in.Discard(plain)
		if plain == len(head) {
			continue
		}
		special, _ := t.in.ReadByte()
		if t.over = special == '"'; t.over {
			break
		}
		if p[n], err = t.escaped(); err != nil {
			return n, whole(err)
		}
		n++
	}
	if n == 0 && t.over && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// whole returns the error of a text that ends without its quote.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// escaped reads what is behind a backslash.
func (t *stringReader) escaped() (byte, error) {
	b, err := t.in.ReadByte()
	if err != nil {
		return 0, err
	}
	switch b {
	case '/':
		return b, nil
	case 'n', 'r', 't':
		return '\n', nil
	case 'u':
		digits := make([]byte, 4)
		if _, err := io.ReadFull(t.in, digits); err != nil {
			return 0, err
		}
		if char, err := strconv.ParseUint(string(digits), 16, 16); err == nil && char < 0x80 {
			return byte(char), nil
		}
	}
	return '?', nil
}

// maxDataHead bounds what is before the comma of a data: URI.
const maxDataHead = 256

// decodeBase64 returns the bytes that a text stands for, in either alphabet, with or without
// padding and line breaks, or as a data: URI, whose type it returns, too.
func decodeBase64(text io.Reader) (mimeType string, data io.Reader, err error) {
	in := bufio.NewReader(text)
	if scheme, _ := in.Peek(len("data:")); strings.EqualFold(string(scheme), "data:") {
		head := make([]byte, 0, maxDataHead)
		for {
			b, err := in.ReadByte()
			switch {
			case err != nil && !errors.Is(err, io.EOF):
				return "", nil, err
			case err != nil, len(head) == maxDataHead:
				return "", nil, bridge.Invalid("the data: URI has no comma behind its type")
			}
			if b == ',' {
				break
			}
			head = append(head, b)
		}
		typed, isBase64 := strings.CutSuffix(strings.ToLower(string(head[len("data:"):])), ";base64")
		if !isBase64 {
			return "", nil, bridge.Invalid("the data: URI must be in base64")
		}
		mimeType = typed
	}
	return mimeType, decoder{base64.NewDecoder(base64.RawStdEncoding, &alphabet{in: in})}, nil
}

type decoder struct{ io.Reader }

func (d decoder) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if _, damaged := errors.AsType[base64.CorruptInputError](err); damaged {
		err = notBase64()
	}
	return n, err
}

// alphabet reads base64 in any form as the standard one without padding.
type alphabet struct {
	in     io.Reader
	padded bool
}

// Read implements io.Reader.
func (a *alphabet) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		var read int
		read, err = a.in.Read(p)
		for _, b := range p[:read] {
			switch {
			case b == ' ' || b == '\n' || b == '\r' || b == '\t':
				continue
			case b == '=':
				a.padded = true
				continue
			case b == '-':
				b = '+'
			case b == '_':
				b = '/'
			}
			if a.padded || !isBase64(b) {
				return n, notBase64()
			}
			p[n] = b
			n++
		}
	}
	return n, err
}

func isBase64(b byte) bool {
	return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '/'
}

func notBase64() error {
	return bridge.Invalid("the file must be an http(s) address, or base64: it is neither")
}
