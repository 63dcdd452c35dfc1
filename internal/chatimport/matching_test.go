package chatimport

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

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
	t.Parallel()
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
		if got := w.imports(step.export); summary(got) != step.want {
			t.Errorf("step %d: %s, want %s", i, summary(got), step.want)
		}
	}
	// The same picture was sent twice, and an earlier export has one of them.
	w = newWorld(t)
	picture := func(n int, caption string) exporttest.Say {
		return exporttest.Say{At: atTen, Who: "Anna", File: fmt.Sprintf("IMG-20250113-WA%04d.jpg", n), Data: []byte("a picture"), Text: caption}
	}
	for i, step := range []struct {
		chat []exporttest.Say
		want string
	}{
		{[]exporttest.Say{picture(2, "look")}, "1 imported, 0 duplicates, 1 media, 0 system"},
		{[]exporttest.Say{picture(1, "sorry, again"), picture(2, "look")}, "1 imported, 1 duplicates, 1 media, 0 system"},
		{[]exporttest.Say{picture(1, ""), picture(2, "")}, "0 imported, 2 duplicates, 0 media, 0 system"},
	} {
		if got := w.imports(exporttest.LocaleOf("de").Zip(t, exporttest.Android, step.chat), named("Anna", anna)); summary(got) != step.want {
			t.Errorf("twice, step %d: %s, want %s", i, summary(got), step.want)
		}
	}
	if diff := gocmp.Diff([]string{"Anna: look[document]", "Anna: sorry, again[document]"}, w.authors(chatJID("Weekend"))); diff != "" {
		t.Error(diff)
	}
	// A phone may export other bytes than it has sent.
	w = newWorld(t)
	photo := received("P", "imageMessage", "")
	photo.Media = &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{MediaKey: make([]byte, 32), FileSHA256: sha([]byte("as it was sent"))}}
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")}, photo)
	if got := w.imports(photos(t, 1), into(anna)); summary(got) != "0 imported, 1 duplicates, 0 media, 0 system" {
		t.Errorf("beside a received one: %s", summary(got))
	}
}

// TestImport_WhatIsReceivedAsMoreThanText is in exports as text, or as a file.
func TestImport_WhatIsReceivedAsMoreThanText(t *testing.T) {
	t.Parallel()
	const phoneL, poll = "[13.01.25, 10:00:01] Anna: \u200e", "POLL:\nWhat time?\nOPTION: Eight (1 vote)\nOPTION: Nine (0 votes)"
	card := exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: []byte("13.01.25, 10:00 - Anna: Zoë Doe.vcf (Datei angehängt)")}, exporttest.Entry{Name: "Zoë Doe.vcf", Data: []byte("BEGIN:VCARD")})
	const once, anew = "0 imported, 1 duplicates, 0 media, 0 system", "1 imported, 0 duplicates, 0 media, 0 system"
	for _, test := range []struct {
		name, kind, text string
		export           []byte
		want             string
	}{
		{"a poll", "pollCreationMessageV3", "What time?", []byte("13.01.25, 10:00 - Anna: " + poll), once},
		{"a poll on an iPhone", "pollCreationMessage", "What time?", []byte(phoneL + strings.ReplaceAll(poll, "\n", "\n\u200e")), once},
		{"another poll", "pollCreationMessage", "What day?", []byte("13.01.25, 10:00 - Anna: " + poll), anew},
		{"a text like the question", bridge.TypeText, "What time?", []byte("13.01.25, 10:00 - Anna: " + poll), anew},
		{"a contact", "contactMessage", "Zoë Doe", []byte("13.01.25, 10:00 - Anna: Zoë Doe.vcf (Datei angehängt)"), once},
		{"a contact with its file", "contactMessage", "Zoë Doe", card, once},
		{"several contacts", "contactsArrayMessage", "Zoë Doe, Max", []byte("13.01.25, 10:00 - Anna: 2 Kontakte.vcf (Datei angehängt)"), once},
		{"a contact on an iPhone", "contactMessage", "Zoë Doe", []byte(phoneL + "Kontaktkarte ausgelassen"), once},
		{"a document beside a contact", "contactMessage", "Zoë Doe", []byte(phoneL + "plan.pdf • \u200e3 Seiten \u200eDokument weggelassen"), anew},
		{"a place that moves", "liveLocationMessage", "52.5,13.4", []byte(phoneL + "Standort: https://maps.google.com/?q=52.5163,13.3777"), once},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, imported := range []bool{false, true} { // from the phone's history
				w := newWorld(t)
				m := received("M", test.kind, test.text)
				m.Imported = imported
				w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")}, m)
				if got := w.imports(test.export, into(anna)); summary(got) != test.want {
					t.Errorf("imported %v: %s, want %s", imported, summary(got), test.want)
				}
				if message, err := w.store.Message(t.Context(), anna, "M"); err != nil || message.MessageType != test.kind || message.Content != test.text {
					t.Errorf("imported %v: %v %+v", imported, err, message)
				}
			}
		})
	}
}

