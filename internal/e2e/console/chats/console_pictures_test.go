package chats

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// loaded is the number of bytes that a page and its files take on the wire.
const loaded = `["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind)).reduce((sum, one) => sum + one.encodedBodySize, 0)`

// areSeen reports whether all pictures in the window are loaded.
const areSeen = `document.readyState === "complete" && [...document.querySelectorAll(".msg img")].filter(one => { const box = one.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; }).every(one => one.complete && one.naturalWidth)`

// grainy returns a picture as large as a phone's, as a JPEG of 220 KB.
func grainy(t *testing.T) []byte {
	t.Helper()
	grain := rand.New(rand.NewPCG(1, 1))
	picture := image.NewRGBA(image.Rect(0, 0, 1600, 1200))
	for i := range picture.Pix {
		picture.Pix[i] = 255
		if i%4 != 3 { // red, green and blue
			picture.Pix[i] = uint8(100 + i/picture.Stride/10 + grain.IntN(24))
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 80}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A chat with pictures loads small ones: on a phone it takes less than half a megabyte, where the files alone have more than one. A
// video and a link have a picture, GIFs play unless less motion is preferred, and a picture that is opened is the
// file itself.
func chatsLoadSmallPictures(t *testing.T, v Visited) {
	picture := grainy(t)
	for i := range 5 {
		file := simnet.Media{Data: picture, Mimetype: "image/jpeg", Caption: fmt.Sprintf("picture %d", i), Width: 1600, Height: 1200}
		Must(v.Ben.SendImage(Within(t), v.Owner.PN(), file))(t)
	}
	small := Photo(t, 96, 72)
	Must(v.Ben.SendVideo(Within(t), v.Owner.PN(), simnet.Media{Data: Film(), Mimetype: "video/mp4", Caption: "a film", Width: 320, Height: 240, Seconds: 7, Thumbnail: small}))(t)
	Must(v.Ben.Send(Within(t), v.Owner.PN(), &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: proto.String("look: https://example.org/"), MatchedText: proto.String("https://example.org/"), Title: proto.String("A page with a picture"), JPEGThumbnail: small,
	}}))(t)
	v.WantStored(v.Ben, "look: https")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(200)
	gif := simnet.Media{Data: Must(os.ReadFile("../../../media/testdata/formats/clip.webm"))(t), Mimetype: "video/webm", GIF: true, Width: 320, Height: 240, Thumbnail: small}
	Must(v.Anna.SendVideo(Within(t), v.Owner.PN(), gif))(t)
	CallBrowser(v.Browser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}) // with motion
	v.OpenChat(v.Anna.PN())
	v.WaitFor(`document.querySelector("[data-gif].playing")?.currentTime > 0`)
	v.Resize(390, 844, false) // and without motion
	v.OpenChat(v.Anna.PN())
	v.WaitFor(`document.readyState === "complete" && document.querySelector("[data-gif]")?.paused`)
	v.WantSeen(".video .play")
	for _, width := range []int64{390, 1440} {
		v.Resize(width, 844, false)
		v.OpenChat(v.Ben.PN())
		v.WaitFor(areSeen)
		v.WaitFor(`[".video .poster", ".preview img"].every(one => document.querySelector(one).naturalWidth === 96)`)
		v.WantSeen(".preview img")
		sum := Evaluate[int](v.Browser, loaded)
		shoot(v.Browser, fmt.Sprintf("pictures-%d", width))
		t.Logf("at %d pixels the chat loads %d KB", width, sum>>10)
		if width < 600 && sum > 1<<19 {
			t.Errorf("at %d pixels the chat loads %d bytes", width, sum)
		}
	}
	v.ClickIt(inMessage("picture 4", ".picture"))
	v.WaitFor(`document.querySelector("#viewer .shown img").naturalWidth === 1600`)
	v.Open("/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped() + "/media")
	v.WaitFor(`document.querySelectorAll(".tile-view img").length === 6 && [...document.querySelectorAll(".tile-view img")].every(one => one.complete && one.naturalWidth && one.naturalWidth <= 320)`)
}

// An album shows four pictures, and the others once it is asked for them. Each has its menu, and is answered alone.
func albumsShowFourAndTheRest(t *testing.T, v Visited) {
	album := Must(v.Ben.SendAlbum(Within(t), v.Owner.PN(), 9, 0))(t)
	var last string
	for i := range 9 {
		picture := simnet.Media{Data: Photo(t, 300, 200+20*i), Mimetype: "image/jpeg", Width: 300, Height: uint32(200 + 20*i)}
		last = Must(v.Ben.SendImage(Within(t), v.Owner.PN(), picture, simnet.InAlbum(album)))(t)
	}
	v.WantStored(v.Ben, last)
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll(".album-part").length === 9 && ` + areSeen)
	shown := `[...document.querySelectorAll(".album-part")].filter(one => one.checkVisibility()).length`
	if n := Evaluate[int](v.Browser, shown); n != 4 || v.Text(".more-parts") != "+5" {
		t.Errorf("%d pictures and %q are shown", n, v.Text(".more-parts"))
	}
	v.WantSeen(".more-parts")
	v.WantInside("an album", ".album *:not(.vh, svg *)")
	shoot(v.Browser, fmt.Sprintf("album-%d", Evaluate[int](v.Browser, "innerWidth")))
	v.ClickOn(".more-parts")
	v.WaitFor(shown + ` === 9`)
	part := fmt.Sprintf(`.album-part[data-id=%q]`, last)
	v.ClickOn(part + " .msg-menu")
	v.WaitFor(`document.querySelector("#message-menu[open] [data-reply]")`)
	v.WantSeen(`#message-menu [href$="?save"]`)
	shoot(v.Browser, fmt.Sprintf("album-menu-%d", Evaluate[int](v.Browser, "innerWidth")))
	v.ClickOn("#message-menu [data-reply]")
	v.WaitFor(`!document.querySelector("#replying").hidden && document.querySelector(".say").elements.reply.value === ` + JsString(last))
	v.Open("/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped() + "?at=" + last)
	v.WaitFor(`document.querySelector(".album-part.found")?.checkVisibility()`)
}
