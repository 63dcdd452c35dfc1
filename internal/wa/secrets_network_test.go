package wa_test

import (
	"fmt"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
)

// TestSecrets_OldOnesGoAtTheStart: what was noted as old is deleted without anybody's
// doing, and today is noted for the deletion to come.
func TestSecrets_OldOnesGoAtTheStart(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network, dir := newNetwork(t), t.TempDir()
	a := newAccountIn(t, network, dir)
	friend := newPhone(t, network, "15550100301", "Sam")
	if _, err := a.send(jidOf(friend), "with a secret"); err != nil {
		t.Fatal(err)
	}
	device, row, err := a.manager.NewestSecret(ctx)
	if row == 0 || err != nil {
		t.Fatalf("no secret: %v", err)
	}
	a.stop()
	b := startAccount(t, network, dir, func(s *store.Store) {
		marks := fmt.Sprintf(`{"device":%q,"marks":[{"at":%d,"row":%d}]}`, device, time.Now().Add(-91*24*time.Hour).Unix(), row)
		if err := s.SetSetting(ctx, "secret_marks", marks); err != nil {
			t.Fatal(err)
		}
	})
	eventually(t, "the secrets are deleted", func() bool {
		left, _, err := b.manager.NewestSecret(ctx)
		return left == "" && err == nil
	})
}

// TestSecrets_OfAStoredMessageAreNotMissed: a vote on a poll whose secret session.db has
// no more is opened with the one in the stored poll.
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
