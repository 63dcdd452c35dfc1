package mainjob

import (
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

// TestMainJob does bridged's main job, from an empty directory to an account that
// is unlinked again.
func TestMainJob(t *testing.T) {
	t.Parallel()
	c := NewCast(t)
	needsPair(t, c)
	pairsByCode(t, c)

	annas, bens, hike, club := c.Conversations(t)
	for _, conversation := range []*Conversation{annas, bens, hike, club} {
		everyKind(conversation)
		c.Bridge.Answers(conversation.List()+"?order=asc", History(conversation.In, conversation.Shown, Object{"order": "asc"}))
	}
	readsEverything(t, c, annas, bens, hike, club)
	answersEach(t, c, annas, bens, hike, club)
	answersElsewhere(t, c, hike, bens)
	statusMovesOn(t, c, annas)
	statusMovesOn(t, c, bens)
	keepsSecret(c.Bridge, annas, bens, hike, club)

	survivesRestart(t, c, annas, bens, hike, club)
	survivesCrash(t, c, annas, bens, hike, club)
	logsOut(t, c, annas, bens, hike, club)
	refusesOthers(t, c)
	pairsAgain(t, c, hike)
}

// needsPair checks a fresh start: reading works, requests that need the socket
// fail.
func needsPair(t *testing.T, c *Cast) {
	t.Helper()
	b := c.Bridge
	status := b.Becomes(bridge.StateNeedsPair)
	if status.HasSession || status.User != nil || status.PairingCode != nil || status.LastError != nil {
		t.Errorf("a fresh start: %+v", status)
	}
	b.Answers("/healthz", Object{"ok": true, "ts": Recent})
	b.Answers("/api/chats", Chats())
	b.Answers("/api/messages/search?q=x", Matches("x"))
	nobody, nowhere := c.Anna.PN(), "120363000000000000@g.us"
	Refused(t, b.Get(Path("/api/messages/individual/%s", nobody)), http.StatusNotFound, bridge.CodeNotFound, nobody.String())
	Refused(t, b.Get("/api/groups/"+nowhere), http.StatusNotFound, bridge.CodeNotFound, nowhere)
	Refused(t, b.Get("/api/groups/"+nowhere+"/messages"), http.StatusNotFound, bridge.CodeNotFound, nowhere)
	Refused(t, b.Get("/readyz"), http.StatusServiceUnavailable, bridge.CodeNotConnected, "not paired", "/api/auth/pair")
	for route, body := range SendsWithoutSource(nobody) {
		Refused(t, b.Post(route, body), http.StatusServiceUnavailable, bridge.CodeNotConnected, "not paired", "/api/auth/pair")
	}
	// A message that is not stored is refused even without the socket.
	Refused(t, b.Post("/api/messages/react", Object{"chatJid": nobody.String(), "msgId": "M", "emoji": "👍"}), http.StatusNotFound, bridge.CodeNotFound, nobody.String())
	Refused(t, b.Post("/api/messages/forward", Object{"sourceChatJid": nobody.String(), "sourceMsgId": "M", "destJid": nobody.String()}), http.StatusNotFound, bridge.CodeNotFound)
	Refused(t, b.Post("/api/messages/send", Object{"jid": nobody.String(), "text": "hi", "quotedMsgId": "M"}), http.StatusNotFound, bridge.CodeNotFound)
	Refused(t, b.Post("/api/auth/reconnect", nil), http.StatusConflict, bridge.CodeNoSession)
}

// pairsByCode links the account and checks every field of the status on the way.
func pairsByCode(t *testing.T, c *Cast) {
	t.Helper()
	b := c.Bridge
	code := b.Code(c.Owner)
	waiting := b.Status()
	if waiting.PairingCode == nil || *waiting.PairingCode != code || waiting.PairingCodeExpiresAt == nil || waiting.QR == nil {
		t.Errorf("while the code %s waits: %+v", code, waiting)
	}
	c.Device = Must(c.Owner.EnterPairingCode(Within(t), code))(t)
	b.Answers("/api/auth/status", Object{
		"status": "open", "hasSession": true, "since": Recent, "pairingCode": nil, "pairingCodeExpiresAt": nil,
		"lastError": nil, "qr": nil, "passkey": nil, "newChats": nil, "securityNotice": nil,
		"catchingUp": nil, "pausedUntil": nil, "clientVersion": Object{"current": waiting.ClientVersion.Current, "expiresAt": nil}, "user": Object{
			"jid": c.Owner.PN().String(), "lid": c.Owner.LID().String(), "phone": c.Owner.Number(), "pushName": "Olga", "platform": "android",
		},
	})
	if err := c.Device.WaitSynced(Within(t)); err != nil {
		t.Fatal(err)
	}
	b.Get("/readyz").Want(http.StatusOK)
	Refused(t, b.Post("/api/auth/pair", Object{"phone": c.Owner.Number()}), http.StatusConflict, bridge.CodeAlreadyPaired, "log out")
	if listed := c.Owner.LinkedDevices(); len(listed) != 1 || listed[0].Platform() != "bridged" {
		t.Errorf("the phone lists %d devices", len(listed))
	}
}

// keepsSecret makes the program's stop search the log for all content, including
// deleted content.
func keepsSecret(p *Process, conversations ...*Conversation) {
	const shortest = 4 // "Ja?" occurs in many lines
	p.Secrets = append(p.Secrets, "teh text", "I regret this", "against the rules", "your words", "plan & costs.pdf", "Samstag, neun Uhr")
	for _, chat := range conversations {
		for _, m := range chat.Shown {
			if text := m["content"].(string); len(text) >= shortest {
				p.Secrets = append(p.Secrets, text)
			}
		}
	}
}
