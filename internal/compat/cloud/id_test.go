package cloud

import (
	"encoding/base64"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

const (
	sofia bridge.JID = "34600100101@s.whatsapp.net"
	ada   bridge.JID = "15550001111@s.whatsapp.net"
	club  bridge.JID = "120363000000000000@g.us"
	shy   bridge.JID = "222222222222222@lid"
)

func TestMessageID_InEachForm(t *testing.T) {
	for _, ref := range []messageRef{
		{Chat: sofia, ID: "3EB0A1"},
		{Chat: shy, ID: "3EB0A1"},
		{Chat: club, Sender: sofia, ID: "3EB0A1"},
		{Chat: club, ID: "3EB0A1"},
		{Chat: sofia, ID: "with/a slash"},
		{Chat: club, Sender: shy, ID: "/"},
	} {
		id := ref.messageID()
		if got, err := parseMessageID(id); err != nil || got != ref {
			t.Errorf("%s is %+v, %v, want %+v", id, got, err, ref)
		}
		if got, ok := parseFileID(ref.fileID()); !ok || got != ref {
			t.Errorf("%s is %+v, want %+v", ref.fileID(), got, ref)
		}
		if strings.Trim(ref.fileID(), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Errorf("%s cannot stand in a path", ref.fileID())
		}
	}
	if id := (messageRef{Chat: club, Sender: sofia, ID: "3EB0C767D097B7C7F0C0A1"}).messageID(); len(id) >= 128 {
		t.Errorf("%s has %d characters", id, len(id))
	}
	encode := base64.RawURLEncoding.EncodeToString
	for _, id := range []string{
		"", "wamid.", "wamid.!", "3EB0A1", "wamid.HBgLMTU1NTAwMDExMTEVAgASGBQzQQ", "wamid." + encode([]byte("34600100101@s.whatsapp.net/")),
		"wamid." + encode([]byte("34600100101@c.us/A")), "wamid." + encode([]byte("120363000000000000@g.us/A")), "wamid." + encode([]byte("status@broadcast/A")),
		"wamid." + encode([]byte("34600100101@S.WhatsApp.net/A")), messageRef{Chat: sofia, ID: "A"}.fileID(), messageRef{Chat: sofia, ID: "A"}.messageID() + "\n",
		"wamid." + encode([]byte("120363000000000000@g.us/120363000000000000@g.us/A")),
	} {
		if got, err := parseMessageID(id); err == nil {
			t.Errorf("%q is %+v", id, got)
		}
	}
}

// An id is read as the message that it was made of, and what is read is one's own.
func FuzzMessageID(f *testing.F) {
	f.Add(string(club), string(sofia), "3EB0A1", "wamid.MzQ2MDAxMDAxMDFAcy53aGF0c2FwcC5uZXQvM0VCMEE")
	f.Add(string(sofia), "", "a/b", "wamid.")
	f.Fuzz(func(t *testing.T, chat, sender, id, text string) {
		fuzzbudget.Usual.Check(t, len(chat)+len(sender)+len(id)+len(text), func() {
			if ref, err := parseMessageID(text); err == nil && ref.messageID() != text {
				t.Errorf("%q is read as %+v, which is %q", text, ref, ref.messageID())
			}
			ref := messageRef{ID: id}
			var err error
			if ref.Chat, err = bridge.ParseJID(chat); err != nil || id == "" || !ref.Chat.IsPerson() && !ref.Chat.IsGroup() {
				return
			}
			if by, err := bridge.ParseJID(sender); err == nil && by.IsPerson() && ref.Chat.IsGroup() {
				ref.Sender = by
			}
			if got, err := parseMessageID(ref.messageID()); err != nil || got != ref {
				t.Errorf("%+v is read as %+v, %v", ref, got, err)
			}
		})
	})
}

// The same of the ids of files, which no id of a message or of an upload is.
func FuzzFileID(f *testing.F) {
	f.Add(string(sofia), "3EB0A1", "mMzQ2MDAxMDAxMDFAcy53aGF0c2FwcC5uZXQvM0VCMEE")
	f.Fuzz(func(t *testing.T, chat, id, text string) {
		fuzzbudget.Usual.Check(t, len(chat)+len(id)+len(text), func() {
			if ref, ok := parseFileID(text); ok && ref.fileID() != text {
				t.Errorf("%q is read as %+v, which is %q", text, ref, ref.fileID())
			}
			ref := messageRef{ID: id}
			var err error
			if ref.Chat, err = bridge.ParseJID(chat); err != nil || id == "" || !ref.Chat.IsPerson() && !ref.Chat.IsGroup() {
				return
			}
			if got, ok := parseFileID(ref.fileID()); !ok || got != ref {
				t.Errorf("%+v is read as %+v", ref, got)
			}
			if got, err := parseMessageID(ref.fileID()); err == nil {
				t.Errorf("%s is the message %+v, too", ref.fileID(), got)
			}
		})
	})
}
