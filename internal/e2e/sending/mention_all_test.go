package sending

import (
	"net/http"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Everybody in a group is mentioned without a number in the text, in groups of either form
// of address; in other chats that is refused.
func TestSend_MentionsEverybody(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	group := Must(c.Owner.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{c.Anna, c.Ben}}))(t)
	jid := bridge.JID(group.JID().String())
	Eventually(t, func() error { _, err := c.Bridge.API.Chat(Within(t), jid); return err })

	sent := Must(c.Bridge.API.Send(Within(t), client.Text{To: jid, Text: "Lunch?", MentionAll: true}, ""))(t)
	got := Must(c.Ben.ReceivedID(Within(t), sent.ID))(t)
	mentioned := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetMentionedJID()
	forms := func(p *simnet.Phone) []string { return []string{p.PN().String(), p.LID().String()} }
	for _, member := range []*simnet.Phone{c.Anna, c.Ben} {
		if !slices.ContainsFunc(forms(member), func(form string) bool { return slices.Contains(mentioned, form) }) {
			t.Errorf("%s is not mentioned: %v", member.Name(), mentioned)
		}
	}
	if len(mentioned) != 2 || got.Text() != "Lunch?" {
		t.Errorf("the text %q mentions %v", got.Text(), mentioned)
	}
	c.Bridge.Post("/api/messages/send", Object{"jid": c.Ben.PN().String(), "text": "Lunch?", "mentionAll": true}).Want(http.StatusBadRequest)
	c.Bridge.Post("/api/messages/send", Object{"jid": string(jid), "text": "Lunch?", "mentionAll": "yes"}).Want(http.StatusBadRequest)
}
