package pairscreen

import (
	"fmt"
	"slices"

	"rsc.io/qr"

	"bridged/internal/shell"
)

// layout fits a QR code and a text on a screen.
type layout struct {
	blocks blocks
	quiet  int // modules around the code; 4 are the standard
	beside bool
}

// layouts are tried in this order: half blocks need no new font.
var layouts = []layout{
	{halfBlocks, 4, true},
	{halfBlocks, 4, false},
	{halfBlocks, 2, true},
	{halfBlocks, 2, false},
	{sextants, 4, true},
	{sextants, 2, true},
	{sextants, 2, false},
}

// textWidth is the least width of a text beside a QR code.
const textWidth = 36

// layOut arranges a QR code, if there is one, and paragraphs. Where not even the smallest
// drawing fits, the text says how much room it needs.
func layOut(code *qr.Code, said []string, columns, lines int) []string {
	if code == nil {
		return paragraphs(said, columns)
	}
	for _, l := range layouts {
		note := said
		if l.blocks.high == sextants.high {
			note = append(slices.Clone(said), enlarge(code, "If the QR code looks torn, make the terminal"))
		}
		if text, fits := l.fit(code, note, columns, lines); fits {
			picture := l.blocks.lines(code, l.quiet)
			if l.beside {
				return beside(picture, text)
			}
			return append(beside(picture, nil), text...)
		}
	}
	text := compact(append(slices.Clone(said), enlarge(code, "For the QR code make the terminal")), columns)
	return text[:min(len(text), max(lines, 1))]
}

// fit wraps the paragraphs for a layout, and reports whether they fit.
func (l layout) fit(code *qr.Code, said []string, columns, lines int) (text []string, fits bool) {
	wide, high := l.blocks.size(code, l.quiet)
	if !l.beside {
		text = compact(said, columns)
		return text, wide <= columns && high+len(text) <= lines
	}
	room := columns - wide - 2
	if text = paragraphs(said, room); len(text) > high {
		text = compact(said, room)
	}
	return text, room >= textWidth && high <= lines && len(text) <= high
}

// enlarge names the size at which half blocks fit.
func enlarge(code *qr.Code, why string) string {
	wide, high := halfBlocks.size(code, 2)
	return fmt.Sprintf("%s at least %d by %d.", why, wide+2+textWidth, high)
}

// paragraphs wraps each text, with an empty line between.
func paragraphs(said []string, width int) (lines []string) {
	for i, text := range said {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, shell.Wrap(text, max(width, 1))...)
	}
	return lines
}

func compact(said []string, width int) (lines []string) {
	for _, text := range said {
		lines = append(lines, shell.Wrap(text, max(width, 1))...)
	}
	return lines
}

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
