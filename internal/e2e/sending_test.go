package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// sends sends a text through the API and returns the message's id.
func (p *process) sends(t testing.TB, body object) simnet.MessageID {
	t.Helper()
	return sentID(t, p.Post("/api/messages/send", body))
}

func sentID(t testing.TB, resp apitest.Response) simnet.MessageID {
	t.Helper()
	var sent struct {
		OK    bool
		MsgID string
	}
	resp.Want(http.StatusOK).Decode(&sent)
	if !sent.OK || sent.MsgID == "" {
		t.Fatalf("sent: %s", resp.Body)
	}
	return sent.MsgID
}

// answersEach sends an answer with quote and mention into each conversation and
// checks it on the recipient's phone.
func answersEach(t *testing.T, c *cast, conversations ...*conversation) {
	t.Helper()
	for _, chat := range conversations {
		asked := chat.shown[0]
		text := "Danke! @" + chat.by.Number() + " kommt mit"
		id := c.bridge.sends(t, object{
			"jid": chat.in.String(), "text": text, "quotedMsgId": asked["msgId"], "mentions": []string{chat.by.PN().String(), chat.me.LID().String()},
		})
		chat.shows(ownMessage(id, chat.me, "extendedTextMessage", text, bridge.DeliveryDelivered, object{
			"contextInfo": refersTo(asked["msgId"], chat.by.PN().String(), mention(chat.by, "@"+chat.by.Number()), mention(chat.me, nil)),
		}, quoted(chat.in, asked), chat.timer()))
		isAnswer(t, chat, id, asked)
		c.bridge.answers(chat.list(), history(chat.in, reversed(chat.shown)))
	}
}

// isAnswer checks an answer as its recipient got it: decrypted, with the quote, and
// with mentions that their app highlights.
func isAnswer(t *testing.T, chat *conversation, id simnet.MessageID, quoted object) {
	t.Helper()
	got := must(chat.by.ReceivedID(within(t), id))(t)
	info := got.Message.Message.GetExtendedTextMessage().GetContextInfo()
	if info.GetStanzaID() != quoted["msgId"] || info.GetQuotedMessage().GetConversation() != quoted["content"] || info.GetRemoteJID() != "" {
		t.Errorf("in %s the answer quotes %v", chat.in, info)
	}
	// Direct messages all go to LIDs; in a group its form of address counts.
	them, me := chat.by.LID(), chat.me.LID()
	if chat.in.Server == bridge.ServerGroup {
		them, me = chat.bySelf, chat.meHere
	}
	if info.GetParticipant() != them.String() {
		t.Errorf("in %s the quoted person is %s, want %s", chat.in, info.GetParticipant(), them)
	}
	if want := []string{them.String(), me.String()}; !slices.Equal(info.GetMentionedJID(), want) {
		t.Errorf("in %s mentioned are %v, want %v", chat.in, info.GetMentionedJID(), want)
	}
	if want := "Danke! @" + them.User + " kommt mit @" + me.User; got.Text() != want {
		t.Errorf("in %s the text is %q, want %q", chat.in, got.Text(), want)
	}
}

// timer returns the fields that the chat's timer adds to the bridge's own messages:
// in everyKind one side turns it on.
func (c *conversation) timer() object {
	if c.in.Server == bridge.ServerGroup {
		return nil
	}
	return object{"expiresAt": afterTimer}
}

// answersElsewhere quotes a group's message in a direct chat.
func answersElsewhere(t *testing.T, c *cast, from, to *conversation) {
	t.Helper()
	quoted := from.shown[0]
	id := c.bridge.sends(t, object{
		"jid": to.by.LID().String(), "text": "about what you wrote there", "quotedChatJid": from.in.String(), "quotedMsgId": quoted["msgId"],
	})
	to.shows(ownMessage(id, to.me, "extendedTextMessage", "about what you wrote there", bridge.DeliveryDelivered, object{
		"contextInfo": refersTo(quoted["msgId"], from.by.PN().String()),
	}, to.timer()))
	got := must(to.by.ReceivedID(within(t), id))(t)
	info := got.Message.Message.GetExtendedTextMessage().GetContextInfo()
	if info.GetRemoteJID() != from.in.String() || info.GetStanzaID() != quoted["msgId"] {
		t.Errorf("the answer names %v", info)
	}
	c.bridge.answers(to.list(), history(to.in, reversed(to.shown)))
}

// statusMovesOn follows one message from the bridge's disk to its recipient. While
// the network is frozen it stays pending, while the phone is off it stays sent.
func statusMovesOn(t *testing.T, c *cast, chat *conversation) {
	t.Helper()
	b := c.bridge
	chat.by.Disconnect()
	if err := chat.by.Device().WaitOffline(within(t)); err != nil {
		t.Fatal(err)
	}
	c.device.Freeze()
	answered := make(chan apitest.Response, 1)
	go func() {
		answered <- b.Post("/api/messages/send", object{"jid": chat.in.String(), "text": "are you there?"})
	}()
	isLast := func(status bridge.Delivery) {
		t.Helper()
		eventually(t, func() error { return lastIs(b, chat, "are you there?", status) })
	}
	isLast(bridge.DeliveryPending)
	c.device.Thaw()
	id := sentID(t, <-answered)
	isLast(bridge.DeliverySent)
	if err := chat.by.Connect(within(t)); err != nil {
		t.Fatal(err)
	}
	isLast(bridge.DeliveryDelivered)
	theirs := must(chat.by.ReceivedID(within(t), id))(t)
	if err := chat.by.MarkRead(within(t), theirs); err != nil {
		t.Fatal(err)
	}
	isLast(bridge.DeliveryRead)
	// In a chat whose messages disappear the bridge's do so, too; such a text is an
	// extended one.
	if timer := theirs.Message.Message.GetExtendedTextMessage().GetContextInfo().GetExpiration(); timer != chatTimer {
		t.Errorf("the message disappears after %d s, want %d", timer, chatTimer)
	}
	chat.shows(ownMessage(id, chat.me, "extendedTextMessage", "are you there?", bridge.DeliveryRead, chat.timer()))
	b.answers(chat.list(), history(chat.in, reversed(chat.shown)))
}

// lastIs checks the newest message of a chat.
func lastIs(b *process, chat *conversation, text string, status bridge.Delivery) error {
	var page struct{ Messages []bridge.Message }
	b.Get(chat.list() + "?limit=1").Want(http.StatusOK).Decode(&page)
	if last := page.Messages[0]; last.Content != text || last.Status == nil || *last.Status != status {
		return fmt.Errorf("the last message is %q (%s), want %q (%s)", last.Content, statusOf(last), text, status)
	}
	return nil
}

func statusOf(m bridge.Message) bridge.Delivery {
	if m.Status == nil {
		return "no status"
	}
	return *m.Status
}