// TestImport_APollThatWentOn is the same with more votes.
func TestImport_APollThatWentOn(t *testing.T) {
	t.Parallel()
	const poll = "13.01.25, 10:00 - Anna: POLL:\nWhat time?\nOPTION: Eight (%d vote)\nOPTION: Nine (0 votes)\n"
	w := newWorld(t)
	w.imports(fmt.Appendf(nil, poll, 1))
	for _, test := range []struct{ export, want string }{
		{fmt.Sprintf(poll, 2), "0 imported, 1 duplicates, 0 media, 0 system"},
		{fmt.Sprintf(poll+poll, 2, 3), "1 imported, 1 duplicates, 0 media, 0 system"},
		{strings.ReplaceAll(fmt.Sprintf(poll, 2), "Nine", "Ten"), "1 imported, 0 duplicates, 0 media, 0 system"},
		{"13.01.25, 10:00 - Anna: to buy:\nbread (2)\nmilk (1)", "1 imported, 0 duplicates, 0 media, 0 system"},
		{"13.01.25, 10:00 - Anna: to buy:\nbread (3)\nmilk (1)", "1 imported, 0 duplicates, 0 media, 0 system"},
	} {
		if got := w.imports([]byte(test.export)); summary(got) != test.want {
			t.Errorf("%q: %s, want %s", test.export, summary(got), test.want)
		}
	}
}

// TestImport_DocumentsWithoutTheirFiles get them later, however the text was read without them.
func TestImport_DocumentsWithoutTheirFiles(t *testing.T) {
	t.Parallel()
	const head = "13.01.25, 10:00 - Anna: "
	text := head + "my (final) plan.pdf (Datei angehängt)\nread this\n" + head + "README (Datei angehängt)\n" +
		head + "see README (it is good)\n" + head + "other.pdf (Datei angehängt)\n"
	with := exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: []byte(text)},
		exporttest.Entry{Name: "my (final) plan.pdf", Data: []byte("%PDF-1.4 plan")}, exporttest.Entry{Name: "README", Data: []byte("hello")})
	want := []string{"Anna: [document]", "Anna: other.pdf (Datei angehängt)", "Anna: read this[document]", "Anna: see README (it is good)"}
	for name, steps := range map[string][]struct {
		export []byte
		want   string
	}{
		"the text first": {
			{[]byte(text), "4 imported, 0 duplicates, 0 media, 0 system"},
			{with, "0 imported, 4 duplicates, 2 media, 0 system"},
			{with, "0 imported, 4 duplicates, 0 media, 0 system"},
			{[]byte(text), "0 imported, 4 duplicates, 0 media, 0 system"},
		},
		"the files first": {
			{with, "4 imported, 0 duplicates, 2 media, 0 system"},
			{[]byte(text), "0 imported, 4 duplicates, 0 media, 0 system"},
			{with, "0 imported, 4 duplicates, 0 media, 0 system"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for i, step := range steps {
				if got := w.imports(step.export, named("Anna", anna)); summary(got) != step.want {
					t.Errorf("step %d: %s, want %s", i, summary(got), step.want)
				}
			}
			for i, m := range w.messages(chatJID("Weekend")) {
				if m.Media != nil && m.Media.FileName == "" {
					t.Errorf("message %d has no file name: %+v", i, m.Media)
				}
			}
			if diff := gocmp.Diff(want, w.authors(chatJID("Weekend"))); diff != "" {
				t.Error(diff)
			}
		})
	}
	// What a person has written stays as it is.
	w := newWorld(t)
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")}, received("M", bridge.TypeText, "README (Datei angehängt)"))
	if got := w.imports(with, into(anna)); got.Imported != 4 {
		t.Errorf("beside a received text: %s", summary(got))
	}
}

