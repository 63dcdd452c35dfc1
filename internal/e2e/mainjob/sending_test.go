package mainjob

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// answersEach sends an answer with quote and mention into each conversation and
// checks it on the recipient's phone.
func answersEach(t *testing.T, c *Cast, conversations ...*Conversation) {
	t.Helper()
	for _, chat := range conversations {
		asked := chat.Shown[0]
		text := "Danke! @" + chat.By.Number() + " kommt mit"
		id := c.Bridge.Sends(t, Object{
			"jid": chat.In.String(), "text": text, "quotedMsgId": asked["msgId"], "mentions": []string{chat.By.PN().String(), chat.Me.LID().String()},
		})
		shows(chat, OwnMessage(id, chat.Me, "extendedTextMessage", text, bridge.DeliveryDelivered, Object{
			"contextInfo": RefersTo(asked["msgId"], chat.By.PN().String(), Mention(chat.By, "@"+chat.By.Number()), Mention(chat.Me, nil)),
		}, Quoted(chat.In, asked), timer(chat)))
		isAnswer(t, chat, id, asked)
		c.Bridge.Answers(chat.List(), History(chat.In, Reversed(chat.Shown)))
	}
}

// isAnswer checks an answer as its recipient got it: decrypted, with the quote, and
// with mentions that their app highlights.
func isAnswer(t *testing.T, chat *Conversation, id simnet.MessageID, quoted Object) {
	t.Helper()
	got := Must(chat.By.ReceivedID(Within(t), id))(t)
	info := got.Message.Message.GetExtendedTextMessage().GetContextInfo()
	if info.GetStanzaID() != quoted["msgId"] || info.GetQuotedMessage().GetConversation() != quoted["content"] || info.GetRemoteJID() != "" {
		t.Errorf("in %s the answer quotes %v", chat.In, info)
	}
	// Direct messages all go to LIDs; in a group its form of address counts.
	them, me := chat.By.LID(), chat.Me.LID()
	if chat.In.Server == bridge.ServerGroup {
		them, me = chat.BySelf, chat.MeHere
	}
	if info.GetParticipant() != them.String() {
		t.Errorf("in %s the quoted person is %s, want %s", chat.In, info.GetParticipant(), them)
	}
	if want := []string{them.String(), me.String()}; !slices.Equal(info.GetMentionedJID(), want) {
		t.Errorf("in %s mentioned are %v, want %v", chat.In, info.GetMentionedJID(), want)
	}
	if want := "Danke! @" + them.User + " kommt mit @" + me.User; got.Text() != want {
		t.Errorf("in %s the text is %q, want %q", chat.In, got.Text(), want)
	}
}

// timer returns the fields that the chat's timer adds to the bridge's own messages:
// in everyKind one side turns it on.
func timer(c *Conversation) Object {
	if c.In.Server == bridge.ServerGroup {
		return nil
	}
	return Object{"expiresAt": AfterTimer}
}

// answersElsewhere quotes a group's message in a direct chat.
func answersElsewhere(t *testing.T, c *Cast, from, to *Conversation) {
	t.Helper()
	quoted := from.Shown[0]
	id := c.Bridge.Sends(t, Object{
		"jid": to.By.LID().String(), "text": "about what you wrote there", "quotedChatJid": from.In.String(), "quotedMsgId": quoted["msgId"],
	})
	shows(to, OwnMessage(id, to.Me, "extendedTextMessage", "about what you wrote there", bridge.DeliveryDelivered, Object{
		"contextInfo": RefersTo(quoted["msgId"], from.By.PN().String()),
		"quoted": Object{
			"msgId": quoted["msgId"], "chatJid": from.In.String(), "fromMe": false, "senderJid": quoted["senderJid"], "pushName": quoted["pushName"],
			"messageType": quoted["messageType"], "content": quoted["content"], "timestamp": nil, "deletedAt": nil, "origin": "embedded",
		},
	}, timer(to)))
	got := Must(to.By.ReceivedID(Within(t), id))(t)
	info := got.Message.Message.GetExtendedTextMessage().GetContextInfo()
	if info.GetRemoteJID() != from.In.String() || info.GetStanzaID() != quoted["msgId"] {
		t.Errorf("the answer names %v", info)
	}
	c.Bridge.Answers(to.List(), History(to.In, Reversed(to.Shown)))
}

// statusMovesOn follows one message from the bridge's disk to its recipient. While
// the network is frozen it stays pending, while the phone is off it stays sent.
func statusMovesOn(t *testing.T, c *Cast, chat *Conversation) {
	t.Helper()
	b := c.Bridge
	chat.By.Disconnect()
	if err := chat.By.Device().WaitOffline(Within(t)); err != nil {
		t.Fatal(err)
	}
	c.Device.Freeze()
	answered := make(chan apitest.Response, 1)
	go func() {
		answered <- b.Post("/api/messages/send", Object{"jid": chat.In.String(), "text": "are you there?"})
	}()
	isLast := func(status bridge.Delivery) {
		t.Helper()
		Eventually(t, func() error { return lastIs(b, chat, "are you there?", status) })
	}
	isLast(bridge.DeliveryPending)
	c.Device.Thaw()
	id := SentID(t, <-answered)
	isLast(bridge.DeliverySent)
	if err := chat.By.Connect(Within(t)); err != nil {
		t.Fatal(err)
	}
	isLast(bridge.DeliveryDelivered)
	theirs := Must(chat.By.ReceivedID(Within(t), id))(t)
	if err := chat.By.MarkRead(Within(t), theirs); err != nil {
		t.Fatal(err)
	}
	isLast(bridge.DeliveryRead)
	// In a chat whose messages disappear the bridge's do so, too; such a text is an
	// extended one.
	if timer := theirs.Message.Message.GetExtendedTextMessage().GetContextInfo().GetExpiration(); timer != ChatTimer {
		t.Errorf("the message disappears after %d s, want %d", timer, ChatTimer)
	}
	shows(chat, OwnMessage(id, chat.Me, "extendedTextMessage", "are you there?", bridge.DeliveryRead, timer(chat)))
	b.Answers(chat.List(), History(chat.In, Reversed(chat.Shown)))
}

// lastIs checks the newest message of a chat.
func lastIs(b *Process, chat *Conversation, text string, status bridge.Delivery) error {
	var page struct{ Messages []bridge.Message }
	b.Get(chat.List() + "?limit=1").Want(http.StatusOK).Decode(&page)
	if last := page.Messages[0]; last.Content != text || last.Status == nil || *last.Status != status {
		return fmt.Errorf("the last message is %q (%s), want %q (%s)", last.Content, StatusOf(last), text, status)
	}
	return nil
}
