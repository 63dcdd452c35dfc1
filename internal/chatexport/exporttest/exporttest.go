// Package exporttest makes exported chats as the apps make them, in many languages, for
// tests.
package exporttest

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Platform is the phone that exports.
type Platform string

// The platforms.
const (
	Android Platform = "Android"
	IPhone  Platform = "iPhone"
)

// Platforms lists them.
var Platforms = []Platform{Android, IPhone}

// What is something that happens in a chat.
type What int

// What there is.
const (
	Says What = iota
	SendsFile
	SendsPlace
	Deletes
	SendsOnce // to be seen once
	MissesCall
	Notice // by the app
)

// Say is something in a chat. Text is the message, or the caption of a file.
type Say struct {
	At     time.Time
	Who    string
	What   What
	Text   string
	File   string // its name in the archive
	Data   []byte // nil for a file that is not in the archive
	Edited bool
}

// Talk is a chat of 2025 with all that there is, in UTC. The notice at its beginning is younger than
// what follows, as phones write it.
func Talk(p Platform) []Say {
	at := func(month, day, hour, minute, second int) time.Time {
		return time.Date(2025, time.Month(month), day, hour, minute, second, 0, time.UTC)
	}
	picture, document := "IMG-20250203-WA0001.jpg", "Prüfung 3.pdf"
	if p == IPhone {
		picture, document = "00000003-PHOTO-2025-02-03-00-05-09.jpg", "00000004-Prüfung 3.pdf"
	}
	return []Say{
		{At: at(1, 20, 8, 0, 0), What: Notice},
		{At: at(1, 3, 9, 41, 7), Who: "Anna", Text: "Good morning: to all!"},
		{At: at(1, 3, 9, 41, 30), Who: "Zoë 👩‍🚀", Text: "a list\n1. one\n\n2. two"},
		{At: at(2, 3, 0, 5, 9), Who: "Anna", File: picture, Data: []byte("a picture"), Text: "and its caption"},
		{At: at(2, 3, 12, 30, 0), Who: "Anna", File: document, Data: []byte("a document")},
		{At: at(2, 3, 12, 31, 0), Who: "Anna", Text: "corrected", Edited: true},
		{At: at(3, 14, 15, 9, 26), Who: "Zoë 👩‍🚀", What: Deletes},
		{At: at(3, 14, 15, 10, 0), Who: "+49 170 1234567", What: SendsOnce},
		{At: at(3, 14, 23, 59, 59), Who: "Anna", What: MissesCall},
		{At: at(3, 15, 0, 0, 0), Who: "Anna", What: SendsPlace, Text: "52.5163,13.3777"},
		{At: at(4, 1, 18, 0, 0), Who: "Anna", Text: "ok"},
		{At: at(4, 1, 18, 0, 0), Who: "Anna", Text: "ok"},
	}
}

const (
	lrm = "\u200e"
	rlm = "\u200f"
)

// stamp writes dates and times.
type stamp struct {
	layout string
	am, pm string
	zero   rune // the first of other digits
	years  int  // that the calendar is ahead
}

func (s stamp) format(t time.Time) string {
	layout := strings.NewReplacer("2006", "\x00", "06", "\x01").Replace(s.layout)
	year := t.Year() + s.years
	text := strings.NewReplacer("\x00", fmt.Sprint(year), "\x01", fmt.Sprintf("%02d", year%100), "AM", s.am, "PM", s.pm).Replace(t.Format(layout))
	if s.zero == 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return s.zero + r - '0'
		}
		return r
	}, text)
}

// Locale is the language and the region of a phone.
type Locale struct {
	Name            string
	android, iPhone stamp
	omitted         string // Android's mark for any file
	attached        string // Android's note after the name of a file
	image, document string // the iPhone's marks for files that were left out
	with            string // the iPhone's word before the name of a file
	deleted, edited string
	call            string
	notice          string
	mark            string // that the iPhone sets before the app's words; lrm by default
}

