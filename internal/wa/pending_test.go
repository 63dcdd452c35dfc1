package wa_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestPending_OverTheNetwork: changes overtake their messages.
func TestPending_OverTheNetwork(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	friend, other := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Robin")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Club", Members: []*simnet.Phone{other, a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	must := func(_ string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	late := []string{"EDITED", "DELETED", "BYADMIN", "NOTDELETED", "POLL"}
	a.device().HoldBack(late...)
	must(other.SendText(ctx, group.JID(), "first", simnet.WithID("EDITED")))
	must(other.SendText(ctx, group.JID(), "text-that-was-taken-back", simnet.WithID("DELETED")))
	must(other.SendText(ctx, group.JID(), "text-that-an-admin-deleted", simnet.WithID("BYADMIN")))
	must(friend.SendText(ctx, group.JID(), "stays", simnet.WithID("NOTDELETED")))
	must(other.SendPoll(ctx, group.JID(), "Lunch?", []string{"yes", "no"}, 1, simnet.WithID("POLL")))
	poll, err := friend.ReceivedID(ctx, "POLL")
	if err != nil {
		t.Fatal(err)
	}
	must(friend.Vote(ctx, poll, []string{"no"}))
	must(friend.ReactTo(ctx, group.JID(), other.LID(), "EDITED", "👍"))
	must(other.Edit(ctx, group.JID(), "EDITED", "second"))
	must(other.Revoke(ctx, group.JID(), "DELETED"))
	must(friend.RevokeAsAdmin(ctx, group.JID(), other.LID(), "BYADMIN"))
	must(other.RevokeAsAdmin(ctx, group.JID(), friend.LID(), "NOTDELETED"))
	must(friend.SendText(ctx, group.JID(), "behind them all", simnet.WithID("LAST")))
	chat := bridge.JID(group.JID().String())
	eventually(t, "what overtook the messages", func() bool { return len(a.messages(chat)) == 1 })
	a.device().Release()
	eventually(t, "the messages", func() bool { return len(a.messages(chat)) == 1+len(late) })

	if m := a.message(chat, "EDITED"); m.Content != "second" || len(m.Reactions) != 1 || m.Reactions[0].SenderJID != jidOf(friend) {
		t.Errorf("edited: %+v", m)
	}
	if m := a.message(chat, "POLL"); m.Poll == nil || m.Poll.Options[1].Votes != 1 {
		t.Errorf("poll: %+v", m.Poll)
	}
	for id, deleted := range map[string]bool{"DELETED": true, "BYADMIN": true, "NOTDELETED": false} {
		if m := a.message(chat, id); (m.DeletedAt != nil) != deleted || (m.Content == "") != deleted {
			t.Errorf("%s: %+v", id, m)
		}
	}
	for _, word := range []string{"text-that-was-taken-back", "text-that-an-admin-deleted"} {
		eventually(t, word+" is gone from the disk", func() bool { return !isInFiles(t, dir, word) })
	}
}

// isInFiles reports whether any file of a directory contains a word.
func isInFiles(t *testing.T, dir, word string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(word)) {
			return true
		}
	}
	return false
}

func (a *account) message(chat bridge.JID, id string) bridge.Message {
	a.t.Helper()
	m, err := a.store.Message(testContext(a.t), chat, id)
	if err != nil {
		a.t.Fatal(err)
	}
	return m
}
