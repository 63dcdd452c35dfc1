package sending

import (
	"fmt"
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
