package chatexport

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"strings"
)

// maxLine bounds a line that is held in memory, in bytes; the rest of it is left out.
const maxLine = 1 << 20

// line is a line of the text.
type line struct {
	number int
	text   string
	cut    bool
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
			if !yield(line{number, text, cut}, nil) || err != nil {
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
			return strings.ToValidUTF8(text, "\ufffd"), cut, err
		}
	}
}
