package pairscreen

import (
	"fmt"
	"slices"
	"strings"

	"rsc.io/qr"

	"bridged/internal/shell"
)

// layout arranges a QR code and a text on a screen.
type layout struct {
	blocks blocks
	quiet  int // modules around the code; the standard requires 4
	beside bool
}

// layouts are tried in this order. Half blocks come first because every font has them.
var layouts = []layout{
	{halfBlocks, 4, true},
	{halfBlocks, 4, false},
	{halfBlocks, 2, true},
	{halfBlocks, 2, false},
	{sextants, 4, true},
	{sextants, 2, true},
	{sextants, 2, false},
}

// textWidth is the smallest width of a text next to a QR code, in columns.
const textWidth = 36

// layOut arranges a QR code, if there is one, and paragraphs. If not even the smallest drawing
// fits, the text states the required size.
func layOut(code *qr.Code, said []string, columns, lines int) []string {
	if code == nil {
		return paragraphs(said, columns, 1)
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
	text := paragraphs(append(slices.Clone(said), enlarge(code, "For the QR code make the terminal")), columns, 0)
	return text[:min(len(text), max(lines, 1))]
}

// fit wraps the paragraphs for a layout and reports whether they fit.
func (l layout) fit(code *qr.Code, said []string, columns, lines int) (text []string, fits bool) {
	wide, high := l.blocks.size(code, l.quiet)
	if !l.beside {
		text = paragraphs(said, columns, 0)
		return text, wide <= columns && high+len(text) <= lines
	}
	room := columns - wide - 2
	if text = paragraphs(said, room, 1); len(text) > high {
		text = paragraphs(said, room, 0)
	}
	return text, room >= textWidth && high <= lines && len(text) <= high
}

// enlarge states the size that half blocks need.
func enlarge(code *qr.Code, why string) string {
	wide, high := halfBlocks.size(code, 2)
	return fmt.Sprintf("%s at least %d by %d.", why, wide+2+textWidth, high)
}

// paragraphs wraps each text, with a number of empty lines in between.
func paragraphs(said []string, width, between int) (lines []string) {
	for i, text := range said {
		if i > 0 {
			lines = append(lines, make([]string, between)...)
		}
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

// WhatsApp's QR codes contain about 277 characters: 61 by 61 modules at the lowest level of error
// correction. Half blocks (two modules per cell) are the most readable, but take 31 lines without
// a quiet zone. Sextants (six modules per cell) take 23 lines with the whole quiet zone of 4
// modules; their modules are a third higher than wide, which decoders correct. Braille has more
// dots per cell, but gaps between them.

// blocks are characters that show several modules each.
type blocks struct {
	wide, high int // modules per character
	// draw returns the character for the dark modules, given as bits, row by row.
	draw func(dark int) rune
}

var (
	halfBlocks = blocks{wide: 1, high: 2, draw: func(dark int) rune { return []rune(" ▀▄█")[dark] }}
	// sextants need a font or a terminal with Unicode 13.
	sextants = blocks{wide: 2, high: 3, draw: sextant}
)

// sextant returns the character for the dark ones of six modules. Unicode's block of sextants
// lacks the shapes that older characters have.
func sextant(dark int) rune {
	const leftHalf, rightHalf, full = 0b010101, 0b101010, 0b111111
	switch {
	case dark == 0:
		return ' '
	case dark == leftHalf:
		return '▌'
	case dark == rightHalf:
		return '▐'
	case dark == full:
		return '█'
	case dark > rightHalf:
		dark -= 3
	case dark > leftHalf:
		dark -= 2
	default:
		dark--
	}
	return rune(0x1FB00 + dark)
}

// size returns the columns and lines of a code with its quiet zone.
func (b blocks) size(code *qr.Code, quiet int) (columns, lines int) {
	modules := code.Size + 2*quiet
	return (modules + b.wide - 1) / b.wide, (modules + b.high - 1) / b.high
}

// lines draws the dark modules, with a quiet zone around the code.
func (b blocks) lines(code *qr.Code, quiet int) []string {
	columns, rows := b.size(code, quiet)
	lines := make([]string, rows)
	for row := range lines {
		var line strings.Builder
		for column := range columns {
			line.WriteRune(b.draw(b.cell(code, column*b.wide-quiet, row*b.high-quiet)))
		}
		lines[row] = line.String()
	}
	return lines
}

// cell returns the dark modules of the character whose first module is at x and y. Modules
// outside of the code are light.
func (b blocks) cell(code *qr.Code, x, y int) (dark int) {
	for i := range b.wide * b.high {
		if code.Black(x+i%b.wide, y+i/b.wide) {
			dark |= 1 << i
		}
	}
	return dark
}

// inverted draws the light modules with half blocks, for terminals with unknown colours. Most of
// them are dark.
func inverted(code *qr.Code, quiet int) []string {
	opposite := strings.NewReplacer(" ", "█", "█", " ", "▀", "▄", "▄", "▀")
	lines := halfBlocks.lines(code, quiet)
	for i := range lines {
		lines[i] = opposite.Replace(lines[i])
	}
	return lines
}
