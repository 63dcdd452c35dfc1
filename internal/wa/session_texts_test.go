package wa_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// TestSession_KeepsNoTextOfStoredMessages: whatsmeow's buffered copy of a message
// is removed from session.db once the message is stored.
func TestSession_KeepsNoTextOfStoredMessages(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	friend := newPhone(t, network, "15550100002", "Kim")
	for n := range 5 {
		if _, err := friend.SendText(testContext(t), a.phone.PN(), fmt.Sprint("message ", n)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the messages", func() bool { return len(a.messages(jidOf(friend))) == 5 })
	a.stop()
	db, err := sql.Open("sqlite", filepath.Join(dir, "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var all, withText int
	if err := db.QueryRow("SELECT count(*), count(plaintext) FROM whatsmeow_event_buffer").Scan(&all, &withText); err != nil {
		t.Fatal(err)
	}
	if all < 5 || withText != 0 {
		t.Errorf("%d of %d decrypted stanzas keep their text, want none of at least 5", withText, all)
	}
}
