package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestSend_Destinations addresses the same people and groups in every form that the
// API accepts.
func TestSend_Destinations(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	_, _, hike, club := c.conversations(t)
	for _, to := range []struct {
		name   string
		jid    string
		chat   simnet.JID // in the form of answers and lists
		reader *simnet.Phone
	}{
		{"a number never met", c.ben.PN().String(), c.ben.PN(), c.ben},
		{"a number met before", c.ben.PN().String(), c.ben.PN(), c.ben},
		{"a LID never met", c.carla.LID().String(), c.carla.PN(), c.carla},
		{"a LID met before", c.ben.LID().String(), c.ben.PN(), c.ben},
		{"a group by LID", hike.in.String(), hike.in, c.carla},
		{"an old group by number", club.in.String(), club.in, c.carla},
		{"oneself", c.owner.PN().String(), c.owner.PN(), c.owner},
		{"oneself by LID", c.owner.LID().String(), c.owner.PN(), c.owner},
	} {
		t.Run(to.name, func(t *testing.T) {
			text := "to " + to.name
			resp := c.bridge.Post("/api/messages/send", object{"jid": to.jid, "text": text}).Want(http.StatusOK)
			id := sentID(t, resp)
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
			r := &room{conversation: &conversation{TB: t, in: to.chat}, b: c.bridge}
			stored := r.stored(id)
			if stored.Content != text || !stored.FromMe || stored.SenderJID != bridge.JID(c.owner.PN().String()) || stored.PushName != "Olga" {
				t.Errorf("stored: %+v", stored)
			}
			if !stored.Timestamp.Equal(sent.Timestamp.Time) {
				t.Errorf("stored at %v, answered %v", stored.Timestamp, sent.Timestamp)
			}
		})
	}
	var listed struct{ Chats []bridge.Chat }
	c.bridge.Get("/api/chats?type=individual").Want(http.StatusOK).Decode(&listed)
	if len(listed.Chats) != 3 {
		t.Errorf("three people make %d chats: %+v", len(listed.Chats), listed.Chats)
	}
}

// TestSend_NumberUnknown: a person with only a known LID has a chat under that LID.
func TestSend_NumberUnknown(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	shy := newPhone(t, c.network, simnet.PhoneOptions{Number: "491510000009", Name: "Shy", LIDChats: true})
	shy.WithholdMapping(true)
	r := &room{conversation: &conversation{TB: t, me: c.owner, by: shy, in: shy.LID(), toMe: c.owner.LID()}, b: c.bridge}
	r.arrives(r.sends("send", object{"text": "who are you?"}), conversationText("who are you?"))
	heard := r.hears("guess")
	r.arrives(r.sends("send", object{"text": "no idea, @" + shy.LID().User, "quotedMsgId": heard, "mentions": []string{shy.LID().String()}}),
		extended("no idea, @"+shy.LID().User, &waE2E.ContextInfo{
			StanzaID: &heard, Participant: proto.String(shy.LID().String()), QuotedMessage: conversationText("guess"), MentionedJID: []string{shy.LID().String()},
		}))
	refused(t, c.bridge.Post("/api/messages/send", object{"jid": shy.PN().String(), "text": "hello?"}), http.StatusBadRequest, bridge.CodeNotOnNetwork)
}

// TestSend_UnknownRecipients: an unknown recipient is detected before anything is stored.
func TestSend_UnknownRecipients(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	strangers := newGroup(t, c.anna, simnet.GroupOptions{Subject: "Without us", Members: []*simnet.Phone{c.ben}})
	left := newGroup(t, c.owner, simnet.GroupOptions{Subject: "Left", Members: []*simnet.Phone{c.ben}})
	news := newGroup(t, c.anna, simnet.GroupOptions{Subject: "News", Members: []*simnet.Phone{c.owner}, Announce: true})
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
			if err := left.Remove(within(t), c.owner, c.ben); err != nil {
				t.Fatal(err)
			}
			if err := left.Leave(within(t), c.owner); err != nil {
				t.Fatal(err)
			}
			if err := c.device.WaitQuiet(within(t)); err != nil {
				t.Fatal(err)
			}
		}, refusal{http.StatusBadRequest, bridge.CodeNotInGroup, []string{"not in that group"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.before != nil {
				test.before()
			}
			sent := c.device.Counters().Sent
			for route, body := range sendsWithoutSource(simnet.JID{}) {
				body["jid"] = test.jid
				test.want.of(t, c.bridge.Post(route, body, "Idempotency-Key", fmt.Sprintf("nobody-%d-%s", i, route[len("/api/messages/"):])))
			}
			if got := c.device.Counters().Sent; got != sent {
				t.Errorf("%d messages left", got-sent)
			}
			jid := bridge.JID(test.jid)
			list := "/api/messages/individual/" + jid.Escaped()
			if jid.IsGroup() {
				list = "/api/groups/" + jid.Escaped() + "/messages"
			}
			if resp := c.bridge.Get(list); resp.Status == http.StatusOK {
				var page struct{ Count int }
				resp.Decode(&page)
				if page.Count != 0 {
					t.Errorf("stored: %s", resp.Body)
				}
			}
		})
	}
	t.Run("a group in which only admins write", func(t *testing.T) {
		refused(t, c.bridge.Post("/api/messages/send", object{"jid": news.JID().String(), "text": "may I?"}), http.StatusBadRequest, bridge.CodeNotInGroup, "admins")
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
	refused(t, resp, want.status, want.code, want.words...)
}
