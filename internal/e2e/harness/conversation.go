package harness

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// Conversation is a chat with every kind of message that a person can write, and the API's expected answers.
type Conversation struct {
	testing.TB
	Me, By  *simnet.Phone // the account's own phone, and the person's
	Witness *simnet.Phone // another member of a group; nil in a direct chat
	In      simnet.JID    // the chat, from the account's side
	ToMe    simnet.JID    // the chat, from by's side
	ToThem  simnet.JID    // the chat, from the side of the account's phone
	BySelf  simnet.JID    // by's identity in this chat
	MeHere  simnet.JID    // the account's identity in this chat
	Shown   []Object
}

// ChatTimer is the disappearing timer of the direct chats, in seconds.
const ChatTimer = 86400

// Download returns the path of a message's file.
func (c *Conversation) Download(id simnet.MessageID) string {
	return bridge.DownloadPath(bridge.JID(c.In.String()), id)
}

// SendsWithoutSource returns requests to send that need only the socket.
func SendsWithoutSource(to simnet.JID) map[string]Object {
	jid := to.String()
	return map[string]Object{
		"/api/messages/send":          {"jid": jid, "text": "hi"},
		"/api/messages/send-location": {"jid": jid, "latitude": 1, "longitude": 2},
		"/api/messages/send-poll":     {"jid": jid, "name": "?", "values": []string{"a", "b"}},
		"/api/messages/send-contact":  {"jid": jid, "contacts": []Object{{"displayName": "A", "phone": "491510000099"}}},
	}
}

// Conversations returns two direct chats, one for each identity, and two groups,
// which address members by LID or by number.
func (c *Cast) Conversations(t *testing.T) (annas, bens, hike, club *Conversation) {
	t.Helper()
	newest := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Wanderung 🥾", Topic: "Samstag, neun Uhr", Members: []*simnet.Phone{c.Anna, c.Carla}})
	oldest := NewGroup(t, c.Owner, simnet.GroupOptions{
		ID: "491510000003-1600000000", Subject: "Old club", Members: []*simnet.Phone{c.Ben, c.Carla}, ByNumber: true, Locked: true,
	})
	annas = &Conversation{TB: t, Me: c.Owner, By: c.Anna, In: c.Anna.PN(), ToMe: c.Owner.PN(), ToThem: c.Anna.LID(), BySelf: c.Anna.LID(), MeHere: c.Owner.LID()}
	bens = &Conversation{TB: t, Me: c.Owner, By: c.Ben, In: c.Ben.PN(), ToMe: c.Owner.PN(), ToThem: c.Ben.PN(), BySelf: c.Ben.PN(), MeHere: c.Owner.PN()}
	hike = &Conversation{TB: t, Me: c.Owner, By: c.Anna, Witness: c.Carla, In: newest.JID(), ToMe: newest.JID(), ToThem: newest.JID(), BySelf: c.Anna.LID(), MeHere: c.Owner.LID()}
	club = &Conversation{TB: t, Me: c.Owner, By: c.Ben, Witness: c.Carla, In: oldest.JID(), ToMe: oldest.JID(), ToThem: oldest.JID(), BySelf: c.Ben.PN(), MeHere: c.Owner.PN()}
	return annas, bens, hike, club
}

// List returns the path of the conversation's history.
func (c *Conversation) List() string {
	if c.In.Server == bridge.ServerGroup {
		return Path("/api/groups/%s/messages", c.In)
	}
	return Path("/api/messages/individual/%s", c.In)
}

// Message looks a message up in the list at a path, among the newest 20 and then among the newest 1,000.
func (p *Process) Message(list string, id simnet.MessageID) (bridge.Message, bool) {
	p.T.Helper()
	for _, limit := range []int{20, 1000} {
		var page struct{ Messages []bridge.Message }
		resp := p.Get(fmt.Sprintf("%s?limit=%d", list, limit))
		if resp.Status == http.StatusNotFound {
			break
		}
		resp.Want(http.StatusOK).Decode(&page)
		if i := slices.IndexFunc(page.Messages, func(m bridge.Message) bool { return m.ID == id }); i >= 0 {
			return page.Messages[i], true
		}
		if len(page.Messages) < limit {
			break
		}
	}
	return bridge.Message{}, false
}

// Sends sends a text through the API and returns the message's id.
func (p *Process) Sends(t testing.TB, body Object) simnet.MessageID {
	t.Helper()
	return SentID(t, p.Post("/api/messages/send", body))
}

func SentID(t testing.TB, resp apitest.Response) simnet.MessageID {
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

func StatusOf(m bridge.Message) bridge.Delivery {
	if m.Status == nil {
		return "no status"
	}
	return *m.Status
}

// WantSentBy fails unless the bridge says of an own message with a text that a caller has sent it, such as "with the token n8n".
func (p *Process) WantSentBy(t testing.TB, chat *simnet.Phone, text, by string) {
	t.Helper()
	jid := bridge.JID(chat.PN().String())
	page := Must(p.API.Messages(Within(t), bridge.MessageQuery{Chat: jid, Q: text, MessageFilter: bridge.MessageFilter{FromMe: new(true)}}))(t)
	if len(page.Items) == 0 {
		t.Fatalf("%q was not sent", text)
	}
	if m := Must(p.API.Message(Within(t), jid, page.Items[0].ID))(t); m.By == nil || m.By.String() != by {
		t.Errorf("%q was sent %v, want %s", text, m.By, by)
	}
}
