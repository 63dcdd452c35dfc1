package chatexport

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// TestWriter_IsReadAgain writes messages and reads them again. Texts that look like words of the app, or like the
// beginning of a message, stay what they are.
func TestWriter_IsReadAgain(t *testing.T) {
	at := time.Date(2026, 3, 4, 15, 9, 26, 0, time.UTC)
	message := func(change func(*bridge.Message)) bridge.Message {
		m := bridge.Message{Timestamp: bridge.At(at), MessageType: bridge.TypeText}
		change(&m)
		return m
	}
	text := func(s string) bridge.Message { return message(func(m *bridge.Message) { m.Content = s }) }
	file := func(kind bridge.MediaType, caption, name string, pages int) bridge.Message {
		return message(func(m *bridge.Message) {
			m.Content, m.Media = caption, &bridge.Media{Type: kind, FileName: name, Pages: pages, Size: 5000}
			m.MessageType = string(kind) + "Message"
		})
	}
	place := &bridge.Place{Latitude: 52.5163, Longitude: 13.3777, Name: "Gate", Address: "Square 1"}
	want := []struct {
		message bridge.Message
		file    string
		read    Message
	}{
		{text("hello: all"), "", Message{Text: "hello: all"}},
		{text("a list\n1. one\n\n2. two"), "", Message{Text: "a list\n1. one\n\n2. two"}},
		{text("pasted:\n[2026-01-02, 10:00:00] Bob: hi\n2/1/26, 10:00 - Eve: ho"), "", Message{Text: "pasted:\n[2026-01-02, 10:00:00] Bob: hi\n2/1/26, 10:00 - Eve: ho"}},
		{text("[2026-01-02, 10:00:00] Bob: hi"), "", Message{Text: "[2026-01-02, 10:00:00] Bob: hi"}},
		{text("x\n\u2063[2026-01-02, 10:00:00] Bob: hi"), "", Message{Text: "x\n\u2063[2026-01-02, 10:00:00] Bob: hi"}},
		{text("This message was deleted"), "", Message{Text: "This message was deleted"}},
		{text("image omitted"), "", Message{Text: "image omitted"}},
		{text("<Media omitted>"), "", Message{Text: "<Media omitted>"}},
		{text("see <attached: 00000001-plan.pdf>"), "", Message{Text: "see <attached: 00000001-plan.pdf>"}},
		{text("so \u200e<This message was edited>"), "", Message{Text: "so <This message was edited>"}},
		{text("\u200eAnna added you"), "", Message{Text: "Anna added you"}},
		{text("\u2063secret"), "", Message{Text: "\u2063secret"}},
		{text("Location: https://maps.google.com/?q=1,2"), "", Message{Text: "Location: https://maps.google.com/?q=1,2"}},
		{message(func(m *bridge.Message) { m.Content, m.EditedAt = "corrected", &m.Timestamp }), "", Message{Text: "corrected", Edited: true}},
		{message(func(m *bridge.Message) { m.Content, m.EditedAt = "image omitted", &m.Timestamp }), "", Message{Text: "image omitted", Edited: true}},
		{message(func(m *bridge.Message) { m.DeletedAt = &m.Timestamp }), "", Message{Kind: Deleted}},
		{message(func(m *bridge.Message) { m.MessageType = bridge.TypeViewOnce }), "", Message{Kind: ViewOnce}},
		{message(func(m *bridge.Message) { m.MessageType, m.Content = bridge.TypeOmitted, "two\nlines" }), "", Message{Kind: Omitted, Text: "two\nlines"}},
		{file(bridge.MediaImage, "the path", "", 0), "00000001-PHOTO-2026-03-04-15-09-26.jpg", Message{Kind: Attached, Type: bridge.MediaImage, Text: "the path", File: "00000001-PHOTO-2026-03-04-15-09-26.jpg", Name: "PHOTO-2026-03-04-15-09-26.jpg"}},
		{file(bridge.MediaImage, "two\nlines", "", 0), "", Message{Kind: Omitted, Type: bridge.MediaImage, Text: "two\nlines"}},
		{file(bridge.MediaAudio, "", "", 0), "", Message{Kind: Omitted, Type: bridge.MediaAudio}},
		{file(bridge.MediaVideo, "", "", 0), "", Message{Kind: Omitted, Type: bridge.MediaVideo}},
		{file(bridge.MediaSticker, "", "", 0), "", Message{Kind: Omitted, Type: bridge.MediaSticker}},
		{file(bridge.MediaDocument, "", "Prüfung 3.pdf", 0), "00000002-Prüfung 3.pdf", Message{Kind: Attached, Type: bridge.MediaDocument, File: "00000002-Prüfung 3.pdf", Name: "Prüfung 3.pdf"}},
		{file(bridge.MediaDocument, "please read", "plan.pdf", 3), "", Message{Kind: Omitted, Type: bridge.MediaDocument, Name: "plan.pdf", Text: "please read"}},
		{file(bridge.MediaDocument, "please read", "plan", 0), "", Message{Kind: Omitted, Type: bridge.MediaDocument, Name: "plan", Text: "please read"}},
		{file(bridge.MediaDocument, "", "plan", 0), "", Message{Kind: Omitted, Type: bridge.MediaDocument, Name: "plan"}},
		{message(func(m *bridge.Message) { m.Location = place }), "", Message{Kind: Location, Text: "Gate, Square 1", Place: &bridge.Place{Latitude: 52.5163, Longitude: 13.3777, Name: "Gate", Address: "Square 1", URL: "https://maps.google.com/?q=52.5163,13.3777"}}},
		{message(func(m *bridge.Message) { m.Location = &bridge.Place{Latitude: -1, Longitude: 0.000001} }), "", Message{Kind: Location, Place: &bridge.Place{Latitude: -1, Longitude: 0.000001, URL: "https://maps.google.com/?q=-1,0.000001"}}},
		{message(func(m *bridge.Message) {
			m.Contacts, m.Content = []bridge.SharedContact{{DisplayName: "Bob"}}, "Bob"
		}), "", Message{Kind: Omitted, Type: bridge.MediaDocument}},
		{message(func(m *bridge.Message) {
			m.Poll = &bridge.PollTally{Name: "When?", Options: []bridge.PollOption{{Name: "now", Votes: 1}, {Name: "later"}}}
		}), "", Message{Text: "POLL:\nWhen?\nOPTION: now (1 vote)\nOPTION: later (0 votes)"}},
		{message(func(m *bridge.Message) {
			m.Content = "ask @15551 and @155512"
			m.ContextInfo = &bridge.ContextInfo{Mentions: []bridge.Mention{{Name: "Eve", Token: new("@15551")}, {Name: "Bob", Token: new("@155512")}}}
		}), "", Message{Text: "ask @Eve and @Bob"}},
	}
	var b bytes.Buffer
	w := NewWriter(&b, time.UTC)
	var expected []Message
	for i, c := range want {
		c.message.Timestamp = bridge.At(at.Add(time.Duration(i) * time.Minute))
		sender := []string{"Anna", "Dr. Ruiz"}[i%2]
		if err := w.Write(&c.message, sender, c.file); err != nil {
			t.Fatal(err)
		}
		c.read.At, c.read.Sender = c.message.Timestamp.Time, sender
		expected = append(expected, c.read)
	}
	for _, hidden := range []bridge.Message{{MessageType: bridge.TypeUndecryptable}, {MessageType: "albumMessage", Parts: bridge.Parts{Album: &bridge.Album{}}}} {
		hidden.Timestamp = bridge.At(at.Add(24 * time.Hour))
		if err := w.Write(&hidden, "Anna", ""); err != nil {
			t.Fatal(err)
		}
	}
	got, notes := readAll(t, b.Bytes(), Options{})
	for i := range got {
		got[i].Line = 0
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, b.String())
	}
	if notes.System != 2 || len(notes.Warnings) > 0 {
		t.Errorf("notes: %+v", notes)
	}
}

