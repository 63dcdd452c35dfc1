package wa_test

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestSecrets_OfAStoredMessageAreNotMissed: a vote in a poll whose secret is no
// longer in session.db is decrypted with the one in the stored poll.
func TestSecrets_OfAStoredMessageAreNotMissed(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Club", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := friend.SendPoll(ctx, group.JID(), "Lunch?", []string{"yes", "no"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	chat := bridge.JID(group.JID().String())
	eventually(t, "the poll", func() bool { return len(a.messages(chat)) == 1 })
	if n, err := a.manager.DeleteSecrets(ctx); n == 0 || err != nil {
		t.Fatalf("deleted %d secrets: %v", n, err)
	}
	poll, err := a.phone.ReceivedID(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.phone.Vote(ctx, poll, []string{"no"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the vote", func() bool {
		m := a.message(chat, id)
		return m.Poll != nil && m.Poll.Options[1].Votes == 1
	})
}
