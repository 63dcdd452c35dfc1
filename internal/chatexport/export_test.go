package chatexport

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
)

var (
	limits = Limits{File: 1 << 20, Sum: 8 << 20}
	now    = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
)

// talk is a chat with all that there is.
func talk(p exporttest.Platform) []exporttest.Say { return exporttest.Talk(p) }

// readAll reads an export in UTC.
func readAll(t *testing.T, export []byte, o Options) ([]Message, Notes) {
	t.Helper()
	a, err := Open(bytes.NewReader(export), int64(len(export)), limits)
	if err != nil {
		t.Fatal(err)
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Now.IsZero() {
		o.Now = now
	}
	if err := a.DetectFormat(o); err != nil {
		t.Fatal(err)
	}
	var notes Notes
	messages := []Message{}
	for m, err := range a.Messages(&notes) {
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	return messages, notes
}

// TestMessages_OfAllLanguages reads the same chat as phones of all languages export it, with
// its files and without.
func TestMessages_OfAllLanguages(t *testing.T) {
	for _, locale := range exporttest.Locales {
		for _, p := range exporttest.Platforms {
			for _, media := range []bool{true, false} {
				name := locale.Name + " on " + string(p)
				export := locale.Zip(t, p, talk(p))
				if !media {
					name += " without files"
					export = []byte(locale.Text(p, false, talk(p)))
				}
				t.Run(name, func(t *testing.T) {
					got, notes := readAll(t, export, Options{})
					if diff := cmp.Diff(expected(p, media), withoutLines(got, p)); diff != "" {
						t.Errorf("(-want +got)\n%s\n%s", diff, locale.Text(p, media, talk(p)))
					}
					if notes.System != 1 || len(notes.Warnings) > 0 {
						t.Errorf("notes: %+v", notes)
					}
				})
			}
		}
	}
}

// expected returns the messages of talk.
func expected(p exporttest.Platform, media bool) (messages []Message) {
	for _, say := range talk(p) {
		m := Message{At: say.At, Sender: say.Who, Text: say.Text, Edited: say.Edited}
		switch {
		case say.What == exporttest.Notice:
			continue
		case say.What == exporttest.Deletes:
			m.Kind = Deleted
		case say.What == exporttest.SendsOnce:
			m.Kind = ViewOnce
		case say.What == exporttest.SendsPlace:
			m.Kind, m.Text, m.Place = Location, "", &bridge.Place{Latitude: 52.5163, Longitude: 13.3777, URL: "https://maps.google.com/?q=" + say.Text}
		case say.File != "" && media:
			m.Kind, m.File, m.Name, m.Type = Attached, say.File, say.File, bridge.MediaImage
			if strings.HasSuffix(say.File, ".pdf") {
				m.Type = bridge.MediaDocument
			}
			if p == exporttest.IPhone {
				m.Name = say.File[9:]
			}
		case say.File != "" && p == exporttest.Android:
			m.Kind = Omitted
		case strings.HasSuffix(say.File, ".pdf"):
			m.Kind, m.Type, m.Name = Omitted, bridge.MediaDocument, say.File[9:]
		case say.File != "":
			m.Kind, m.Type = Omitted, bridge.MediaImage
		}
		messages = append(messages, m)
	}
	return messages
}

// withoutLines takes out what differs between languages, and the seconds that Android does
// not write.
func withoutLines(messages []Message, p exporttest.Platform) []Message {
	wanted := expected(p, false)
	for i := range messages {
		m := &messages[i]
		m.Line = 0
		if p == exporttest.Android && i < len(wanted) && m.At.Equal(wanted[i].At.Truncate(time.Minute)) {
			m.At = wanted[i].At
		}
		if i == 7 { // the call is in the app's words
			m.Text = ""
		}
	}
	return messages
}
