package e2e

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// A person without a number is known by LID and username alone, and everything
// works as with other people.

// numberless returns such a person, who has written a message.
func (c *cast) numberless(t *testing.T, number, name, username string) (*simnet.Phone, simnet.MessageID) {
	t.Helper()
	person := newPhone(t, c.network, simnet.PhoneOptions{Number: number, Name: name, Username: username, Numberless: true})
	return person, say(t, person, c.owner.LID(), "hello from "+name)
}

// stored waits until messages are stored.
func (c *cast) stored(t *testing.T, ids ...simnet.MessageID) {
	t.Helper()
	if err := c.device.WaitAcknowledged(within(t), ids...); err != nil {
		t.Fatal(err)
	}
}

// hidden returns the fields that stand for the number.
func hidden(p *simnet.Phone, username string) object {
	return object{"jid": p.LID().String(), "username": username}
}

// TestNumberless_IsShownAndFound on every route that shows people.
func TestNumberless_IsShownAndFound(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	fay, hello := c.numberless(t, "491510000701", "Fay", "fay.w")
	lid := fay.LID()
	sent := message(hello, fay, "conversation", "hello from Fay", object{"senderJid": lid.String(), "senderUsername": "fay.w"})
	b.answers(path("/api/messages/individual/%s", lid), history(lid, []object{sent}))
	b.answers("/api/messages/search?q=from+fay", matches("from fay", match(lid, sent)))
	listed := with(privateChat(fay, "Fay"), hidden(fay, "fay.w"))
	for _, q := range []string{"fay.w", "@fay.w", "@FAY", lid.User, lid.String()} {
		b.answers("/api/chats?q="+url.QueryEscape(q), chats(listed))
	}
	contact := object{"jid": lid.String(), "lid": lid.String(), "phone": nil, "username": "fay.w", "name": "", "pushName": "Fay", "businessName": "", "isSaved": false, "isBlocked": false, "chatJid": lid.String()}
	b.answers(path("/api/contacts/%s", lid), contact)
	b.answers("/api/contacts?q=%40fay", object{"count": 1, "contacts": []object{contact}, "hasMore": false, "nextCursor": nil})

	// Its change is an event, and messages show the current name.
	fay.SetUsername("fay.x")
	say(t, fay, c.owner.LID(), "renamed")
	eventually(t, func() error {
		var page struct{ Events []bridge.Event }
		b.Get("/api/events?since=0&limit=1000").Want(http.StatusOK).Decode(&page)
		told := slices.ContainsFunc(page.Events, func(e bridge.Event) bool {
			return e.Chat != nil && e.Type == bridge.EventChatUpdated && e.Chat.Username != nil && *e.Chat.Username == "fay.x"
		}) && slices.ContainsFunc(page.Events, func(e bridge.Event) bool {
			return e.Message != nil && e.Message.ID == hello && e.Message.SenderUsername != nil && *e.Message.SenderUsername == "fay.x"
		})
		if !told {
			return errors.New("not yet")
		}
		return nil
	})
	b.answers("/api/chats?q=fay.w", chats())

	// Clients of all kinds find people by it.
	b.staysAtItsAddress()
	if out, err := b.command("send", "@fay.x", "by name"); err != nil {
		t.Errorf("bridged send: %v\n%s", err, out)
	}
	must(fay.ReceivedText(within(t), "by name"))(t)
}

