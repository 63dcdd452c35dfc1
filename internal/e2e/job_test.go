package e2e

import (
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestMainJob does bridged's main job, from an empty directory to an account that
// is unlinked again.
func TestMainJob(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	needsPair(t, c)
	pairsByCode(t, c)

	annas, bens, hike, club := c.conversations(t)
	for _, conversation := range []*conversation{annas, bens, hike, club} {
		conversation.everyKind()
		c.bridge.answers(conversation.list()+"?order=asc", history(conversation.in, conversation.shown, object{"order": "asc"}))
	}
	readsEverything(t, c, annas, bens, hike, club)
	answersEach(t, c, annas, bens, hike, club)
	answersElsewhere(t, c, hike, bens)
	statusMovesOn(t, c, annas)
	statusMovesOn(t, c, bens)
	c.bridge.keepsSecret(annas, bens, hike, club)

	survivesRestart(t, c, annas, bens, hike, club)
	survivesCrash(t, c, annas, bens, hike, club)
	logsOut(t, c, annas, bens, hike, club)
	refusesOthers(t, c)
	pairsAgain(t, c, hike)
}

// needsPair checks a fresh start: reading works, requests that need the socket
// fail.
func needsPair(t *testing.T, c *cast) {
	t.Helper()
	b := c.bridge
	status := b.becomes(bridge.StateNeedsPair)
	if status.HasSession || status.User != nil || status.PairingCode != nil || status.LastError != nil {
		t.Errorf("a fresh start: %+v", status)
	}
	b.answers("/healthz", object{"ok": true, "ts": recent})
	b.answers("/api/chats", chats())
	b.answers("/api/messages/search?q=x", matches("x"))
	nobody, nowhere := c.anna.PN(), "120363000000000000@g.us"
	refused(t, b.Get(path("/api/messages/individual/%s", nobody)), http.StatusNotFound, bridge.CodeNotFound, nobody.String())
	refused(t, b.Get("/api/groups/"+nowhere), http.StatusNotFound, bridge.CodeNotFound, nowhere)
	refused(t, b.Get("/api/groups/"+nowhere+"/messages"), http.StatusNotFound, bridge.CodeNotFound, nowhere)
	refused(t, b.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeNotConnected, "not paired", "/api/auth/pair")
	for route, body := range sendsWithoutSource(nobody) {
		refused(t, b.Post(route, body), http.StatusServiceUnavailable, bridge.CodeNotConnected, "not paired", "/api/auth/pair")
	}
	// A message that is not stored is refused even without the socket.
	refused(t, b.Post("/api/messages/react", object{"chatJid": nobody.String(), "msgId": "M", "emoji": "👍"}), http.StatusNotFound, bridge.CodeNotFound, nobody.String())
	refused(t, b.Post("/api/messages/forward", object{"sourceChatJid": nobody.String(), "sourceMsgId": "M", "destJid": nobody.String()}), http.StatusNotFound, bridge.CodeNotFound)
	refused(t, b.Post("/api/messages/send", object{"jid": nobody.String(), "text": "hi", "quotedMsgId": "M"}), http.StatusNotFound, bridge.CodeNotFound)
	refused(t, b.Post("/api/auth/reconnect", nil), http.StatusConflict, bridge.CodeNoSession)
}

// sendsWithoutSource returns requests to send that need only the socket.
func sendsWithoutSource(to simnet.JID) map[string]object {
	jid := to.String()
	return map[string]object{
		"/api/messages/send":          {"jid": jid, "text": "hi"},
		"/api/messages/send-location": {"jid": jid, "latitude": 1, "longitude": 2},
		"/api/messages/send-poll":     {"jid": jid, "name": "?", "values": []string{"a", "b"}},
		"/api/messages/send-contact":  {"jid": jid, "contacts": []object{{"displayName": "A", "phone": "491510000099"}}},
	}
}

// pairsByCode links the account and checks every field of the status on the way.
func pairsByCode(t *testing.T, c *cast) {
	t.Helper()
	b := c.bridge
	code := b.code(c.owner)
	waiting := b.status()
	if waiting.PairingCode == nil || *waiting.PairingCode != code || waiting.PairingCodeExpiresAt == nil || waiting.QR == nil {
		t.Errorf("while the code %s waits: %+v", code, waiting)
	}
	c.device = must(c.owner.EnterPairingCode(within(t), code))(t)
	b.answers("/api/auth/status", object{
		"status": "open", "hasSession": true, "since": recent, "pairingCode": nil, "pairingCodeExpiresAt": nil,
		"lastError": nil, "qr": nil, "passkey": nil, "newChats": nil, "securityNotice": nil,
		"catchingUp": nil, "pausedUntil": nil, "clientVersion": object{"current": waiting.ClientVersion.Current, "expiresAt": nil}, "user": object{
			"jid": c.owner.PN().String(), "lid": c.owner.LID().String(), "phone": c.owner.Number(), "pushName": "Olga", "platform": "android",
		},
	})
	if err := c.device.WaitSynced(within(t)); err != nil {
		t.Fatal(err)
	}
	b.Get("/readyz").Want(http.StatusOK)
	refused(t, b.Post("/api/auth/pair", object{"phone": c.owner.Number()}), http.StatusConflict, bridge.CodeAlreadyPaired, "log out")
	if listed := c.owner.LinkedDevices(); len(listed) != 1 || listed[0].Platform() != "bridged" {
		t.Errorf("the phone lists %d devices", len(listed))
	}
}

// conversations returns two direct chats, one for each identity, and two groups,
// which address members by LID or by number.
func (c *cast) conversations(t *testing.T) (annas, bens, hike, club *conversation) {
	t.Helper()
	newest := newGroup(t, c.owner, simnet.GroupOptions{Subject: "Wanderung 🥾", Topic: "Samstag, neun Uhr", Members: []*simnet.Phone{c.anna, c.carla}})
	oldest := newGroup(t, c.owner, simnet.GroupOptions{
		ID: "491510000003-1600000000", Subject: "Old club", Members: []*simnet.Phone{c.ben, c.carla}, ByNumber: true, Locked: true,
	})
	annas = &conversation{TB: t, me: c.owner, by: c.anna, in: c.anna.PN(), toMe: c.owner.PN(), toThem: c.anna.LID(), bySelf: c.anna.LID(), meHere: c.owner.LID()}
	bens = &conversation{TB: t, me: c.owner, by: c.ben, in: c.ben.PN(), toMe: c.owner.PN(), toThem: c.ben.PN(), bySelf: c.ben.PN(), meHere: c.owner.PN()}
	hike = &conversation{TB: t, me: c.owner, by: c.anna, witness: c.carla, in: newest.JID(), toMe: newest.JID(), toThem: newest.JID(), bySelf: c.anna.LID(), meHere: c.owner.LID()}
	club = &conversation{TB: t, me: c.owner, by: c.ben, witness: c.carla, in: oldest.JID(), toMe: oldest.JID(), toThem: oldest.JID(), bySelf: c.ben.PN(), meHere: c.owner.PN()}
	return annas, bens, hike, club
}

// keepsSecret makes the program's stop search the log for all content, including
// deleted content.
func (p *process) keepsSecret(conversations ...*conversation) {
	const shortest = 4 // "Ja?" occurs in many lines
	p.secrets = append(p.secrets, "teh text", "I regret this", "against the rules", "your words", "plan & costs.pdf", "Samstag, neun Uhr")
	for _, chat := range conversations {
		for _, m := range chat.shown {
			if text := m["content"].(string); len(text) >= shortest {
				p.secrets = append(p.secrets, text)
			}
		}
	}
}

// list returns the path of the conversation's history.
func (c *conversation) list() string {
	if c.in.Server == bridge.ServerGroup {
		return path("/api/groups/%s/messages", c.in)
	}
	return path("/api/messages/individual/%s", c.in)
}
