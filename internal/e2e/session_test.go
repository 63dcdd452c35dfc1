package e2e

import (
	"errors"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// survivesRestart stops the program, lets people write meanwhile, and finds
// everything unchanged, with the new messages added.
func survivesRestart(t *testing.T, c *cast, conversations ...*conversation) {
	t.Helper()
	b := c.bridge
	before := readAll(b, conversations)
	b.stop()
	b.start()
	b.becomes(bridge.StateOpen)
	for path, want := range before {
		if got := b.snapshot(path); got != want {
			t.Errorf("%s after the restart:\n%s\nbefore:\n%s", path, got, want)
		}
	}
	if devices := c.owner.LinkedDevices(); len(devices) != 1 || devices[0] != c.device {
		t.Errorf("after the restart the phone lists %d devices", len(devices))
	}

	b.stop()
	for _, chat := range conversations {
		id := say(t, chat.by, chat.toMe, "while you were away")
		chat.wrote(id, "conversation", "while you were away")
	}
	b.start()
	b.becomes(bridge.StateOpen)
	for _, chat := range conversations {
		b.answers(chat.list(), history(chat.in, reversed(chat.shown)))
	}
}

// survivesCrash kills the program: nothing that it has shown is lost.
func survivesCrash(t *testing.T, c *cast, conversations ...*conversation) {
	t.Helper()
	b := c.bridge
	before := readAll(b, conversations)
	b.kill()
	b.start()
	b.becomes(bridge.StateOpen)
	for path, want := range before {
		if got := b.snapshot(path); got != want {
			t.Errorf("%s after the crash:\n%s\nbefore:\n%s", path, got, want)
		}
	}
}

// readAll returns the answers of all lists.
func readAll(b *process, conversations []*conversation) map[string]string {
	paths := []string{"/api/chats", "/api/messages/search?q=e&limit=500"}
	for _, chat := range conversations {
		paths = append(paths, chat.list()+"?limit=1000")
	}
	all := map[string]string{}
	for _, path := range paths {
		all[path] = b.snapshot(path)
	}
	return all
}

// logsOut removes the session and keeps the messages.
func logsOut(t *testing.T, c *cast, conversations ...*conversation) {
	t.Helper()
	b := c.bridge
	before := readAll(b, conversations)
	refused(t, b.Post("/api/auth/logout", nil), http.StatusBadRequest, bridge.CodeInvalid, "X-Confirm-Wipe: yes")
	refused(t, b.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "no"), http.StatusBadRequest, bridge.CodeInvalid, "X-Confirm-Wipe: yes")
	b.becomes(bridge.StateOpen)

	for _, unlinked := range []bool{true, false} { // it works twice
		var answer struct{ OK, Unlinked bool }
		b.Post("/api/auth/logout", nil, "X-Confirm-Wipe", "yes").Want(http.StatusOK).Decode(&answer)
		if !answer.OK || answer.Unlinked != unlinked {
			t.Errorf("logout: %+v, want unlinked %v", answer, unlinked)
		}
		status := b.becomes(bridge.StateNeedsPair)
		if status.HasSession || status.User != nil {
			t.Errorf("after the logout: %+v", status)
		}
	}
	if err := c.device.WaitRemoved(within(t)); err != nil {
		t.Fatal(err)
	}
	if devices := c.owner.LinkedDevices(); len(devices) != 0 {
		t.Errorf("the phone still lists %d devices", len(devices))
	}
	for path, want := range before {
		if got := b.snapshot(path); got != want {
			t.Errorf("%s after the logout:\n%s\nbefore:\n%s", path, got, want)
		}
	}
	b.restart()
	b.becomes(bridge.StateNeedsPair) // there is no session left to log in with
}

// refusesOthers checks that the store rejects other accounts.
func refusesOthers(t *testing.T, c *cast) {
	t.Helper()
	b := c.bridge
	refused(t, b.Post("/api/auth/pair", object{"phone": c.ben.Number()}), http.StatusConflict, bridge.CodeOtherAccount, "another account", "DATA_DIR")
	var refusal *simnet.RefusedError
	if _, err := c.ben.HoldTo(within(t), b.qr); !errors.As(err, &refusal) {
		t.Errorf("another account scanned the QR code: %v", err)
	}
	var status bridge.Status
	eventually(t, func() error {
		if status = b.status(); status.LastError == nil {
			return errors.New("no lastError")
		}
		return nil
	})
	if status.Status != bridge.StateNeedsPair || status.HasSession {
		t.Errorf("another account: %+v", status)
	}
	says(t, *status.LastError, "another account", "DATA_DIR")
	if devices := c.ben.LinkedDevices(); len(devices) != 0 {
		t.Errorf("the other phone lists %d devices", len(devices))
	}
}

// qr waits for a QR code and returns it.
func (p *process) qr() (code string) {
	p.t.Helper()
	eventually(p.t, func() error {
		status := p.status()
		if status.QR == nil {
			return errors.New("no QR code")
		}
		code = *status.QR
		return nil
	})
	return code
}

// pairsAgain pairs the same account again and continues where it was.
func pairsAgain(t *testing.T, c *cast, chat *conversation) {
	t.Helper()
	c.device = pair(t, c.bridge, c.owner)
	if status := c.bridge.status(); status.LastError != nil {
		t.Errorf("paired again: lastError %q", *status.LastError)
	}
	chat.wrote(say(t, chat.by, chat.toMe, "welcome back"), "conversation", "welcome back")
	c.bridge.answers(chat.list(), history(chat.in, reversed(chat.shown)))
	answersEach(t, c, chat)
}
