package media

import (
	"image"
	"image/color"
)

// onWhite returns a picture without transparency, as it looks on white. Where it can,
// it changes the picture itself, because a copy would take as much memory again.
func onWhite(picture image.Image) image.Image {
	switch m := picture.(type) {
	case *image.NRGBA:
		return flatten(m)
	case *image.Paletted:
		return &image.Paletted{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect, Palette: flattenPalette(m.Palette)}
	case interface{ Opaque() bool }:
		if m.Opaque() {
			return picture
		}
	}
	return whitened{picture}
}

// flatten puts a picture on white in place. Without transparency its pixels are those
// of an [image.RGBA], which is encoded fastest.
func flatten(m *image.NRGBA) *image.RGBA {
	for i := 0; i+3 < len(m.Pix); i += 4 {
		pixel := m.Pix[i : i+4 : i+4]
		alpha := uint32(pixel[3])
		if alpha == 0xFF {
			continue
		}
		for c := range 3 {
			pixel[c] = uint8((uint32(pixel[c])*alpha + 0xFF*(0xFF-alpha) + 0x7F) / 0xFF)
		}
		pixel[3] = 0xFF
	}
	return &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
}

func flattenPalette(palette color.Palette) color.Palette {
	flat := make(color.Palette, len(palette))
	for i, c := range palette {
		flat[i] = white(c)
	}
	return flat
}

// whitened shows any picture on white.
type whitened struct{ image.Image }

// At returns the colour of a pixel.
func (w whitened) At(x, y int) color.Color { return white(w.Image.At(x, y)) }

// white returns a colour as it looks on white.
func white(c color.Color) color.Color {
	r, g, b, a := c.RGBA() // multiplied by a already
	rest := 0xFFFF - a
	return color.RGBA{R: uint8((r + rest) >> 8), G: uint8((g + rest) >> 8), B: uint8((b + rest) >> 8), A: 0xFF}
}
