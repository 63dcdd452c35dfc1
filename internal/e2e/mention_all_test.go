package e2e

import (
	"net/http"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// Everybody in a group is mentioned without a number in the text, in groups of either form
// of address; in other chats that is refused.
func TestSend_MentionsEverybody(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	group := must(c.owner.CreateGroup(within(t), simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{c.anna, c.ben}}))(t)
	jid := bridge.JID(group.JID().String())
	eventually(t, func() error { _, err := c.bridge.api.Chat(within(t), jid); return err })

	sent := must(c.bridge.api.Send(within(t), client.Text{To: jid, Text: "Lunch?", MentionAll: true}, ""))(t)
	got := must(c.ben.ReceivedID(within(t), sent.ID))(t)
	mentioned := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetMentionedJID()
	forms := func(p *simnet.Phone) []string { return []string{p.PN().String(), p.LID().String()} }
	for _, member := range []*simnet.Phone{c.anna, c.ben} {
		if !slices.ContainsFunc(forms(member), func(form string) bool { return slices.Contains(mentioned, form) }) {
			t.Errorf("%s is not mentioned: %v", member.Name(), mentioned)
		}
	}
	if len(mentioned) != 2 || got.Text() != "Lunch?" {
		t.Errorf("the text %q mentions %v", got.Text(), mentioned)
	}
	c.bridge.Post("/api/messages/send", object{"jid": c.ben.PN().String(), "text": "Lunch?", "mentionAll": true}).Want(http.StatusBadRequest)
	c.bridge.Post("/api/messages/send", object{"jid": string(jid), "text": "Lunch?", "mentionAll": "yes"}).Want(http.StatusBadRequest)
}
