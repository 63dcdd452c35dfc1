package sending

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

// TestScheduled_ArriveAtTheirTime with their quote and their file, under the ids that the calls answered, and
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
	again := Must(c.Bridge.API.Send(Within(t), client.Later{Message: client.Text{To: ben, Text: "now", Quote: client.Quote{QuotedMsgID: asked}}, At: at}, "k"))(t)
	if !again.Replayed || again.ID != text.ID {
		t.Errorf("repeated: %+v", again)
	}
	c.Bridge.Get("/api/scheduled/" + text.ID).Want(http.StatusNotFound)
}
