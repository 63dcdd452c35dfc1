package harness

import (
	"bytes"
	"image/png"
	"testing"

	"bridged/internal/bridge"
)

// Scanned reads a QR code in a picture.
func Scanned(t *testing.T, picture []byte) string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	text, err := ReadQR(img)
	if err != nil {
		t.Fatalf("no QR code is in the picture: %v", err)
	}
	return text
}

// JsString returns a text as a JavaScript string literal.
func JsString(text string) string {
	encoded, err := bridge.EncodeJSON(text)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}
