package pairscreen

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// screen draws over a whole terminal, and gives it back as it was.
type screen struct {
	out   io.Writer
	size  func() (columns, lines int, err error)
	drawn string // last
}

// Sequences of ECMA-48 and xterm. No theme changes the colours, of the fixed palette.
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

// openScreen takes over a terminal. It reports false if w is none, or cannot move its
// cursor.
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

// draw shows lines. A line break behind the last one would move the first one out of sight.
func (s *screen) draw(lines []string) error {
	frame := toTheTop + strings.Join(lines, plain+endOfLine+"\r\n") + plain + endOfLine + restEmpty
	if frame == s.drawn {
		return nil
	}
	s.drawn = frame
	_, err := io.WriteString(s.out, frame)
	return err
}

// Close gives the terminal back.
func (s *screen) Close() error {
	_, err := io.WriteString(s.out, leaveScreen)
	return err
}
