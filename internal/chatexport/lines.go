package chatexport

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// maxLine bounds a line that is held in memory, in bytes: the longest text of a message with what
// precedes it. The rest is left out.
const maxLine = maxText

// line is a line of the text.
type line struct {
	number int
	text   string
	cut    bool
	broken bool // some of it is not UTF-8, and replaced
}

// lines reads a text line by line.
func lines(r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			text, cut, err := readLine(in)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, err)
				return
			}
			if err != nil && text == "" {
				return
			}
			whole := strings.ToValidUTF8(text, "\ufffd")
			if !yield(line{number, whole, cut, whole != text}, nil) || err != nil {
				return
			}
		}
	}
}

func readLine(in *bufio.Reader) (text string, cut bool, err error) {
	var b strings.Builder
	for {
		piece, err := in.ReadSlice('\n')
		room := maxLine - b.Len()
		cut = cut || len(piece) > room
		b.Write(piece[:min(len(piece), room)])
		if !errors.Is(err, bufio.ErrBufferFull) {
			text = strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r")
			if cut {
				text = bridge.CutBytes(text, len(text)-utf8.UTFMax)
			}
			return text, cut, err
		}
	}
}

// encoding counts lines with characters beyond ASCII.
type encoding struct {
	whole, broken int
	first         int // of the broken lines
}

func (e *encoding) add(l line) {
	switch {
	case l.broken:
		e.broken++
		e.first = cmp.Or(e.first, l.number)
	case strings.ContainsFunc(l.text, func(r rune) bool { return r > unicode.MaxASCII }):
		e.whole++
	}
}

// check refuses a text in an encoding that the apps do not use. Some editors write one, and names and
// words would be lost.
func (e *encoding) check() error {
	if e.broken <= e.whole {
		return nil
	}
	return bridge.Invalid("the text is not UTF-8, in which the apps write it (line %d): import the file that the phone has made, or save the text as UTF-8", e.first)
}

// detached returns a text that was cut from one of so many bytes without retaining that one in
// memory, if it is much longer.
func detached(s string, from int) string {
	if from > 1<<10 && len(s) < from/2 {
		return strings.Clone(s)
	}
	return s
}
