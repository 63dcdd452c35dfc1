package session

import (
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
)

// savedDevice returns an account's session in its state after pairing.
func savedDevice(t *testing.T, container *sqlstore.Container) *store.Device {
	t.Helper()
	device := container.NewDevice()
	device.ID = &types.JID{User: "15550100301", Device: 3, Server: types.DefaultUserServer}
	device.Account = &waAdv.ADVSignedDeviceIdentity{Details: []byte{}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64)}
	if err := device.Save(plainContext(t)); err != nil {
		t.Fatal(err)
	}
	return device
}

// TestQuirk_ContentThatAKillLeftIsCleared once everything unacknowledged has come
// again, but not content that came since.
func TestQuirk_ContentThatAKillLeftIsCleared(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	db, container := newSessionDB(t)
	device := savedDevice(t, container)
	hash := [32]byte{1}
	if err := device.EventBuffer.PutBufferedEvent(ctx, hash, []byte("text"), time.Now()); err != nil {
		t.Fatal(err)
	}
	opened := time.Now().Add(time.Second)
	for _, c := range []struct {
		open  bool
		since time.Time
		after time.Duration
		want  string
	}{
		{true, opened, settledAfter / 2, "text"},
		{false, opened, 2 * settledAfter, "text"},
		{true, opened.Add(-time.Hour), 2 * settledAfter, "text"}, // it came on this connection
		{true, opened, settledAfter, ""},
	} {
		if _, err := db.clearLeftContent(ctx, c.since, c.open, c.since.Add(c.after)); err != nil {
			t.Fatal(err)
		}
		event, err := device.EventBuffer.GetBufferedEvent(ctx, hash)
		if err != nil || event == nil || string(event.Plaintext) != c.want {
			t.Errorf("open %v since %s: %+v, %v; want %q", c.open, c.after, event, err, c.want)
		}
	}
}

// TestQuirk_SecretsOfMessagesAreRowsInTheirOrder: the oldest secrets have the
// lowest numbers.
func TestQuirk_SecretsOfMessagesAreRowsInTheirOrder(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	db, container := newSessionDB(t)
	if n, err := db.DeleteSecrets(ctx, 0); n != 0 || err != nil {
		t.Errorf("of an empty table: %d, %v", n, err)
	}
	device := savedDevice(t, container)
	chat := types.NewJID("15550100302", types.DefaultUserServer)
	for _, id := range []string{"A", "B", "C", "D", "A"} { // A again: it stays in its place
		if err := device.MsgSecrets.PutMessageSecret(ctx, chat, chat, id, []byte("secret of "+id)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := db.DeleteSecrets(ctx, 2); n != 2 || err != nil {
		t.Errorf("deleted %d, %v; want 2", n, err)
	}
	for id, kept := range map[string]bool{"A": false, "B": false, "C": true, "D": true} {
		secret, _, err := device.MsgSecrets.GetMessageSecret(ctx, chat, chat, id)
		if err != nil || (len(secret) > 0) != kept {
			t.Errorf("%s: %q, %v", id, secret, err)
		}
	}
}