// TestImport_FilesThatAreLeftOutInAnotherWay are the same: exports of the two phones, and with files
// and without, name files, titles and contacts differently.
func TestImport_FilesThatAreLeftOutInAnotherWay(t *testing.T) {
	t.Parallel()
	const head, mark = "13.01.25, 10:00 - Anna: ", "\u200e"
	iPhone := func(lines ...string) []byte {
		return []byte(mark + "[13.01.25, 10:00:00] Anna: " + strings.Join(lines, "\n"+mark+"[13.01.25, 10:00:00] Anna: ") + "\n")
	}
	android := func(lines ...string) []byte { return []byte(head + strings.Join(lines, "\n"+head) + "\n") }
	titled := "Report.pdf (Datei angehängt)\nReport\nsee page 3"
	for name, exports := range map[string][2][]byte{
		"a contact and a document": {
			android("Bob.vcf (Datei angehängt)", "<Medien ausgeschlossen>"),
			iPhone(mark+"Kontaktkarte ausgelassen", "B.pdf • "+mark+"1 Seite "+mark+"Dokument weggelassen"),
		},
		"a picture and a contact": {
			android("<Medien ausgeschlossen>", "Bob.vcf (Datei angehängt)"), iPhone(mark+"Bild weggelassen", mark+"Kontaktkarte ausgelassen"),
		},
		"a document with its title": {
			android("<Medien ausgeschlossen>\nReport"),
			exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: android("Report.pdf (Datei angehängt)\nReport")}, exporttest.Entry{Name: "Report.pdf", Data: []byte("%PDF-1.4")}),
		},
		"a document with its title and a caption": {
			android("<Medien ausgeschlossen>\nReport\nsee page 3"),
			exporttest.Zip(t, exporttest.Entry{Name: "_chat.txt", Data: android(titled)}, exporttest.Entry{Name: "Report.pdf", Data: []byte("%PDF-1.4")}),
		},
	} {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			w := newWorld(t)
			first := w.imports(exports[order[0]])
			for _, again := range []int{order[1], order[0], order[1]} {
				if got := w.imports(exports[again]); got.Imported != 0 || got.Duplicates != first.Imported {
					t.Errorf("%s, %v: %s, after %s", name, order, summary(got), summary(first))
				}
			}
		}
	}
}

// TestImport_DeletedLater leaves what was imported before: the message does not come a second time as
// a deleted one.
func TestImport_DeletedLater(t *testing.T) {
	t.Parallel()
	const head, gone = "13.01.25, 10:00 - Anna: ", "Diese Nachricht wurde gelöscht\n"
	for _, test := range []struct {
		name  string
		steps []string
		want  []string
	}{
		{"a text", []string{head + "secret\n", head + gone, head + "secret\n"}, []string{"Anna: secret"}},
		{"one of two", []string{head + "a\n" + head + "b\n", head + gone + head + "b\n"}, []string{"Anna: a", "Anna: b"}},
		{"both of two", []string{head + "a\n" + head + "b\n", head + gone + head + gone}, []string{"Anna: a", "Anna: b"}},
		{"a file", []string{head + "<Medien ausgeschlossen>\n", head + gone}, []string{"Anna: "}},
		{"another's", []string{"13.01.25, 10:00 - Bob: secret\n", head + gone}, []string{"Anna: ", "Bob?: secret"}},
		{"in another minute", []string{head + "secret\n", "13.01.25, 10:01 - Anna: " + gone}, []string{"Anna: ", "Anna: secret"}},
		{"beside one deleted before", []string{head + gone + head + "b\n", head + gone + head + gone}, []string{"Anna: ", "Anna: b"}},
		{"beside a new one", []string{head + "a\n", head + "new\n" + head + "new\n" + head + gone}, []string{"Anna: a", "Anna: new", "Anna: new"}},
		{"beside what another export had", []string{"13.01.25, 09:59 - Anna: a\n" + head + "b\n", head + gone}, []string{"Anna: ", "Anna: a", "Anna: b"}},
		{"beside what another export had, backwards", []string{head + "b\n13.01.25, 10:01 - Anna: c\n", head + gone}, []string{"Anna: ", "Anna: b", "Anna: c"}},
		{"edited", []string{head + "old text\n", head + "new text <Diese Nachricht wurde bearbeitet>\n"}, []string{"Anna: new text", "Anna: old text"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			for _, export := range test.steps {
				w.imports([]byte(export), named("Anna", anna))
			}
			if diff := gocmp.Diff(test.want, w.authors(chatJID("Weekend"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
