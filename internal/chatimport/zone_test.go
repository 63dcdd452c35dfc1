package chatimport

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func anyZone(r *Request) { r.Zone = nil }

// Without a zone, texts that are stored already say it; otherwise the import asks, and stores nothing.
func TestImport_FindsTheTimeZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := time.Date(2025, 1, 13, 8, 0, 0, 0, time.UTC)
	live := func(id, text string, minutes int) bridge.Message {
		return bridge.Message{Chat: anna, ID: id, SenderJID: anna, MessageType: "conversation", Content: text, Timestamp: bridge.At(at.Add(time.Duration(minutes) * time.Minute)), Raw: []byte{1}}
	}
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")}, live("A", "shall we go hiking?", 0), live("B", "on Saturday", 5))
	export := []byte("13.01.25, 09:00 - Anna: before all\n13.01.25, 10:00 - Anna: shall we go hiking?\n13.01.25, 10:05 - Anna: on Saturday\n")
	dry := w.imports(export, into(anna), anyZone, func(r *Request) { r.DryRun = true })
	if dry.Timezone != "+02:00" || dry.TimezoneFrom != bridge.ZoneMatched || *dry.FirstAt != "2025-01-13T09:00:00+02:00" || *dry.LastAt != "2025-01-13T10:05:00+02:00" {
		t.Errorf("dry run: %+v", dry)
	}
	done := w.imports(export, into(anna), anyZone)
	if summary(done) != "1 imported, 2 duplicates, 0 media, 0 system" || done.Timezone != "+02:00" {
		t.Errorf("got %s in %s", summary(done), done.Timezone)
	}
	if m := w.messages(anna)[0]; !m.Timestamp.Equal(at.Add(-time.Hour)) {
		t.Errorf("the first message is of %v", m.Timestamp)
	}
	if again := w.imports(export, into(anna), anyZone); again.Imported != 0 || again.Timezone != "+02:00" {
		t.Errorf("again: %+v", again)
	}

	// Of nothing that is stored, the zone is unknown.
	before := w.shows()
	for name, call := range map[string]func() (bridge.Import, error){
		"a new chat": func() (bridge.Import, error) { return w.try(export, anyZone) },
		"a dry run":  func() (bridge.Import, error) { return w.try(export, anyZone, func(r *Request) { r.DryRun = true }) },
		"summer and winter": func() (bridge.Import, error) {
			return w.try([]byte(strings.Replace(string(export), "10:05", "09:05", 1)), into(anna), anyZone)
		},
		"other texts in chat": func() (bridge.Import, error) { return w.try([]byte("13.01.25, 10:00 - Anna: hm"), into(anna), anyZone) },
	} {
		if got, err := call(); bridge.CodeOf(err) != bridge.CodeAmbiguousTimezone || !strings.Contains(err.Error(), "timezone") {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	if diff := cmp.Diff(before, w.shows()); diff != "" {
		t.Error(diff)
	}

	w.Importer.o.Zone = time.FixedZone("Here", 3600)
	if got := w.imports(export, anyZone); got.Timezone != "Here" || got.TimezoneFrom != bridge.ZoneEnvironment {
		t.Errorf("by the environment: %+v", got)
	}
}

// A name with colons is one name wherever it is known from, and otherwise ends at the first colon.
func TestImport_NamesWithColons(t *testing.T) {
	t.Parallel()
	const dentist = bridge.JID("15550002222@s.whatsapp.net")
	android := []byte("13.01.25, 10:00 - Dr. Ruiz: Dentist: see you at 10:30\n13.01.25, 10:01 - Anna: note: bring it\n")
	iphone := []byte("[13.01.25, 10:00:00] Dr. Ruiz: Dentist: see you at 10:30\n[13.01.25, 10:01:00] Anna: note: bring it\n")
	for name, c := range map[string]struct {
		fact   bridge.Fact
		change func(*Request)
		want   string
	}{
		"the address book":      {fact: bridge.Contact{JID: dentist, Name: new("Dr. Ruiz: Dentist")}, want: "Dr. Ruiz: Dentist"},
		"in another case":       {fact: bridge.Contact{JID: dentist, Name: new("dr. ruiz: dentist")}, want: "Dr. Ruiz: Dentist"},
		"a push name":           {fact: bridge.Contact{JID: dentist, PushName: new("Dr. Ruiz: Dentist")}, want: "Dr. Ruiz: Dentist"},
		"names":                 {change: named("Dr. Ruiz: Dentist", dentist), want: "Dr. Ruiz: Dentist"},
		"the file's name":       {change: func(r *Request) { r.FileName = "WhatsApp Chat with Dr. Ruiz: Dentist.txt" }, want: "Dr. Ruiz: Dentist"},
		"a file without it":     {change: func(r *Request) { r.FileName = "WhatsApp Chat - Dr. Ruiz_ Dentist (1).zip" }, want: "Dr. Ruiz: Dentist"},
		"nobody":                {want: "Dr. Ruiz"},
		"a file of another":     {change: func(r *Request) { r.FileName = "WhatsApp Chat with Anna.txt" }, want: "Dr. Ruiz"},
		"whom one may not know": {fact: bridge.Contact{JID: dentist, Name: new("Dr. Ruiz: Dentist")}, change: func(r *Request) { r.Outsiders = outsider(dentist) }, want: "Dr. Ruiz"},
	} {
		for phone, export := range map[string][]byte{"Android": android, "iPhone": iphone} {
			t.Run(name+" on "+phone, func(t *testing.T) {
				w := newWorld(t)
				w.know(bridge.Owner{PN: me})
				if c.fact != nil {
					w.know(c.fact)
				}
				change := c.change
				if change == nil {
					change = func(*Request) {}
				}
				w.imports(export, change)
				got := w.messages(chatJID("Weekend"))
				text := "see you at 10:30"
				if c.want == "Dr. Ruiz" {
					text = "Dentist: " + text
				}
				if len(got) != 2 || got[0].Content != text || got[1].Content != "note: bring it" {
					t.Fatalf("messages: %+v", got)
				}
				isKnown := c.fact != nil || name == "names"
				if isKnown && c.want != "Dr. Ruiz" && name != "a push name" && got[0].SenderJID != dentist || !isKnown && got[0].PushName != c.want {
					t.Errorf("by %s, %q", got[0].SenderJID, got[0].PushName)
				}
			})
		}
	}
}

// outsider hides people from the caller.
func outsider(people ...bridge.JID) func(context.Context, ...bridge.JID) ([]bridge.JID, error) {
	return func(context.Context, ...bridge.JID) ([]bridge.JID, error) { return people, nil }
}
