package mainjob

import (
	"errors"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// survivesRestart stops the program, lets people write meanwhile, and finds
// everything unchanged, with the new messages added.
func survivesRestart(t *testing.T, c *Cast, conversations ...*Conversation) {
	t.Helper()
	b := c.Bridge
	before := readAll(b, conversations)
	b.Stop()
	b.Start()
	b.Becomes(bridge.StateOpen)
	for path, want := range before {
		if got := b.Snapshot(path); got != want {
			t.Errorf("%s after the restart:\n%s\nbefore:\n%s", path, got, want)
		}
	}
	if devices := c.Owner.LinkedDevices(); len(devices) != 1 || devices[0] != c.Device {
		t.Errorf("after the restart the phone lists %d devices", len(devices))
	}

	b.Stop()
	for _, chat := range conversations {
		id := Say(t, chat.By, chat.ToMe, "while you were away")
		wrote(chat, id, "conversation", "while you were away")
	}
	b.Start()
	b.Becomes(bridge.StateOpen)
	for _, chat := range conversations {
		b.Answers(chat.List(), History(chat.In, Reversed(chat.Shown)))
	}
}

// survivesCrash kills the program: nothing that it has shown is lost.
func survivesCrash(t *testing.T, c *Cast, conversations ...*Conversation) {
	t.Helper()
	b := c.Bridge
	before := readAll(b, conversations)
	b.Kill()
	b.Start()
	b.Becomes(bridge.StateOpen)
	for path, want := range before {
		if got := b.Snapshot(path); got != want {
			t.Errorf("%s after the crash:\n%s\nbefore:\n%s", path, got, want)
		}
	}
}

// readAll returns the answers of all lists.
func readAll(b *Process, conversations []*Conversation) map[string]string {
	paths := []string{"/api/chats", "/api/messages/search?q=e&limit=500"}
	for _, chat := range conversations {
		paths = append(paths, chat.List()+"?limit=1000")
	}
	all := map[string]string{}
	for _, path := range paths {
		all[path] = b.Snapshot(path)
	}
	return all
}

// logsOut removes the session and keeps the messages.
func logsOut(t *testing.T, c *Cast, conversations ...*Conversation) {
	t.Helper()
	b := c.Bridge
	before := readAll(b, conversations)
	Refused(t, b.Post("/api/auth/logout", nil), http.StatusBadRequest, bridge.CodeInvalid, "X-Confirm-Wipe: yes")
	Refused(t, b.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "no"), http.StatusBadRequest, bridge.CodeInvalid, "X-Confirm-Wipe: yes")
	b.Becomes(bridge.StateOpen)

	for _, unlinked := range []bool{true, false} { // it works twice
		var answer struct{ OK, Unlinked bool }
		b.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "yes").Want(http.StatusOK).Decode(&answer)
		if !answer.OK || answer.Unlinked != unlinked {
			t.Errorf("logout: %+v, want unlinked %v", answer, unlinked)
		}
		status := b.Becomes(bridge.StateNeedsPair)
		if status.HasSession || status.User != nil {
			t.Errorf("after the logout: %+v", status)
		}
	}
	if err := c.Device.WaitRemoved(Within(t)); err != nil {
		t.Fatal(err)
	}
	if devices := c.Owner.LinkedDevices(); len(devices) != 0 {
		t.Errorf("the phone still lists %d devices", len(devices))
	}
	for path, want := range before {
		if got := b.Snapshot(path); got != want {
			t.Errorf("%s after the logout:\n%s\nbefore:\n%s", path, got, want)
		}
	}
	b.Restart()
	b.Becomes(bridge.StateNeedsPair) // there is no session left to log in with
}

// refusesOthers checks that the store rejects other accounts.
func refusesOthers(t *testing.T, c *Cast) {
	t.Helper()
	b := c.Bridge
	Refused(t, b.Post("/api/auth/pair", Object{"phone": c.Ben.Number()}), http.StatusConflict, bridge.CodeOtherAccount, "another account", "DATA_DIR")
	var refusal *simnet.RefusedError
	if _, err := c.Ben.HoldTo(Within(t), b.QR); !errors.As(err, &refusal) {
		t.Errorf("another account scanned the QR code: %v", err)
	}
	var status bridge.Status
	Eventually(t, func() error {
		if status = b.Status(); status.LastError == nil {
			return errors.New("no lastError")
		}
		return nil
	})
	if status.Status != bridge.StateNeedsPair || status.HasSession {
		t.Errorf("another account: %+v", status)
	}
	Says(t, *status.LastError, "another account", "DATA_DIR")
	if devices := c.Ben.LinkedDevices(); len(devices) != 0 {
		t.Errorf("the other phone lists %d devices", len(devices))
	}
}

// pairsAgain pairs the same account again and continues where it was.
func pairsAgain(t *testing.T, c *Cast, chat *Conversation) {
	t.Helper()
	c.Device = Pair(t, c.Bridge, c.Owner)
	if status := c.Bridge.Status(); status.LastError != nil {
		t.Errorf("paired again: lastError %q", *status.LastError)
	}
	wrote(chat, Say(t, chat.By, chat.ToMe, "welcome back"), "conversation", "welcome back")
	c.Bridge.Answers(chat.List(), History(chat.In, Reversed(chat.Shown)))
	answersEach(t, c, chat)
}
