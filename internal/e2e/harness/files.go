package harness

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	"bridged/internal/simnet"
)

// SentFile is a received file.
type SentFile struct {
	Bytes      []byte
	ID         simnet.MessageID
	Chat       simnet.JID
	Path       string // of its download
	DirectPath string // on the CDN
}

func (c *Cast) Arrived(t testing.TB, id simnet.MessageID, chat simnet.JID, file []byte) SentFile {
	t.Helper()
	if err := c.Device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	got := Must(c.Owner.ReceivedID(Within(t), id))(t)
	return SentFile{Bytes: file, ID: id, Chat: chat, Path: bridge.DownloadPath(bridge.JID(chat.String()), id), DirectPath: simnet.DirectPath(got.RawMessage)}
}

// Downloads downloads a file and compares it.
func (c *Cast) Downloads(t testing.TB, f SentFile, headers ...string) http.Header {
	t.Helper()
	got := c.Bridge.Get(f.Path, headers...).Want(http.StatusOK)
	if !bytes.Equal(got.Body, f.Bytes) {
		t.Errorf("%d other bytes, want %d", len(got.Body), len(f.Bytes))
	}
	return got.Header
}

// SendsMedia sends a file through the API and returns the message's id.
func (c *Cast) SendsMedia(t testing.TB, body Object) simnet.MessageID {
	t.Helper()
	return SentID(t, c.Bridge.Post("/api/messages/send-media", body))
}

// RawPost makes a call whose caller may hang up.
func (p *Process) RawPost(ctx context.Context, path, body, key string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.Address+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.Env["BRIDGE_TOKEN"])
	req.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// Photo returns a JPEG.
func Photo(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, Must(png.Decode(bytes.NewReader(demo.Picture(width, height))))(t), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Portrait returns a picture that depends on its shade.
func Portrait(t testing.TB, size int, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, size, size))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.SetGray(0, 0, color.Gray{Y: 255 - shade})
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Banner returns a PNG that is white at both ends and of one colour in the middle.
func Banner(t testing.TB, middle color.Color) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1200, 700))
	for x := range 1200 {
		for y := range 700 {
			img.Set(x, y, color.White)
			if x >= 250 && x < 950 {
				img.Set(x, y, middle)
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Looks checks that a picture is a square JPEG of one colour.
func Looks(t testing.TB, what string, picture []byte, side int, want color.RGBA) {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Errorf("%s is no JPEG: %v", what, err)
		return
	}
	if size := img.Bounds().Size(); size != image.Pt(side, side) {
		t.Errorf("%s has %v", what, size)
	}
	near := func(a uint32, b uint8) bool { d := int(a>>8) - int(b); return d > -24 && d < 24 }
	for _, at := range []image.Point{{4, 4}, {side / 2, side / 2}, {side - 5, side - 5}} {
		if r, g, b, _ := img.At(at.X, at.Y).RGBA(); !near(r, want.R) || !near(g, want.G) || !near(b, want.B) {
			t.Errorf("%s is %v at %v", what, img.At(at.X, at.Y), at)
		}
	}
}

// Tone returns a WAV file of a sound that swells and fades.
func Tone(seconds int) []byte {
	const rate = 8000
	var b bytes.Buffer
	size := uint32(seconds * rate * 2)
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, 36+size) // writing to a bytes.Buffer cannot fail
	b.WriteString("WAVEfmt ")
	for _, field := range []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16)} {
		_ = binary.Write(&b, binary.LittleEndian, field)
	}
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, size)
	for i := range seconds * rate {
		at := float64(i) / rate
		_ = binary.Write(&b, binary.LittleEndian, int16(8000*math.Sin(at*2*math.Pi*300)*math.Abs(math.Sin(at*2))))
	}
	return b.Bytes()
}
