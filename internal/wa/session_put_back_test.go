package wa_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// sessionFiles holds the files of a session.
type sessionFiles map[string][]byte

// readSession returns the current files of a session.
func readSession(t *testing.T, dir string) sessionFiles {
	t.Helper()
	files := make(sessionFiles)
	for _, name := range []string{"session.db", "session.db-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

// restore puts the files back.
func (f sessionFiles) restore(t *testing.T, dir string) {
	t.Helper()
	for name, data := range f {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "session.db-shm")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// TestSessionPutBack_WhatWasDecryptedLastMayBeUndone: transactions of decryptions
// do not wait for the disk, so a power cut may put the session back to its state at
// the last send. This test puts its files back by hand. Everything acknowledged is
// stored, everything else comes again, and everyone's next messages can be
// decrypted, even those of new senders.
func TestSessionPutBack_WhatWasDecryptedLastMayBeUndone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network, dir := newNetwork(t), t.TempDir()
	a := newAccountIn(t, network, dir)
	friend, stranger := newPhone(t, network, "15550100301", "Sam"), newPhone(t, network, "15550100302", "Kim")
	group, err := friend.CreateGroup(ctx, simnet.GroupOptions{Subject: "Club", Members: []*simnet.Phone{a.phone}})
	if err != nil {
		t.Fatal(err)
	}
	club := bridge.JID(group.JID().String())
	want := make(map[bridge.JID][]string)
	say := func(phone *simnet.Phone, to types.JID, chat bridge.JID, text string) (id string) {
		t.Helper()
		id, err := phone.SendText(ctx, to, text)
		if err != nil {
			t.Fatal(err)
		}
		want[chat] = append(want[chat], text)
		return id
	}
	answer := func(chat bridge.JID, text string, to ...*simnet.Phone) {
		t.Helper()
		if _, err := a.send(chat, text); err != nil {
			t.Fatal(err)
		}
		want[chat] = append(want[chat], text)
		for _, phone := range to {
			if _, err := phone.ReceivedText(ctx, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	for round := range 2 { // both sides have begun the session with a friend
		say(friend, a.phone.PN(), jidOf(friend), fmt.Sprint("hello ", round))
		say(friend, group.JID(), club, fmt.Sprint("hello club ", round))
		if err := a.device().WaitQuiet(ctx); err != nil {
			t.Fatal(err)
		}
		answer(jidOf(friend), fmt.Sprint("hello you ", round), friend)
		answer(club, fmt.Sprint("hello all ", round), friend)
	}
	disk := readSession(t, dir)

	var ids []string
	for n := range 20 {
		ids = append(ids, say(friend, a.phone.PN(), jidOf(friend), fmt.Sprint("acknowledged ", n)),
			say(friend, group.JID(), club, fmt.Sprint("acknowledged in the club ", n)),
			say(stranger, a.phone.PN(), jidOf(stranger), fmt.Sprint("acknowledged, from a stranger ", n)))
	}
	if err := a.device().WaitAcknowledged(ctx, ids...); err != nil {
		t.Fatal(err)
	}
	a.fault.Set(errors.New("drill")) // what comes now is decrypted but not acknowledged
	say(friend, a.phone.PN(), jidOf(friend), "not acknowledged")
	say(stranger, a.phone.PN(), jidOf(stranger), "not acknowledged, from a stranger")
	eventually(t, "that the store fails", func() bool { return a.lastError() != "" })
	a.stop()
	disk.restore(t, dir)

	phone := a.phone
	a = startAccount(t, network, dir)
	a.phone = phone
	say(friend, a.phone.PN(), jidOf(friend), "behind the cut")
	say(friend, group.JID(), club, "behind the cut, in the club")
	say(stranger, a.phone.PN(), jidOf(stranger), "behind the cut, from a stranger")
	a.waitState(bridge.StateOpen)
	if err := a.device().WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	answer(jidOf(friend), "an answer behind the cut", friend)
	answer(club, "an answer behind the cut, in the club", friend)
	answer(jidOf(stranger), "the first answer to a stranger", stranger)
	for chat, texts := range want {
		var got []string
		for _, m := range a.messages(chat) {
			got = append(got, m.Content)
		}
		if !slices.Equal(got, texts) {
			t.Errorf("%s has %q, want %q", chat, got, texts)
		}
	}
	if n := a.device().Counters().RetryReceipts; n != 0 {
		t.Errorf("%d messages could not be decrypted at first", n)
	}
	if n := friend.Device().Counters().RetryReceipts + stranger.Device().Counters().RetryReceipts; n != 0 {
		t.Errorf("%d messages of the account could not be decrypted at first", n)
	}
}
