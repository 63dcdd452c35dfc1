package store

import (
	"path/filepath"
	"slices"
	"testing"

	"bridged/internal/bridge"
)

// photo returns a picture from Alice, and recaptioned the edit of its caption, which has no file.
func photo(id string, seconds int, caption string) bridge.Message {
	m := says(alice, alice, id, seconds, caption)
	m.MessageType = "imageMessage"
	m.Media = &bridge.Media{
		Type: bridge.MediaImage, MimeType: "image/png", Caption: caption, Width: 9,
		Ref: bridge.MediaRef{DirectPath: "/v/1", MediaKey: []byte("key")},
	}
	return m
}

func recaptioned(id string, seconds int, caption string) bridge.Edit {
	edited := photo(id, seconds, caption)
	edited.Raw = []byte("caption " + caption)
	edited.Media = &bridge.Media{Type: bridge.MediaImage, Caption: caption}
	return bridge.Edit{Chat: alice, Target: id, Editor: alice, Timestamp: at(seconds), New: edited}
}

func storeOfEdits(t *testing.T) *Store {
	t.Helper()
	s := newStore(t)
	s.o.MergeEdit = func(original, edit []byte) ([]byte, bool) {
		return slices.Concat(original, []byte(" + "), edit), true
	}
	return s
}

func wantPhoto(t *testing.T, m bridge.Message, caption, raw string) {
	t.Helper()
	if m.MessageType != "imageMessage" || m.Content != caption || m.Media == nil || m.Media.Caption != caption || m.Media.Width != 9 ||
		m.Media.Ref.DirectPath != "/v/1" || string(m.Media.Ref.MediaKey) != "key" || string(m.Raw) != raw || m.EditedAt == nil {
		t.Errorf("message %+v with the file %+v and the protobuf %q", m, m.Media, m.Raw)
	}
}

func TestEdit_OfACaptionIsInTheProtobuf(t *testing.T) {
	t.Parallel()
	s := storeOfEdits(t)
	save(t, s, photo("A1", 1, "first"), bridge.MediaMoved{Chat: alice, ID: "A1", DirectPath: "/v/1"})
	save(t, s, recaptioned("A1", 3, "third"))
	save(t, s, recaptioned("A1", 3, "third")) // delivered again
	save(t, s, recaptioned("A1", 2, "second, late"))
	wantPhoto(t, message(t, s, alice, "A1"), "third", "raw of A1 + caption third")
}

// TestEdit_OfACaptionMeetsItsPicture: the edit may arrive before or after the picture.
func TestEdit_OfACaptionMeetsItsPicture(t *testing.T) {
	t.Parallel()
	lost := placeholder(alice, alice, "A1", 1)
	for name, order := range map[string][]bridge.Fact{
		"picture first":     {lost, photo("A1", 1, "first"), recaptioned("A1", 3, "second")},
		"edit first":        {lost, recaptioned("A1", 3, "second"), photo("A1", 1, "first")},
		"older edit later":  {lost, recaptioned("A1", 3, "second"), recaptioned("A1", 2, "late"), photo("A1", 1, "first")},
		"all of them twice": {lost, lost, recaptioned("A1", 3, "second"), recaptioned("A1", 3, "second"), photo("A1", 1, "first"), photo("A1", 1, "first")},
		"somebody else's": {
			lost, recaptioned("A1", 3, "second"), photo("A1", 1, "first"),
			bridge.Edit{Chat: alice, Target: "A1", Editor: me, Timestamp: at(9), New: says(alice, me, "A1", 9, "forged")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeOfEdits(t)
			save(t, s, owner())
			for _, fact := range order {
				save(t, s, fact)
			}
			wantPhoto(t, message(t, s, alice, "A1"), "second", "raw of A1 + caption second")
		})
	}
}

func TestEdit_OfAPlaceholder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bridged.db")
	s := openStore(t, path)
	save(t, s, placeholder(alice, alice, "A1", 1), placeholder(alice, alice, "A2", 2), placeholder(alice, alice, "A3", 3),
		recaptioned("A1", 5, "caption"),
		bridge.Edit{Chat: alice, Target: "A2", Editor: alice, Timestamp: at(5), New: says(alice, alice, "A2", 5, "the whole text")},
		recaptioned("A3", 5, "gone"), bridge.Deletion{Chat: alice, Target: "A3", By: alice, Timestamp: at(6)})
	if m := message(t, s, alice, "A1"); m.MessageType != bridge.TypeUndecryptable || m.Content != "caption" || m.Media != nil {
		t.Errorf("a caption without its picture: %+v", m)
	}
	if m := message(t, s, alice, "A2"); m.MessageType != "conversation" || m.Content != "the whole text" || m.Forwardable() != nil {
		t.Errorf("an edited text: %+v", m)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	save(t, s, photo("A1", 1, "first"), says(alice, alice, "A2", 2, "text"), photo("A3", 3, "first"))
	wantPhoto(t, message(t, s, alice, "A1"), "caption", "raw of A1")
	if m := message(t, s, alice, "A2"); m.Content != "the whole text" || m.EditedAt == nil || *m.EditedAt != at(5) {
		t.Errorf("the text: %+v", m)
	}
	if m := message(t, s, alice, "A3"); m.Content != "" || m.Media != nil || m.DeletedAt == nil {
		t.Errorf("a deleted one: %+v", m)
	}
}

func TestEdit_OfAMessageWithoutTextIsIgnored(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.o.MergeEdit = func([]byte, []byte) ([]byte, bool) { return nil, false }
	voice := says(alice, alice, "A1", 1, "")
	voice.MessageType, voice.Media = "audioMessage", &bridge.Media{Type: bridge.MediaAudio, Ref: bridge.MediaRef{MediaKey: []byte("key")}}
	save(t, s, voice, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(2), New: says(alice, alice, "A1", 2, "words")})
	if m := message(t, s, alice, "A1"); m.Content != "" || m.EditedAt != nil || string(m.Raw) != "raw of A1" {
		t.Errorf("message: %+v", m)
	}
}

func TestEdit_RetainsTheQuote(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	answer := says(alice, alice, "A1", 1, "yes")
	answer.ContextInfo = &bridge.ContextInfo{QuotedMsgID: ptr("Q1"), QuotedSenderJID: me}
	edited := says(alice, alice, "A1", 2, "no @491700000003")
	edited.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{bob}}
	save(t, s, answer, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(2), New: edited})
	c := message(t, s, alice, "A1").ContextInfo
	if c == nil || c.QuotedMsgID == nil || *c.QuotedMsgID != "Q1" || c.QuotedSenderJID != me || len(c.MentionedJID) != 1 {
		t.Errorf("context: %+v", c)
	}
}

func TestEdit_IntoViewOnceIsNotForwarded(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	once := photo("A1", 2, "look")
	once.ViewOnce = true
	save(t, s, says(alice, alice, "A1", 1, "text"), bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(2), New: once})
	if m := message(t, s, alice, "A1"); m.MessageType != "imageMessage" || m.Forwardable() == nil {
		t.Errorf("message: %+v", m)
	}
}
