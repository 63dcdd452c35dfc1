package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// screen draws over a whole terminal, again and again in the same place, and
// gives it back as it was.
type screen struct {
	out   io.Writer
	size  func() (columns, lines int, err error)
	drawn string // what the terminal shows
}

// The sequences of ECMA-48 and xterm that a screen is drawn with. The colours
// are of the fixed palette, which no theme changes.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[2J" // the other buffer, without a cursor
	leaveScreen = "\x1b[0m\x1b[?25h\x1b[?1049l"
	toTheTop    = "\x1b[H"
	endOfLine   = "\x1b[K"
	restEmpty   = "\x1b[J"
	blackWhite  = "\x1b[38;5;16;48;5;231m"
	bold        = "\x1b[1m"
	plain       = "\x1b[0m"
)

// openScreen takes over the terminal that w is. It reports false if w is none,
// or one that cannot move its cursor.
func openScreen(w io.Writer) (*screen, bool) {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return nil, false
	}
	s := &screen{out: file, size: func() (int, int, error) { return term.GetSize(int(file.Fd())) }}
	if _, _, err := s.size(); err != nil {
		return nil, false
	}
	_, err := io.WriteString(file, enterScreen)
	return s, err == nil
}

// draw shows lines and nothing else. The last one ends without a line break,
// which would move the first one out of sight.
func (s *screen) draw(lines []string) error {
	frame := toTheTop + strings.Join(lines, plain+endOfLine+"\r\n") + plain + endOfLine + restEmpty
	if frame == s.drawn {
		return nil
	}
	s.drawn = frame
	_, err := io.WriteString(s.out, frame)
	return err
}

// close gives the terminal back.
func (s *screen) close() error {
	_, err := io.WriteString(s.out, leaveScreen)
	return err
}

// wrap breaks a text into lines of at most width characters, between words.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// beside puts text to the right of a picture whose lines are equally wide.
func beside(picture, text []string) []string {
	lines := make([]string, len(picture))
	for i := range picture {
		lines[i] = blackWhite + picture[i] + plain
		if i < len(text) {
			lines[i] += "  " + text[i]
		}
	}
	return lines
}

// below puts text under a picture.
func below(picture, text []string) []string {
	return append(beside(picture, nil), text...)
}

// countdown returns how long is left as minutes and seconds.
func countdown(seconds int) string { return fmt.Sprintf("%d:%02d", seconds/60, seconds%60) }
