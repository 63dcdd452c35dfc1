package chatimport

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
)

// atTen is the minute of the messages of these tests.
var atTen = time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)

// received returns a message of Anna's chat that came over the connection.
func received(id, kind, text string) bridge.Message {
	return bridge.Message{Chat: anna, ID: id, SenderJID: anna, MessageType: kind, Content: text, Timestamp: bridge.At(atTen.Add(time.Second)), Raw: []byte{1}}
}

// photos returns the export of an album, of which some are in it.
func photos(t *testing.T, which ...int) []byte {
	chat := make([]exporttest.Say, len(which))
	for i, n := range which {
		chat[i] = exporttest.Say{At: atTen, Who: "Anna", File: fmt.Sprintf("IMG-20250113-WA%04d.jpg", n), Data: fmt.Appendf(nil, "picture %d", n)}
	}
	return exporttest.LocaleOf("de").Zip(t, exporttest.Android, chat)
}

// TestImport_PhotosOfOneMinute are told apart by what is in them, where that is known.
func TestImport_PhotosOfOneMinute(t *testing.T) {
	w := newWorld(t)
	for i, step := range []struct {
		export []byte
		want   string
	}{
		{photos(t, 3, 4), "2 imported, 0 duplicates, 2 media, 0 system"},
		{photos(t, 1, 2), "2 imported, 0 duplicates, 2 media, 0 system"},
		{photos(t, 1, 2, 3, 4), "0 imported, 4 duplicates, 0 media, 0 system"},
		{[]byte(strings.Repeat("13.01.25, 10:00 - Anna: <Medien ausgeschlossen>\n", 5)), "1 imported, 4 duplicates, 0 media, 0 system"},
		{photos(t, 5), "0 imported, 1 duplicates, 1 media, 0 system"},
	} {
		if got := w.imports(step.export); told(got) != step.want {
			t.Errorf("step %d: %s, want %s", i, told(got), step.want)
		}
	}
	// A phone may export other bytes than it has sent.
	w = newWorld(t)
	photo := received("P", "imageMessage", "")
	photo.Media = &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{MediaKey: make([]byte, 32), FileSHA256: sha([]byte("as it was sent"))}}
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")}, photo)
	if got := w.imports(photos(t, 1), into(anna)); told(got) != "0 imported, 1 duplicates, 0 media, 0 system" {
		t.Errorf("beside a received one: %s", told(got))
	}
}
