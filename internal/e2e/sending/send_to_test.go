package sending

import (
	"fmt"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestSend_Destinations addresses the same people and groups in every form that the
// API accepts.
func TestSend_Destinations(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	_, _, hike, club := c.Conversations(t)
	for _, to := range []struct {
		name   string
		jid    string
		chat   simnet.JID // in the form of answers and lists
		reader *simnet.Phone
	}{
		{"a number never met", c.Ben.PN().String(), c.Ben.PN(), c.Ben},
		{"a number met before", c.Ben.PN().String(), c.Ben.PN(), c.Ben},
		{"a LID never met", c.Carla.LID().String(), c.Carla.PN(), c.Carla},
		{"a LID met before", c.Ben.LID().String(), c.Ben.PN(), c.Ben},
		{"a group by LID", hike.In.String(), hike.In, c.Carla},
		{"an old group by number", club.In.String(), club.In, c.Carla},
		{"oneself", c.Owner.PN().String(), c.Owner.PN(), c.Owner},
		{"oneself by LID", c.Owner.LID().String(), c.Owner.PN(), c.Owner},
	} {
		t.Run(to.name, func(t *testing.T) {
			text := "to " + to.name
			resp := c.Bridge.Post("/api/messages/send", Object{"jid": to.jid, "text": text}).Want(http.StatusOK)
			id := SentID(t, resp)
			var sent struct {
				ChatJID   string
				Timestamp bridge.Time
			}
			resp.Decode(&sent)
			if sent.ChatJID != to.chat.String() {
				t.Errorf("sent into %s, want %s", sent.ChatJID, to.chat)
			}
			if got := decrypted(t, to.reader, id); got.GetConversation() != text {
				t.Errorf("%s got %v", to.reader.Name(), got)
			}
			r := &room{Conversation: &Conversation{TB: t, In: to.chat}, b: c.Bridge}
			stored := r.stored(id)
			if stored.Content != text || !stored.FromMe || stored.SenderJID != bridge.JID(c.Owner.PN().String()) || stored.PushName != "Olga" {
				t.Errorf("stored: %+v", stored)
			}
			if !stored.Timestamp.Equal(sent.Timestamp.Time) {
				t.Errorf("stored at %v, answered %v", stored.Timestamp, sent.Timestamp)
			}
		})
	}
	var listed struct{ Chats []bridge.Chat }
	c.Bridge.Get("/api/chats?type=individual").Want(http.StatusOK).Decode(&listed)
	if len(listed.Chats) != 3 {
		t.Errorf("three people make %d chats: %+v", len(listed.Chats), listed.Chats)
	}
}

// TestSend_NumberUnknown: a person with only a known LID has a chat under that LID.
func TestSend_NumberUnknown(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	shy := NewPhone(t, c.Network, simnet.PhoneOptions{Number: "491510000009", Name: "Shy", LIDChats: true})
	shy.WithholdMapping(true)
	r := &room{Conversation: &Conversation{TB: t, Me: c.Owner, By: shy, In: shy.LID(), ToMe: c.Owner.LID()}, b: c.Bridge}
	r.arrives(r.sends("send", Object{"text": "who are you?"}), conversationText("who are you?"))
	heard := r.hears("guess")
	r.arrives(r.sends("send", Object{"text": "no idea, @" + shy.LID().User, "quotedMsgId": heard, "mentions": []string{shy.LID().String()}}),
		extended("no idea, @"+shy.LID().User, &waE2E.ContextInfo{
			StanzaID: &heard, Participant: proto.String(shy.LID().String()), QuotedMessage: conversationText("guess"), MentionedJID: []string{shy.LID().String()},
		}))
	Refused(t, c.Bridge.Post("/api/messages/send", Object{"jid": shy.PN().String(), "text": "hello?"}), http.StatusBadRequest, bridge.CodeNotOnNetwork)
}

// TestSend_UnknownRecipients: an unknown recipient is detected before anything is stored.
func TestSend_UnknownRecipients(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	strangers := NewGroup(t, c.Anna, simnet.GroupOptions{Subject: "Without us", Members: []*simnet.Phone{c.Ben}})
	left := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Left", Members: []*simnet.Phone{c.Ben}})
	news := NewGroup(t, c.Anna, simnet.GroupOptions{Subject: "News", Members: []*simnet.Phone{c.Owner}, Announce: true})
	for i, test := range []struct {
		name, jid string
		before    func()
		want      refusal
	}{
		{"a number that has no account", "491510009999@s.whatsapp.net", nil, refusal{http.StatusBadRequest, bridge.CodeNotOnNetwork, []string{"not on WhatsApp"}}},
		{"a LID that nobody has", "999999999999999@lid", nil, refusal{http.StatusBadRequest, bridge.CodeNotOnNetwork, []string{"not on WhatsApp"}}},
		{"a group that one is not in", strangers.JID().String(), nil, refusal{http.StatusBadRequest, bridge.CodeNotInGroup, []string{"not in that group"}}},
		{"a group that does not exist", "120363999999999999@g.us", nil, refusal{http.StatusBadRequest, bridge.CodeNotInGroup, []string{"not in that group"}}},
		{"a group that one has left", left.JID().String(), func() {
			if err := left.Remove(Within(t), c.Owner, c.Ben); err != nil {
				t.Fatal(err)
			}
			if err := left.Leave(Within(t), c.Owner); err != nil {
				t.Fatal(err)
			}
			if err := c.Device.WaitQuiet(Within(t)); err != nil {
				t.Fatal(err)
			}
		}, refusal{http.StatusBadRequest, bridge.CodeNotInGroup, []string{"not in that group"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.before != nil {
				test.before()
			}
			sent := c.Device.Counters().Sent
			for route, body := range SendsWithoutSource(simnet.JID{}) {
				body["jid"] = test.jid
				test.want.of(t, c.Bridge.Post(route, body, "Idempotency-Key", fmt.Sprintf("nobody-%d-%s", i, route[len("/api/messages/"):])))
			}
			if got := c.Device.Counters().Sent; got != sent {
				t.Errorf("%d messages left", got-sent)
			}
			jid := bridge.JID(test.jid)
			list := "/api/messages/individual/" + jid.Escaped()
			if jid.IsGroup() {
				list = "/api/groups/" + jid.Escaped() + "/messages"
			}
			if resp := c.Bridge.Get(list); resp.Status == http.StatusOK {
				var page struct{ Count int }
				resp.Decode(&page)
				if page.Count != 0 {
					t.Errorf("stored: %s", resp.Body)
				}
			}
		})
	}
	t.Run("a group in which only admins write", func(t *testing.T) {
		Refused(t, c.Bridge.Post("/api/messages/send", Object{"jid": news.JID().String(), "text": "may I?"}), http.StatusBadRequest, bridge.CodeNotInGroup, "admins")
	})
}

// refusal is an error of the API.
type refusal struct {
	status int
	code   bridge.Code
	words  []string
}

func (want refusal) of(t testing.TB, resp apitest.Response) {
	t.Helper()
	Refused(t, resp, want.status, want.code, want.words...)
}