// Stamp returns a date and time as an app writes them.
func (l Locale) Stamp(p Platform, t time.Time) string {
	if p == Android {
		return l.android.format(t)
	}
	return l.iPhone.format(t)
}

// Text returns the text of a chat with or without its files.
func (l Locale) Text(p Platform, media bool, chat []Say) string {
	var b strings.Builder
	for _, say := range chat {
		if p == Android {
			b.WriteString(l.onAndroid(media, say) + "\n")
		} else {
			b.WriteString(l.onIPhone(media, say) + "\r\n")
		}
	}
	return b.String()
}

func (l Locale) onAndroid(media bool, say Say) string {
	head := l.android.format(say.At) + " - "
	if say.What == Notice {
		return head + l.notice
	}
	head += say.Who + ": "
	text := say.Text
	switch {
	case say.What == Deletes:
		return head + l.deleted
	case say.What == SendsOnce:
		return head + "null"
	case say.What == MissesCall:
		return head + l.call
	case say.What == SendsPlace:
		return head + "location: https://maps.google.com/?q=" + say.Text
	case say.File != "" && media && say.Data != nil:
		text = strings.TrimSuffix(lrm+say.File+" ("+l.attached+")\n"+text, "\n")
	case say.File != "":
		text = strings.TrimSuffix("<"+l.omitted+">\n"+text, "\n")
	}
	if say.Edited {
		text += " <" + l.edited + ">"
	}
	return head + text
}

func (l Locale) onIPhone(media bool, say Say) string {
	lrm := cmp.Or(l.mark, lrm)
	head := "[" + l.iPhone.format(say.At) + "] "
	if say.What == Notice {
		return lrm + head + "Weekend: " + lrm + l.notice
	}
	head += say.Who + ": "
	text := say.Text
	switch {
	case say.What == Deletes:
		return lrm + head + lrm + l.deleted + "."
	case say.What == SendsOnce:
		return head
	case say.What == MissesCall:
		return lrm + head + lrm + l.call + ". " + lrm + "…"
	case say.What == SendsPlace:
		return lrm + head + lrm + "Location: https://maps.google.com/?q=" + say.Text
	case say.File != "" && media && say.Data != nil:
		text = strings.TrimSpace(text + " " + lrm + "<" + l.with + ": " + say.File + ">")
		head = lrm + head
	case say.File != "" && strings.HasSuffix(say.File, ".pdf"):
		text = say.File[9:] + " • " + lrm + "3 pages " + lrm + l.document
		head = lrm + head
	case say.File != "":
		text = strings.TrimSpace(text + " " + lrm + l.image)
		head = lrm + head
	}
	if say.Edited {
		text += " " + lrm + "<" + l.edited + ">"
	}
	return head + text
}

// Zip returns the archive of a chat with its files.
func (l Locale) Zip(t testing.TB, p Platform, chat []Say) []byte {
	name := "WhatsApp Chat with Weekend.txt"
	if p == IPhone {
		name = "_chat.txt"
	}
	entries := []Entry{{Name: name, Data: []byte(l.Text(p, true, chat))}}
	for _, say := range chat {
		if say.Data != nil {
			file := say.File
			if p == IPhone {
				file = norm.NFD.String(file) // as its file system does
			}
			entries = append(entries, Entry{Name: file, Data: say.Data})
		}
	}
	return Zip(t, entries...)
}

// Entry is a file in a zip.
type Entry struct {
	Name   string
	Data   []byte
	Change func(*zip.FileHeader)
}

// Zip returns an archive.
func Zip(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, entry := range entries {
		header := &zip.FileHeader{Name: entry.Name, Method: zip.Deflate}
		if entry.Change != nil {
			entry.Change(header)
		}
		f, err := w.CreateHeader(header)
		if err == nil {
			_, err = f.Write(entry.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
