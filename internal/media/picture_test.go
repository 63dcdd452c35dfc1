package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

// corner returns the colour of a thumbnail's upper left corner: r, g, b or w.
func corner(t *testing.T, thumbnail []byte) (name string, size image.Point) {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(thumbnail))
	if err != nil {
		t.Fatal(err)
	}
	size = m.Bounds().Size()
	r, g, b, _ := m.At(size.X/8, size.Y/8).RGBA()
	for i, v := range []uint32{r, g, b} {
		if v > 0x8000 {
			name += string("rgb"[i])
		}
	}
	return name, size
}

func TestImage_StandsUprightAsExifSays(t *testing.T) {
	// What is at the upper left once the picture is upright.
	want := []string{1: "r", 2: "g", 3: "rgb", 4: "b", 5: "r", 6: "b", 7: "rgb", 8: "g"}
	for orientation := 1; orientation <= 8; orientation++ {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			t.Run(fmt.Sprint(orientation, order), func(t *testing.T) {
				p := NewPreparer(PreparerOptions{})
				var f bridge.File
				file := mediatest.WithExif(mediatest.JPEG(t, mediatest.Quarters(400, 200)), order, orientation)
				if err := p.measureImage(t.Context(), &f, bytes.NewReader(file)); err != nil {
					t.Fatal(err)
				}
				wantSize, wantSmall := image.Pt(400, 200), image.Pt(100, 50)
				if orientation > 4 {
					wantSize, wantSmall = image.Pt(200, 400), image.Pt(50, 100)
				}
				if got := image.Pt(f.Width, f.Height); got != wantSize {
					t.Errorf("size %v, want %v", got, wantSize)
				}
				got, size := corner(t, f.Thumbnail)
				if got != want[orientation] || size != wantSmall {
					t.Errorf("corner %s of %v, want %s of %v", got, size, want[orientation], wantSmall)
				}
			})
		}
	}
}

func TestUpright_TurnsEveryCorner(t *testing.T) {
	// Corners in reading order: red, green, blue, white.
	want := []string{1: "RGBW", 2: "GRWB", 3: "WBGR", 4: "BWRG", 5: "RBGW", 6: "BRWG", 7: "WGBR", 8: "GWRB"}
	for orientation := 1; orientation <= 8; orientation++ {
		m := upright(mediatest.Quarters(8, 4), orientation)
		w, h := m.Bounds().Dx(), m.Bounds().Dy()
		got := ""
		for _, p := range []image.Point{{0, 0}, {w - 1, 0}, {0, h - 1}, {w - 1, h - 1}} {
			switch m.RGBAAt(p.X, p.Y) {
			case color.RGBA{255, 0, 0, 255}:
				got += "R"
			case color.RGBA{0, 255, 0, 255}:
				got += "G"
			case color.RGBA{0, 0, 255, 255}:
				got += "B"
			default:
				got += "W"
			}
		}
		if got != want[orientation] {
			t.Errorf("orientation %d: %s, want %s", orientation, got, want[orientation])
		}
	}
}

func TestImage_TransparentIsOnWhite(t *testing.T) {
	p := NewPreparer(PreparerOptions{})
	var f bridge.File
	if err := p.measureImage(t.Context(), &f, bytes.NewReader(mediatest.PNG(t, image.NewNRGBA(image.Rect(0, 0, 300, 10))))); err != nil {
		t.Fatal(err)
	}
	if got, size := corner(t, f.Thumbnail); got != "rgb" || size != image.Pt(100, 3) {
		t.Errorf("corner %s of %v", got, size)
	}
}

func TestImage_EnormousPicturesAreNotDecoded(t *testing.T) {
	p := NewPreparer(PreparerOptions{})
	var f bridge.File
	err := p.measureImage(t.Context(), &f, bytes.NewReader(mediatest.Bomb(60000, 60000)))
	if err == nil || f.Thumbnail != nil || f.Width != 60000 || f.Height != 60000 {
		t.Errorf("%d by %d, thumbnail of %d bytes: %v", f.Width, f.Height, len(f.Thumbnail), err)
	}
}
