package media

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"testing"

	"github.com/HugoSmits86/nativewebp"
	"golang.org/x/image/webp"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

// TestStickers_Arrive: phones get the same stickers as from the apps, and these can
// be read and forwarded like any other file.
func TestStickers_Arrive(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	img := image.NewNRGBA(image.Rect(0, 0, 300, 100))
	for i := range 300 * 100 {
		img.SetNRGBA(i%300, i/300, color.NRGBA{R: 250, A: 255})
	}
	var asPNG, asWebP bytes.Buffer
	if err := png.Encode(&asPNG, img); err != nil {
		t.Fatal(err)
	}
	if err := nativewebp.Encode(&asWebP, image.NewNRGBA(image.Rect(0, 0, 512, 512)), nil); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]struct {
		content []byte
		kind    bridge.MediaType
	}{"a converted PNG": {asPNG.Bytes(), bridge.MediaSticker}, "a WebP, found by its bytes": {asWebP.Bytes(), ""}} {
		sent := Must(b.API.SendFile(Within(t), client.Upload{To: bridge.JID(c.Ben.PN().String()), Type: file.kind, FileName: "x"}, bytes.NewReader(file.content), ""))(t)
		got := Must(c.Ben.ReceivedID(Within(t), sent.ID))(t)
		sticker := got.Message.Message.GetStickerMessage()
		if sticker.GetMimetype() != "image/webp" || sticker.GetWidth() != 512 || sticker.GetHeight() != 512 || sticker.IsAnimated == nil || sticker.GetIsAnimated() {
			t.Errorf("%s: %v", name, sticker)
		}
		content := Must(c.Ben.Download(Within(t), got))(t)
		shown, err := webp.Decode(bytes.NewReader(content))
		if err != nil || shown.Bounds().Dx() != 512 || uint64(len(content)) != sticker.GetFileLength() {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
		if file.kind == "" && !bytes.Equal(content, file.content) {
			t.Errorf("%s: other bytes arrived", name)
		}
		if m, ok := b.Message(Path("/api/messages/individual/%s", c.Ben.PN()), sent.ID); !ok || m.MessageType != "stickerMessage" || m.Media == nil || m.Media.Type != bridge.MediaSticker || m.Media.MimeType != "image/webp" {
			t.Errorf("%s: stored is %+v", name, m)
		}
		served := b.Get(Path("/api/messages/media/%s/", c.Ben.PN()) + sent.ID).Want(http.StatusOK)
		if !bytes.Equal(served.Body, content) || served.Header.Get("X-Messenger-Media-Type") != "sticker" {
			t.Errorf("%s: the bridge serves %d bytes as %s", name, len(served.Body), served.Header.Get("X-Messenger-Media-Type"))
		}
		var forwarded struct{ MsgID string }
		b.Post("/api/messages/forward", Object{"sourceChatJid": c.Ben.PN().String(), "sourceMsgId": sent.ID, "destJid": c.Carla.PN().String()}).
			Want(http.StatusOK).Decode(&forwarded)
		again := Must(c.Carla.ReceivedID(Within(t), forwarded.MsgID))(t)
		if again.Message.Message.GetStickerMessage() == nil || !bytes.Equal(Must(c.Carla.Download(Within(t), again))(t), content) {
			t.Errorf("%s: forwarded is %v", name, again.Message.Message)
		}
	}
	b.Do(http.MethodPost, "/api/messages/send-media", `{"jid":"`+c.Ben.PN().String()+`","url":"https://example.com/x.webp","type":"sticker"}`).Want(http.StatusBadRequest)
}
