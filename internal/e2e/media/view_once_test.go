package media

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestViewOnce_IsShownOnce sends what can be viewed once, by URL and by form. Phones show it once, and no
// later message has its keys.
func TestViewOnce_IsShownOnce(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	web, to := NewWebsite(t), bridge.JID(c.Anna.PN().String())
	for name, file := range map[string]struct {
		bytes []byte
		kind  bridge.MediaType
		isPTT bool
	}{
		"picture": {Photo(t, 640, 400), bridge.MediaImage, false}, "video": {Film(), bridge.MediaVideo, false}, "voice note": {demo.Voice(3), bridge.MediaAudio, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := web.Has("/"+strings.ReplaceAll(name, " ", "-"), file.bytes)
			ids := []simnet.MessageID{c.SendsMedia(t, Object{"jid": to, "url": url, "type": file.kind, "ptt": file.isPTT, "viewOnce": true})}
			upload := client.Upload{To: to, FileName: "x", Type: file.kind, PTT: file.isPTT, ViewOnce: true}
			ids = append(ids, Must(c.Bridge.API.SendFile(Within(t), upload, bytes.NewReader(file.bytes), ""))(t).ID)
			for _, id := range ids {
				got := Must(c.Anna.ReceivedID(Within(t), id))(t)
				if thumbnail := got.Message.Message.GetImageMessage().GetJPEGThumbnail(); len(thumbnail) > 0 {
					t.Errorf("a thumbnail of %d bytes remains", len(thumbnail))
				}
				if shown := Must(c.Anna.Show(Within(t), got))(t); !bytes.Equal(shown, file.bytes) {
					t.Errorf("%d other bytes are shown", len(shown))
				}
				if _, err := c.Anna.Show(Within(t), got); !errors.Is(err, simnet.ErrSeen) {
					t.Errorf("shown twice: %v", err)
				}
				stored := Must(c.Bridge.API.Message(Within(t), to, id))(t)
				if stored.Media == nil || !stored.Media.ViewOnce {
					t.Errorf("stored as %+v", stored.Media)
				}
				Refused(t, c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": to, "sourceMsgId": id, "destJid": c.Ben.PN().String()}), http.StatusBadRequest, bridge.CodeInvalid, "view-once")
			}
			quoting := SentID(t, c.Bridge.Post("/api/messages/send", Object{"jid": c.Ben.PN().String(), "text": "about this", "quotedChatJid": to, "quotedMsgId": ids[0]}))
			quoted := Must(c.Ben.ReceivedID(Within(t), quoting))(t).Message.Message.GetExtendedTextMessage().GetContextInfo().GetQuotedMessage()
			bare := map[string]*waE2E.Message{
				"picture": {ImageMessage: &waE2E.ImageMessage{ViewOnce: proto.Bool(true)}}, "video": {VideoMessage: &waE2E.VideoMessage{ViewOnce: proto.Bool(true)}},
				"voice note": {AudioMessage: &waE2E.AudioMessage{ViewOnce: proto.Bool(true)}},
			}
			if !proto.Equal(quoted, bare[name]) {
				t.Errorf("quoted as %v", quoted)
			}
		})
	}
	t.Cleanup(c.Bridge.LeavesNoFile)
}

// TestViewOnce_OfOthersIsStored: what a phone sends to be viewed once is named so.
func TestViewOnce_OfOthersIsStored(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	file := simnet.Media{Data: []byte("a secret"), Voice: true}
	from := bridge.JID(c.Anna.PN().String())
	for name, id := range map[string]simnet.MessageID{
		"picture": Must(c.Anna.SendImage(Within(t), c.Owner.PN(), file, simnet.ViewOnce()))(t), "video": Must(c.Anna.SendVideo(Within(t), c.Owner.PN(), file, simnet.ViewOnce()))(t),
		"voice note": Must(c.Anna.SendAudio(Within(t), c.Owner.PN(), file, simnet.ViewOnce()))(t),
	} {
		if err := c.Device.WaitAcknowledged(Within(t), id); err != nil {
			t.Fatal(err)
		}
		if m := Must(c.Bridge.API.Message(Within(t), from, id))(t); m.Media == nil || !m.Media.ViewOnce {
			t.Errorf("%s: %+v", name, m.Media)
		}
	}
}
