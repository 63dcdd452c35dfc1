package chatexport

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

const (
	rlm = "\u200f"
)

// onIPhone returns lines of an export by Anna on an iPhone, and what the app sets before each.
func onIPhone(bodies ...string) []byte {
	return []byte(lrm + "[13.01.25, 10:00:00] Anna: " + strings.Join(bodies, "\r\n"+lrm+"[13.01.25, 10:00:00] Anna: "))
}

func onAndroid(bodies ...string) []byte {
	return []byte("13.01.25, 10:00 - Anna: " + strings.Join(bodies, "\n13.01.25, 10:00 - Anna: "))
}

// TestMessages_Captions are whole, without what the app says of the file.
func TestMessages_Captions(t *testing.T) {
	for name, test := range map[string]struct {
		export     []byte
		text, file string // what the file was called
	}{
		"with dots in the middle":       {onAndroid("IMG-20250113-WA0001.jpg (Datei angehängt)\nMilk • Eggs • Bread"), "Milk • Eggs • Bread", "IMG-20250113-WA0001.jpg"},
		"with dots, on an iPhone":       {onIPhone("Milk • Eggs " + lrm + "<Anhang: 00000003-PHOTO-2025-01-13.jpg>"), "Milk • Eggs", "PHOTO-2025-01-13.jpg"},
		"with dots, left out":           {onIPhone("Milk • Eggs " + lrm + "Bild weggelassen"), "Milk • Eggs", ""},
		"pasted from an iPhone":         {onAndroid("IMG-20250113-WA0001.jpg (Datei angehängt)\nPlan.pdf • " + lrm + "2 Seiten • Bread"), "Plan.pdf • 2 Seiten • Bread", "IMG-20250113-WA0001.jpg"},
		"of several lines":              {onAndroid("IMG-20250113-WA0001.jpg (Datei angehängt)\nMilk\n\nEggs • Bread"), "Milk\n\nEggs • Bread", "IMG-20250113-WA0001.jpg"},
		"the name of the file":          {onAndroid("DOC-20250113-WA0001.pdf (Datei angehängt)\nDOC-20250113-WA0001"), "", "DOC-20250113-WA0001.pdf"},
		"beginning with its name":       {onAndroid("DOC-20250113-WA0001.pdf (Datei angehängt)\nDOC-20250113-WA0001 is wrong"), "DOC-20250113-WA0001 is wrong", "DOC-20250113-WA0001.pdf"},
		"the pages of a document":       {onIPhone("Plan.pdf • " + lrm + "2 Seiten " + lrm + "<Anhang: 00000012-Plan.pdf>"), "", "Plan.pdf"},
		"its pages without a mark":      {onIPhone("Plan.pdf • 2 Seiten " + lrm + "<Anhang: 00000012-Plan.pdf>"), "", "Plan.pdf"},
		"its pages, decomposed":         {onIPhone("Pru\u0308fung • " + lrm + "1 Seite " + lrm + "<Anhang: 00000012-Prüfung.pdf>"), "", "Prüfung.pdf"},
		"its title and pages":           {onIPhone("Our plan • " + lrm + "2 Seiten " + lrm + "<Anhang: 00000012-Plan.pdf>"), "", "Plan.pdf"},
		"behind the pages":              {onIPhone("Plan.pdf • " + lrm + "2 Seiten • the new one " + lrm + "<Anhang: 00000012-Plan.pdf>"), "the new one", "Plan.pdf"},
		"below the pages":               {onIPhone("Plan.pdf • " + lrm + "2 Seiten\nthe new • one " + lrm + "<Anhang: 00000012-Plan.pdf>"), "the new • one", "Plan.pdf"},
		"behind the name":               {onIPhone("Plan.pdf • the new one " + lrm + "<Anhang: 00000012-Plan.pdf>"), "the new one", "Plan.pdf"},
		"of a document left out":        {onIPhone("Plan.pdf • " + lrm + "2 Seiten • the new one " + lrm + "Dokument weggelassen"), "the new one", "Plan.pdf"},
		"a document left out":           {onIPhone("Our plan • " + lrm + "2 Seiten " + lrm + "Dokument weggelassen"), "", "Our plan"},
		"a document left out, by dots":  {onIPhone("Milk • Eggs • Bread " + lrm + "Dokument weggelassen"), "", "Milk • Eggs • Bread"},
		"a document left out, no pages": {onIPhone("the new one " + lrm + "Dokument weggelassen"), "", "the new one"},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes := readAll(t, test.export, Options{})
			if len(got) != 1 || got[0].Text != test.text || got[0].Name != test.file || len(notes.Warnings) > 0 {
				t.Errorf("got %+v, %+v", got, notes)
			}
		})
	}
}

