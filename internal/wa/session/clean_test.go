package session

import (
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
)

// TestSecrets_AreDeletedByAge: after ninety days what was there on the first goes, and
// what came later stays as long.
func TestSecrets_AreDeletedByAge(t *testing.T) {
	t.Parallel()
	var marks secretMarks
	began := time.Unix(1_700_000_000, 0)
	deleted := int64(0)
	for hour := range 200 * 24 {
		now := began.Add(time.Duration(hour) * time.Hour)
		row := int64(hour + 1) // one secret an hour
		if old := marks.advance("device", row, now); old != 0 {
			deleted = old
		}
		if age := time.Duration(row-deleted) * time.Hour; age > secretLife+2*secretPause {
			t.Fatalf("after %d hours a secret of %v is kept", hour, age)
		}
		if kept := time.Duration(row-deleted) * time.Hour; deleted > 0 && kept < secretLife {
			t.Fatalf("after %d hours a secret younger than %v is deleted", hour, kept)
		}
	}
	if deleted == 0 || len(marks.Marks) > 92 {
		t.Errorf("deleted up to %d, %d marks", deleted, len(marks.Marks))
	}
}

// TestSecrets_OfAnotherSessionAreNotOld: a new session numbers its rows from one, and
// the marks of the former would make them look old.
func TestSecrets_OfAnotherSessionAreNotOld(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_700_000_000, 0)
	later := began.Add(secretLife)
	for name, c := range map[string]struct {
		device string
		newest int64
	}{
		"another device":     {"other", 5000},
		"a table begun anew": {"device", 10},
	} {
		marks := secretMarks{}
		marks.advance("device", 1000, began)
		if old := marks.advance(c.device, c.newest, later); old != 0 {
			t.Errorf("%s: rows up to %d are old", name, old)
		}
	}
	marks := secretMarks{}
	marks.advance("device", 1000, began)
	if old := marks.advance("device", 5000, later); old != 1000 {
		t.Errorf("of one session: rows up to %d are old, want 1000", old)
	}
}

// savedDevice returns the session of an account, as it is after pairing.
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

// TestQuirk_ContentThatAKillLeftIsCleared: once all that was not acknowledged
// has come again, and not what came since.
func TestQuirk_ContentThatAKillLeftIsCleared(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	db, container := newSessionDB(t)
	device := savedDevice(t, container)
	hash := [32]byte{1}
	if err := device.EventBuffer.PutBufferedEvent(ctx, hash, []byte("text"), time.Now()); err != nil {
		t.Fatal(err)
	}
	var status struct {
		open  bool
		since time.Time
	}
	cleaner := Cleaner{DB: db, OpenSince: func() (time.Time, bool) { return status.since, status.open }, Log: zerolog.Nop()}
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
		status.open, status.since = c.open, c.since
		if err := cleaner.clearLeftContent(ctx, c.since.Add(c.after)); err != nil {
			t.Fatal(err)
		}
		event, err := device.EventBuffer.GetBufferedEvent(ctx, hash)
		if err != nil || event == nil || string(event.Plaintext) != c.want {
			t.Errorf("open %v since %s: %+v, %v; want %q", c.open, c.after, event, err, c.want)
		}
	}
}

// TestQuirk_SecretsOfMessagesAreRowsInTheirOrder: they have no time, so their age is
// told by their numbers.
func TestQuirk_SecretsOfMessagesAreRowsInTheirOrder(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	db, container := newSessionDB(t)
	if device, row, err := db.NewestSecret(ctx); device != "" || row != 0 || err != nil {
		t.Errorf("of an empty table: %s, %d, %v", device, row, err)
	}
	device := savedDevice(t, container)
	chat := types.NewJID("15550100302", types.DefaultUserServer)
	put := func(id string) {
		t.Helper()
		if err := device.MsgSecrets.PutMessageSecret(ctx, chat, chat, id, []byte("secret of "+id)); err != nil {
			t.Fatal(err)
		}
	}
	put("A")
	put("B")
	whose, row, err := db.NewestSecret(ctx)
	if whose != device.ID.String() || err != nil {
		t.Errorf("the secrets are those of %s, %v", whose, err)
	}
	put("C")
	put("A") // again: its age is that of the first time
	if n, err := db.DeleteSecrets(ctx, row); n != 2 || err != nil {
		t.Errorf("deleted %d, %v", n, err)
	}
	for id, kept := range map[string]bool{"A": false, "B": false, "C": true} {
		secret, _, err := device.MsgSecrets.GetMessageSecret(ctx, chat, chat, id)
		if err != nil || (len(secret) > 0) != kept {
			t.Errorf("%s: %q, %v", id, secret, err)
		}
	}
	put("D")
	if _, newer, err := db.NewestSecret(ctx); newer <= row || err != nil {
		t.Errorf("row %d comes after row %d: %v", newer, row, err)
	}
}
