package document

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// part extracts a part of a text that is read once. It holds nothing else of the text.
type part struct {
	offset, most int // characters before the part, and in it
	isTrimmed    bool

	text   strings.Builder
	read   int    // characters so far
	length int    // of the text; if trimmed, without the white space at its end
	rest   int    // bytes that [part.Write] still accepts
	tail   []byte // of an incomplete character
}

// add adds the next character.
func (p *part) add(r rune) {
	if p.isTrimmed && unicode.IsSpace(r) {
		if p.read == 0 {
			return
		}
	} else {
		p.length = p.read + 1
	}
	if p.read >= p.offset && p.read < p.offset+p.most {
		p.text.WriteRune(r)
	}
	p.read++
}

// Write implements io.Writer for UTF-8, with U+FFFD for invalid bytes. It drops bytes after rest.
func (p *part) Write(data []byte) (int, error) {
	taken := min(len(data), p.rest)
	p.rest -= taken
	bytes := append(p.tail, data[:taken]...)
	for len(bytes) > 0 && utf8.FullRune(bytes) {
		r, size := utf8.DecodeRune(bytes)
		p.add(r)
		bytes = bytes[size:]
	}
	p.tail = append([]byte(nil), bytes...)
	return len(data), nil
}

// end returns the part and the length of the whole text in characters.
func (p *part) end() (text string, length int) {
	if len(p.tail) > 0 {
		p.add(utf8.RuneError)
	}
	text = p.text.String()
	if p.read > p.length && p.offset+p.most > p.length {
		text = strings.TrimRightFunc(text, unicode.IsSpace)
	}
	return text, p.length
}

// errNotUTF8 means that a text without a byte order mark is not UTF-8.
var errNotUTF8 = errors.New("the text is not UTF-8")

// plain reads a text in UTF-8, or in UTF-16 with a byte order mark. For other bytes the error is
// errNotUTF8.
func (p *part) plain(text io.Reader) error {
	r := bufio.NewReaderSize(text, 32<<10)
	mark, err := r.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	next := nextUTF8
	switch {
	case strings.HasPrefix(string(mark), "\xFF\xFE"):
		_, err = r.Discard(2)
		next = func(r *bufio.Reader) (rune, error) { return nextUTF16(r, 0, 1) }
	case strings.HasPrefix(string(mark), "\xFE\xFF"):
		_, err = r.Discard(2)
		next = func(r *bufio.Reader) (rune, error) { return nextUTF16(r, 1, 0) }
	case string(mark) == "\uFEFF":
		_, err = r.Discard(3)
	default:
		err = nil
	}
	if err != nil {
		return err
	}
	return p.all(r, next)
}

// latin1 reads a text in ISO 8859-1.
func (p *part) latin1(text io.Reader) error {
	return p.all(bufio.NewReaderSize(text, 32<<10), func(r *bufio.Reader) (rune, error) {
		b, err := r.ReadByte()
		return rune(b), err
	})
}

// all adds the characters that next reads, to the end.
func (p *part) all(r *bufio.Reader, next func(*bufio.Reader) (rune, error)) error {
	for {
		one, err := next(r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		p.add(one)
	}
}

func nextUTF8(r *bufio.Reader) (rune, error) {
	one, size, err := r.ReadRune()
	if err == nil && one == utf8.RuneError && size == 1 {
		err = errNotUTF8
	}
	return one, err
}

// nextUTF16 reads the next character, which has one or two units. low and high are the positions
// of a unit's bytes. It drops half a unit at the end.
func nextUTF16(r *bufio.Reader, low, high int) (rune, error) {
	unit := func() (rune, error) {
		bytes, err := r.Peek(2)
		if err != nil {
			return 0, err
		}
		return rune(bytes[low]) | rune(bytes[high])<<8, nil
	}
	one, err := unit()
	if err != nil {
		return 0, err
	}
	if _, err := r.Discard(2); err != nil || !utf16.IsSurrogate(one) {
		return one, err
	}
	if other, err := unit(); err == nil {
		if both := utf16.DecodeRune(one, other); both != utf8.RuneError {
			_, err := r.Discard(2)
			return both, err
		}
	}
	return utf8.RuneError, nil
}
