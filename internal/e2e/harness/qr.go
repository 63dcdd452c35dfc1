package harness

import (
	"errors"
	"image"
	"image/color"
	"image/draw"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
)

// ReadQR returns the text of the QR code in a picture. Like a camera, the reader
// gets several views until it can read one: with a wider margin, in other sizes,
// and cropped to the code.
func ReadQR(img image.Image) (text string, err error) {
	for _, hints := range []map[gozxing.DecodeHintType]any{
		nil, {gozxing.DecodeHintType_TRY_HARDER: true}, {gozxing.DecodeHintType_PURE_BARCODE: true},
	} {
		for _, scale := range []int{1, 2, 3} {
			var bitmap *gozxing.BinaryBitmap
			if bitmap, err = gozxing.NewBinaryBitmapFromImage(enlarged(img, scale)); err != nil {
				return "", err
			}
			var result *gozxing.Result
			if result, err = qrcode.NewQRCodeReader().Decode(bitmap, hints); err == nil {
				return result.GetText(), nil
			}
		}
	}
	return "", err
}

// enlarged returns a picture on white, scaled up by an integer.
func enlarged(img image.Image, scale int) image.Image {
	const margin = 32
	from := img.Bounds()
	larger := image.NewGray(image.Rect(0, 0, from.Dx()*scale+2*margin, from.Dy()*scale+2*margin))
	draw.Draw(larger, larger.Rect, image.White, image.Point{}, draw.Src)
	for y := range from.Dy() * scale {
		for x := range from.Dx() * scale {
			larger.SetGray(margin+x, margin+y, color.GrayModel.Convert(img.At(from.Min.X+x/scale, from.Min.Y+y/scale)).(color.Gray))
		}
	}
	return larger
}

// QR waits for a QR code and returns it.
func (p *Process) QR() (code string) {
	p.T.Helper()
	Eventually(p.T, func() error {
		status := p.Status()
		if status.QR == nil {
			return errors.New("no QR code")
		}
		code = *status.QR
		return nil
	})
	return code
}
