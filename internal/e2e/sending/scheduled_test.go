package sending

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
)

// TestScheduled_ArriveAtTheirTime with their quote and their files, under the ids that the calls answered, and
// are in the chat only then.
func TestScheduled_ArriveAtTheirTime(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	ben := bridge.JID(c.Ben.PN().String())
	asked := Must(c.Ben.SendText(Within(t), c.Owner.PN(), "when?"))(t)
	Eventually(t, func() error {
		_, err := c.Bridge.API.Message(Within(t), ben, asked)
		return err
	})
	at := bridge.At(time.Now().Add(1500 * time.Millisecond))
	text := Must(c.Bridge.API.Send(Within(t), client.Later{Message: client.Text{To: ben, Text: "now", Quote: client.Quote{QuotedMsgID: asked}}, At: at}, "k"))(t)
	file := Must(c.Bridge.API.SendFile(Within(t), client.Upload{To: ben, FileName: "list.txt", Caption: "and this", SendAt: &at}, strings.NewReader("Bring water."), ""))(t)
	pictures := client.Album{To: ben, SendAt: &at, Quote: client.Quote{QuotedMsgID: asked}, Items: []client.AlbumItem{
		{Part: "one", Type: bridge.MediaImage, File: bytes.NewReader(demo.Picture(64, 40))},
		{Part: "two", Type: bridge.MediaImage, Caption: "the hills", File: bytes.NewReader(demo.Picture(40, 64))},
	}}
	album := Must(c.Bridge.API.SendAlbum(Within(t), pictures, "album"))(t)
	Must(c.Bridge.API.UpdateScheduled(Within(t), album.ID, client.ScheduledPatch{Text: new("the path")}))(t)
	if waiting := Must(c.Bridge.API.ScheduledMessage(Within(t), album.ID))(t); waiting.Type != bridge.ScheduledTypeAlbum || waiting.Content != "the path" || len(waiting.Items) != 2 || waiting.Items[1].Size == 0 {
		t.Errorf("scheduled as %+v", waiting)
	}
	if album.SendAt == nil || album.Items == nil || len(album.Items) != 0 {
		t.Errorf("answered %+v", album)
	}
	if text.SendAt == nil || !text.SendAt.Equal(at.Time) {
		t.Errorf("answered %+v", text)
	}
	if _, err := c.Bridge.API.Message(Within(t), ben, text.ID); bridge.CodeOf(err) != bridge.CodeNotFound {
		t.Errorf("it is in the chat before its time: %v", err)
	}
	got := Must(c.Ben.ReceivedID(Within(t), text.ID))(t)
	if time.Now().Before(at.Time) || got.Text() != "now" || got.RawMessage.GetExtendedTextMessage().GetContextInfo().GetStanzaID() != asked {
		t.Errorf("received %v", got.RawMessage)
	}
	if got := Must(c.Ben.ReceivedID(Within(t), file.ID))(t); got.Text() != "and this" {
		t.Errorf("received %v", got.RawMessage)
	}
	if parent := Must(c.Ben.ReceivedID(Within(t), album.ID))(t).RawMessage.GetAlbumMessage(); parent.GetContextInfo().GetStanzaID() != asked {
		t.Errorf("the album quotes %v", parent.GetContextInfo())
	}
	if items := Must(c.Ben.Album(Within(t), album.ID))(t); len(items) != 2 || items[0].Text() != "the path" || items[1].Text() != "the hills" || len(Must(c.Ben.Show(Within(t), items[1]))(t)) == 0 {
		t.Errorf("the album has %v", items)
	}
	again := Must(c.Bridge.API.Send(Within(t), client.Later{Message: client.Text{To: ben, Text: "now", Quote: client.Quote{QuotedMsgID: asked}}, At: at}, "k"))(t)
	if !again.Replayed || again.ID != text.ID {
		t.Errorf("repeated: %+v", again)
	}
	c.Bridge.Get("/api/scheduled/" + text.ID).Want(http.StatusNotFound)
}

// TestScheduled_LeaveFromTheirAccountOnly: while the account is logged out, and another one tries to pair, nothing leaves. The
// messages wait for the account that they were scheduled for.
func TestScheduled_LeaveFromTheirAccountOnly(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	ben, b := bridge.JID(c.Ben.PN().String()), c.Bridge
	at := bridge.At(time.Now().Add(time.Hour))
	text := Must(b.API.Send(Within(t), client.Later{Message: client.Text{To: ben, Text: "see you"}, At: at}, ""))(t)
	Must(b.API.Logout(Within(t)))(t)
	Must(b.API.WaitState(Within(t), bridge.StateNeedsPair))(t)
	Refused(t, b.Post("/api/auth/pair", Object{"phone": c.Carla.Number()}), http.StatusConflict, bridge.CodeOtherAccount)
	due := bridge.At(time.Now().Add(time.Second))
	Must(b.API.UpdateScheduled(Within(t), text.ID, client.ScheduledPatch{SendAt: &due}))(t)
	if _, err := b.API.SendScheduled(Within(t), text.ID, ""); bridge.CodeOf(err) != bridge.CodeNotConnected {
		t.Errorf("sent without an account: %v", err)
	}
	Eventually(t, func() error {
		waiting, err := b.API.ScheduledMessage(Within(t), text.ID)
		if err == nil && (waiting.Status != bridge.ScheduledWaiting || time.Now().Before(due.Time)) {
			err = fmt.Errorf("it is %s, and due at %s", waiting.Status, due)
		}
		return err
	})
	for _, m := range c.Ben.Messages() {
		t.Errorf("Ben received %q", m.Text())
	}
	Pair(t, b, c.Owner)
	Must(c.Ben.ReceivedID(Within(t), text.ID))(t)
}