// TestMessages_Locations keep the words before the link, but for the app's own.
func TestMessages_Locations(t *testing.T) {
	const url = "https://maps.google.com/?q=52.5,13.4"
	at := func(name, address string) *bridge.Place {
		return &bridge.Place{Latitude: 52.5, Longitude: 13.4, Name: name, Address: address, URL: url}
	}
	for name, test := range map[string]struct {
		export []byte
		text   string
		place  *bridge.Place
	}{
		"the app's word":                {onAndroid("location: " + url), "", at("", "")},
		"the app's word, translated":    {onAndroid("Standort: " + url), "", at("", "")},
		"the app's words":               {onAndroid("vị trí: " + url), "", at("", "")},
		"a word of somebody":            {onAndroid("Treffpunkt: " + url), "Treffpunkt", at("Treffpunkt", "")},
		"a sentence":                    {onAndroid("Meet us here at noon: " + url), "Meet us here at noon", at("Meet us here at noon", "")},
		"a place with its address":      {onAndroid("Café X (Straße 1, Berlin): " + url), "Café X, Straße 1, Berlin", at("Café X", "Straße 1, Berlin")},
		"a text with a link at its end": {onAndroid("Meet us here:\nat noon: " + url), "Meet us here:\nat noon: " + url, nil},
		"on an iPhone":                  {onIPhone(lrm + "Standort: " + url), "", at("", "")},
		"a place on an iPhone":          {onIPhone(lrm + "Café X (Straße 1, Berlin): " + url), "Café X, Straße 1, Berlin", at("Café X", "Straße 1, Berlin")},
		"a place, marked before":        {onIPhone("Café X: " + url), "Café X", at("Café X", "")},
		"a sentence on an iPhone":       {[]byte("[13.01.25, 10:00:00] Anna: Meet us here at noon: " + url), "Meet us here at noon: " + url, nil},
		"a word on an iPhone":           {[]byte("[13.01.25, 10:00:00] Anna: Here: " + url), "Here: " + url, nil},
		"the app's word, without marks": {[]byte("[13.01.25, 10:00:00] Anna: Standort: " + url), "", at("", "")},
		"nowhere":                       {onAndroid("location: https://maps.google.com/?q=100,200"), "location: https://maps.google.com/?q=100,200", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes := readAll(t, test.export, Options{})
			if len(got) != 1 || got[0].Text != test.text || (got[0].Kind == Location) != (test.place != nil) || len(notes.Warnings) > 0 {
				t.Errorf("got %+v, %+v", got, notes)
			}
			if diff := cmp.Diff(test.place, got[0].Place); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMessages_LeftOutOfAnyKind are known by the words that their marks share with those of other
// kinds; what is not left out has none of them.
func TestMessages_LeftOutOfAnyKind(t *testing.T) {
	for _, mark := range []string{
		"Videonachricht weggelassen", "videobericht weggelaten", "mensaje de video omitido", "videomessaggio omesso", "видеосообщение отсутствует", "ビデオメッセージは含まれていません",
		"視訊訊息已省略", "لم يتم إدراج رسالة الفيديو", "video mesajı dahil edilmedi", "videomeddelande uteslutet", "הודעת וידאו הושמט",
	} {
		got, notes := readAll(t, onIPhone("Hi", lrm+mark), Options{})
		if len(got) != 2 || got[1].Kind != Omitted || got[1].Text != "" || len(notes.Warnings) > 0 {
			t.Errorf("%s: got %+v, %+v", mark, got, notes)
		}
	}
	for _, notice := range []string{
		"Du hast Ben hinzugefügt", "علی از گروه حذف شد", "Иван добавлен", "Bạn đã thêm Lan", "تم تغيير الرمز", "You left", "weggelassen", "Du hast vor langer Zeit einmal etwas weggelassen",
		"wiadomość wideo pominięta", // a mark, but in a form that no other one has
	} {
		got, notes := readAll(t, onIPhone("Hi", lrm+notice), Options{})
		if len(got) != 1 || notes.System != 1 || len(notes.Warnings) != 1 {
			t.Errorf("%s: got %+v, %+v", notice, got, notes)
		}
	}
}
