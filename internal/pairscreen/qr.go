package pairscreen

import (
	"strings"

	"rsc.io/qr"
)

// WhatsApp's QR codes hold about 277 characters: 61 by 61 modules at the lowest level of
// correction. Half blocks, two modules to a cell, are the most readable, but take 31 lines
// with nothing around them. Sextants, six modules to a cell, take 23 with the whole quiet
// zone of 4 modules: their modules are a third higher than wide, which decoders correct.
// Braille has more dots to a cell, but gaps between.

// blocks are characters that show several modules each.
type blocks struct {
	wide, high int // modules to a character
	// draw returns the character for the dark modules, in bits, row by row.
	draw func(dark int) rune
}

var (
	halfBlocks = blocks{wide: 1, high: 2, draw: func(dark int) rune { return []rune(" ▀▄█")[dark] }}
	// sextants need a font or a terminal that knows Unicode 13.
	sextants = blocks{wide: 2, high: 3, draw: sextant}
)

// sextant returns the character for the dark ones of six modules. Where older
// characters have the shape, the block of sextants leaves them out.
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

// cell returns the dark modules of the character whose first one is at x and y. Outside of
// the code all are light.
func (b blocks) cell(code *qr.Code, x, y int) (dark int) {
	for i := range b.wide * b.high {
		if code.Black(x+i%b.wide, y+i/b.wide) {
			dark |= 1 << i
		}
	}
	return dark
}

// inverted draws the light modules with half blocks: for a terminal of unknown colours, of
// which most are dark.
func inverted(code *qr.Code, quiet int) []string {
	opposite := strings.NewReplacer(" ", "█", "█", " ", "▀", "▄", "▄", "▀")
	lines := halfBlocks.lines(code, quiet)
	for i := range lines {
		lines[i] = opposite.Replace(lines[i])
	}
	return lines
}