// TestNumberless_EverythingWorks: writing, quoting, reacting, editing, deleting,
// marking as read, and groups.
func TestNumberless_EverythingWorks(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	fay, hello := c.numberless(t, "491510000801", "Fay", "fay")
	lid := fay.LID()
	c.stored(t, hello)
	id := sentID(t, b.Post("/api/messages/send", object{"jid": lid.String(), "text": "hello @" + lid.User, "mentions": []string{lid.String()}, "quotedMsgId": hello}))
	received := must(fay.ReceivedID(within(t), id))(t)
	if info := received.Message.Message.GetExtendedTextMessage().GetContextInfo(); info.GetParticipant() != lid.String() || !slices.Equal(info.GetMentionedJID(), []string{lid.String()}) {
		t.Errorf("quoted and mentioned: %v", info)
	}
	b.Post("/api/messages/react", object{"chatJid": lid.String(), "msgId": hello, "emoji": "👋"}).Want(http.StatusOK)
	b.Post(path("/api/chats/%s/read", lid), object{}).Want(http.StatusOK)
	b.Post(path("/api/chats/%s/typing", lid), object{"state": "typing"}).Want(http.StatusOK)
	must(fay.React(within(t), received, "👍"))(t)
	eventually(t, func() error {
		if m, ok := b.message(path("/api/messages/individual/%s", lid), id); ok && len(m.Reactions) == 1 && m.Reactions[0].SenderJID == bridge.JID(lid.String()) {
			return nil
		}
		return errors.New("not yet")
	})

	var made struct {
		JID          string
		Participants []bridge.ParticipantResult
	}
	b.Post("/api/groups", object{"name": "Without numbers", "participants": []string{lid.String(), c.anna.PN().String()}}).Want(http.StatusOK).Decode(&made)
	for _, p := range made.Participants {
		if p.Status != bridge.ParticipantDone {
			t.Errorf("%+v", p)
		}
	}
	group, ok := c.network.Group(must(types.ParseJID(made.JID))(t))
	if !ok {
		t.Fatal("there is no group")
	}
	hasMember(t, b, group, with(member(fay, "Fay"), hidden(fay, "fay")))
	inGroup := say(t, fay, group.JID(), "in the group")
	b.answers(path("/api/groups/%s/messages?sender=%s", group.JID(), lid), history(group.JID(), []object{
		message(inGroup, fay, "conversation", "in the group", object{"senderJid": lid.String(), "senderUsername": "fay"}),
	}, object{"sender": lid.String()}))
	b.Post(path("/api/groups/%s/participants", group.JID()), object{"action": "remove", "participants": []string{lid.String()}}).Want(http.StatusOK).Decode(&made)
	if len(made.Participants) != 1 || made.Participants[0].Status != bridge.ParticipantDone || made.Participants[0].JID != bridge.JID(lid.String()) {
		t.Errorf("removed: %+v", made.Participants)
	}
}

// TestNumberless_MayBeTheChatOf tokens, webhooks and hooks.
func TestNumberless_MayBeTheChatOf(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	fay, hello := c.numberless(t, "491510000901", "Fay", "fay")
	other := say(t, c.anna, c.owner.PN(), "hello from Anna")
	lid := fay.LID()
	c.stored(t, hello, other)

	var token struct{ Secret string }
	b.Post("/api/tokens", object{"name": "desk", "scopes": []string{"read", "send"}, "chats": []string{lid.String()}}).Want(http.StatusCreated).Decode(&token)
	b.secrets = append(b.secrets, token.Secret)
	desk := b.WithToken(token.Secret)
	var found struct{ Matches []bridge.Match }
	desk.Get("/api/messages/search?q=hello").Want(http.StatusOK).Decode(&found)
	if len(found.Matches) != 1 || found.Matches[0].MsgID != hello {
		t.Errorf("the token finds %+v", found.Matches)
	}
	answer := sentID(t, desk.Post("/api/messages/send", object{"jid": lid.String(), "text": "from the desk"}))
	must(fay.ReceivedID(within(t), answer))(t)

	var hook struct{ Path string }
	b.Post("/api/hooks", object{"name": "notes", "chatJid": lid.String(), "template": "json"}).Want(http.StatusCreated).Decode(&hook)
	b.secrets = append(b.secrets, hook.Path[strings.Index(hook.Path, ".")+1:])
	b.WithToken("").Post(hook.Path, object{"text": "from a hook"}).Want(http.StatusOK)
	must(fay.ReceivedText(within(t), "from a hook"))(t)

	b.Post("/api/webhooks", object{"url": "https://example.com/hook", "chats": []string{lid.String()}}).Want(http.StatusCreated)
}
