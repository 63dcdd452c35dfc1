package identity

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// A person without a number is known by LID and username alone, and everything
// works as with other people.

// numberless returns such a person, who has written a message.
func numberless(c *Cast, t *testing.T, number, name, username string) (*simnet.Phone, simnet.MessageID) {
	t.Helper()
	person := NewPhone(t, c.Network, simnet.PhoneOptions{Number: number, Name: name, Username: username, Numberless: true})
	return person, Say(t, person, c.Owner.LID(), "hello from "+name)
}

// hidden returns the fields that stand for the number.
func hidden(p *simnet.Phone, username string) Object {
	return Object{"jid": p.LID().String(), "username": username}
}

// TestNumberless_IsShownAndFound on every route that shows people.
func TestNumberless_IsShownAndFound(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	fay, hello := numberless(c, t, "491510000701", "Fay", "fay.w")
	lid := fay.LID()
	sent := Message(hello, fay, "conversation", "hello from Fay", Object{"senderJid": lid.String(), "senderUsername": "fay.w"})
	b.Answers(Path("/api/messages/individual/%s", lid), History(lid, []Object{sent}))
	b.Answers("/api/messages/search?q=from+fay", Matches("from fay", Match(lid, sent)))
	listed := With(PrivateChat(fay, "Fay"), hidden(fay, "fay.w"))
	for _, q := range []string{"fay.w", "@fay.w", "@FAY", lid.User, lid.String()} {
		b.Answers("/api/chats?q="+url.QueryEscape(q), Chats(listed))
	}
	contact := Object{"jid": lid.String(), "lid": lid.String(), "phone": nil, "username": "fay.w", "name": "", "pushName": "Fay", "businessName": "", "isSaved": false, "isBlocked": false, "chatJid": lid.String()}
	b.Answers(Path("/api/contacts/%s", lid), contact)
	b.Answers("/api/contacts?q=%40fay", Object{"count": 1, "contacts": []Object{contact}, "hasMore": false, "nextCursor": nil})

	// Its change is an event, and messages show the current name.
	fay.SetUsername("fay.x")
	Say(t, fay, c.Owner.LID(), "renamed")
	Eventually(t, func() error {
		var page struct{ Events []bridge.Event }
		b.Get("/api/events?after=0&limit=1000").Want(http.StatusOK).Decode(&page)
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
	b.Answers("/api/chats?q=fay.w", Chats())

	// Clients of all kinds find people by it.
	b.StaysAtItsAddress()
	if out, err := b.Command("send", "@fay.x", "by name"); err != nil {
		t.Errorf("bridged send: %v\n%s", err, out)
	}
	Must(fay.ReceivedText(Within(t), "by name"))(t)
}

// TestNumberless_EverythingWorks: writing, quoting, reacting, editing, deleting,
// marking as read, and groups.
func TestNumberless_EverythingWorks(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	fay, hello := numberless(c, t, "491510000801", "Fay", "fay")
	lid := fay.LID()
	c.Stored(t, hello)
	id := SentID(t, b.Post("/api/messages/send", Object{"jid": lid.String(), "text": "hello @" + lid.User, "mentions": []string{lid.String()}, "quotedMsgId": hello}))
	received := Must(fay.ReceivedID(Within(t), id))(t)
	if info := received.Message.Message.GetExtendedTextMessage().GetContextInfo(); info.GetParticipant() != lid.String() || !slices.Equal(info.GetMentionedJID(), []string{lid.String()}) {
		t.Errorf("quoted and mentioned: %v", info)
	}
	b.Post("/api/messages/react", Object{"chatJid": lid.String(), "msgId": hello, "emoji": "👋"}).Want(http.StatusOK)
	b.Post(Path("/api/chats/%s/read", lid), Object{}).Want(http.StatusOK)
	b.Post(Path("/api/chats/%s/typing", lid), Object{"state": "typing"}).Want(http.StatusOK)
	Must(fay.React(Within(t), received, "👍"))(t)
	Eventually(t, func() error {
		if m, ok := b.Message(Path("/api/messages/individual/%s", lid), id); ok && len(m.Reactions) == 1 && m.Reactions[0].SenderJID == bridge.JID(lid.String()) {
			return nil
		}
		return errors.New("not yet")
	})

	var made struct {
		JID          string
		Participants []bridge.ParticipantResult
	}
	b.Post("/api/groups", Object{"name": "Without numbers", "participants": []string{lid.String(), c.Anna.PN().String()}}).Want(http.StatusOK).Decode(&made)
	for _, p := range made.Participants {
		if p.Status != bridge.ParticipantDone {
			t.Errorf("%+v", p)
		}
	}
	group, ok := c.Network.Group(Must(types.ParseJID(made.JID))(t))
	if !ok {
		t.Fatal("there is no group")
	}
	hasMember(t, b, group, With(Member(fay, "Fay"), hidden(fay, "fay")))
	inGroup := Say(t, fay, group.JID(), "in the group")
	b.Answers(Path("/api/groups/%s/messages?sender=%s", group.JID(), lid), History(group.JID(), []Object{
		Message(inGroup, fay, "conversation", "in the group", Object{"senderJid": lid.String(), "senderUsername": "fay"}),
	}, Object{"sender": lid.String()}))
	b.Post(Path("/api/groups/%s/participants", group.JID()), Object{"action": "remove", "participants": []string{lid.String()}}).Want(http.StatusOK).Decode(&made)
	if len(made.Participants) != 1 || made.Participants[0].Status != bridge.ParticipantDone || made.Participants[0].JID != bridge.JID(lid.String()) {
		t.Errorf("removed: %+v", made.Participants)
	}
}

// TestNumberless_MayBeTheChatOf tokens, webhooks and hooks.
func TestNumberless_MayBeTheChatOf(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	fay, hello := numberless(c, t, "491510000901", "Fay", "fay")
	other := Say(t, c.Anna, c.Owner.PN(), "hello from Anna")
	lid := fay.LID()
	c.Stored(t, hello, other)

	var token struct{ Secret string }
	b.Post("/api/tokens", Object{"name": "desk", "scopes": []string{"read", "send"}, "chats": []string{lid.String()}}).Want(http.StatusCreated).Decode(&token)
	b.Secrets = append(b.Secrets, token.Secret)
	desk := b.WithToken(token.Secret)
	var found struct{ Matches []bridge.Match }
	desk.Get("/api/messages/search?q=hello").Want(http.StatusOK).Decode(&found)
	if len(found.Matches) != 1 || found.Matches[0].MsgID != hello {
		t.Errorf("the token finds %+v", found.Matches)
	}
	answer := SentID(t, desk.Post("/api/messages/send", Object{"jid": lid.String(), "text": "from the desk"}))
	Must(fay.ReceivedID(Within(t), answer))(t)

	var hook struct{ Path string }
	b.Post("/api/hooks", Object{"name": "notes", "chatJid": lid.String(), "template": "json"}).Want(http.StatusCreated).Decode(&hook)
	b.Secrets = append(b.Secrets, hook.Path[strings.Index(hook.Path, ".")+1:])
	b.WithToken("").Post(hook.Path, Object{"text": "from a hook"}).Want(http.StatusOK)
	Must(fay.ReceivedText(Within(t), "from a hook"))(t)

	b.Post("/api/webhooks", Object{"url": "https://example.com/hook", "chats": []string{lid.String()}}).Want(http.StatusCreated)
}
