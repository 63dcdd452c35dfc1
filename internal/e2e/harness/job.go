package harness

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

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