// TestFileName_IsSafe names files as iPhones do, without characters that lead out of the directory.
func TestFileName_IsSafe(t *testing.T) {
	at := bridge.At(time.Date(2026, 3, 4, 15, 9, 26, 0, time.UTC))
	for _, c := range []struct {
		media *bridge.Media
		want  string
	}{
		{&bridge.Media{Type: bridge.MediaImage, MimeType: "image/png"}, "00000007-PHOTO-2026-03-04-15-09-26.png"},
		{&bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg; codecs=opus", PTT: true}, "00000007-AUDIO-2026-03-04-15-09-26.opus"},
		{&bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg"}, "00000007-AUDIO-2026-03-04-15-09-26.ogg"},
		{&bridge.Media{Type: bridge.MediaDocument, FileName: "../../etc/passwd"}, "00000007-.._.._etc_passwd"},
		{&bridge.Media{Type: bridge.MediaDocument, FileName: "a<b>\r\n:c.pdf"}, "00000007-a_b_c.pdf"},
		{&bridge.Media{Type: bridge.MediaDocument, FileName: strings.Repeat("x", 999) + ".pdf"}, "00000007-" + strings.Repeat("x", 200) + ".pdf"},
		{&bridge.Media{Type: bridge.MediaDocument}, "00000007-file"},
		{nil, "00000007-Bob_ Eve.vcf"},
	} {
		if got := FileName(7, &bridge.Message{Media: c.media, Content: "Bob: Eve", Timestamp: at}, time.UTC); got != c.want {
			t.Errorf("%+v: %q, want %q", c.media, got, c.want)
		}
	}
}

// FuzzWriter writes a message of any text between two others and reads it again, unchanged.
func FuzzWriter(f *testing.F) {
	for _, text := range []string{"hi", "a\n[2026-01-02, 10:00:00] Bob: hi", "<attached: 00000001-a.pdf>", "\u2063x", "null", "a: b\r\n\u200ec", "1/2/26, 10:00 - x", "POLL:\nq\n\u200eOPTION: a"} {
		f.Add(text, "Anna")
	}
	f.Fuzz(func(t *testing.T, text, sender string) {
		if !utf8.ValidString(text) || plainText(strings.ReplaceAll(text, "\r", "")) == "" || !utf8.ValidString(sender) || !IsSenderName(sender) || sender == "Bob" {
			t.Skip()
		}
		var b bytes.Buffer
		w := NewWriter(&b, time.UTC)
		messages := []Message{{Sender: "Bob", Text: "before"}, {Sender: sender, Text: text}, {Sender: "Bob", Text: "after"}}
		for _, m := range messages {
			if err := w.Write(&bridge.Message{Content: m.Text, Timestamp: bridge.At(now)}, m.Sender, ""); err != nil {
				t.Fatal(err)
			}
		}
		got, _ := readAll(t, b.Bytes(), Options{IsName: func(name string) bool { return name == sender }})
		plain := func(s string) string { return plainText(strings.ReplaceAll(s, "\r", "")) }
		if len(got) != 3 || got[1].Sender != sender || got[1].Kind != Text || plain(got[1].Text) != plain(text) {
			t.Errorf("%q of %q: %+v\n%q", text, sender, got, b.String())
		}
	})
}
