package view

import (
	"html/template"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

func TestQuotedLine(t *testing.T) {
	for want, quoted := range map[string]bridge.Quoted{
		"plan.pdf":                 {MessageType: "documentMessage", FileName: "plan.pdf"},
		"Document":                 {MessageType: "documentMessage"},
		"Document: the plan":       {MessageType: "documentMessage", FileName: "plan.pdf", Content: "the\nplan"},
		"This message was deleted": {MessageType: "documentMessage", DeletedAt: &bridge.Time{}},
		"hello":                    {MessageType: "conversation", Content: "hello"},
	} {
		if got := QuotedLine(quoted); got != want {
			t.Errorf("%+v is shown as %q, want %q", quoted, got, want)
		}
	}
}

// Previews have no marks of formatting. Text that only looks like marks stays.
func TestPlainText_LeavesMarksOut(t *testing.T) {
	for text, want := range map[string]string{
		"*Packing* _list_:\n* ~Boots~\n- Water\n\n2. Walk\n> so\n```ssh camp```": "Packing list: Boots Water 2. Walk so ssh camp",
		"2 * 3 * 4 = 24": "2 * 3 * 4 = 24", "snake_case_name": "snake_case_name", "https://example.org/_a_": "https://example.org/_a_", "use `north`": "use north", "": "",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The kind of a file is the extension of its name, or its subtype.
func TestFileKind_NamesFiles(t *testing.T) {
	for _, c := range []struct{ name, kind, want string }{
		{"plan.pdf", "application/pdf", "PDF"}, {"plan", "application/pdf", "PDF"}, {"x.tar.gz", "application/gzip", "GZ"}, {"", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "File"}, {"a.b c", "", "File"},
	} {
		if got := fileKind(&bridge.Media{FileName: c.name, MimeType: c.kind}); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.name, c.kind, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int]string{0: "0:00", 7: "0:07", 75: "1:15", 3675: "1:01:15"} {
		if got := duration(seconds); got != want {
			t.Errorf("%d seconds are shown as %q, want %q", seconds, got, want)
		}
	}
}

// Phone numbers are easier to read and to compare in groups of digits.
func TestPhone_IsInGroups(t *testing.T) {
	for number, want := range map[string]string{
		"15551234567": "+1 555 123 4567", "447700900123": "+44 770 090 0123", "4915100000777": "+49 151 0000 0777", "4512345678": "+45 1234 5678", "79161234567": "+7 916 123 4567",
		"35312345678": "+353 1234 5678", "393331234567": "+39 333 123 4567", "5511987654321": "+55 119 8765 4321", "12": "+1 2", "99": "+99", "9": "+9",
	} {
		if got := Phone(bridge.PhoneJID(number)); got != want {
			t.Errorf("%s is shown as %q, want %q", number, got, want)
		}
	}
	if got := Phone("236395184570399@lid"); got != "Hidden number …0399" {
		t.Errorf("a hidden number is shown as %q", got)
	}
}

// Times are relative to the visitor's day, on their own and within sentences.
func TestClock_NamesDays(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) // a Saturday
	c := Clock{Zone: time.FixedZone("", 3600), Now: now}
	for _, test := range []struct {
		at                    time.Time
		own, sentence, inList string
	}{
		{now, "Today, 13:00", "today at 13:00", "13:00"},
		{now.Add(-13 * time.Hour), "Today, 00:00", "today at 00:00", "00:00"},
		{now.Add(-14 * time.Hour), "Yesterday, 23:00", "yesterday at 23:00", "Yesterday"},
		{now.Add(11 * time.Hour), "Tomorrow, 00:00", "tomorrow at 00:00", "Tomorrow"},
		{now.AddDate(0, 0, -6), "Sunday, 13:00", "Sunday at 13:00", "Sunday"},
		{now.AddDate(0, 0, 6), "Friday, 13:00", "Friday at 13:00", "Friday"},
		{now.AddDate(0, 0, -7), "14 Nov, 13:00", "14 November at 13:00", "14 Nov"},
		{now.AddDate(-1, 0, 0), "21 Nov 2025, 13:00", "21 November 2025 at 13:00", "21 Nov 2025"},
	} {
		at := bridge.At(test.at)
		for got, want := range map[template.HTML]string{c.on(at): test.own, c.at(at): test.sentence, c.when(&at): test.inList} {
			if !strings.HasSuffix(string(got), ">"+want+"</time>") || !strings.Contains(string(got), ` title="`+test.at.In(c.Zone).Format("Monday, 2 January 2006, 15:04:05")) {
				t.Errorf("%v is shown as %s, want %q", test.at, got, want)
			}
		}
	}
}

// The row of a chat says the same of its newest message as the message's bubble.
func TestLastLine(t *testing.T) {
	t.Parallel()
	file := func(of bridge.LastMedia) *bridge.LastMedia { return &of }
	for want, m := range map[string]bridge.LastMessage{
		"View-once message. Open it on the phone.": {MessageType: bridge.TypeUndecryptable, ViewOnce: true},
		"View-once photo. Open it on the phone.":   {MessageType: "imageMessage", ViewOnce: true, Content: "only once"},
		"Waiting for this message":                 {MessageType: bridge.TypeUndecryptable},
		"Voice note":                               {MessageType: "audioMessage", Media: file(bridge.LastMedia{Type: bridge.MediaAudio, PTT: true})},
		"Audio":                                    {MessageType: "audioMessage", Media: file(bridge.LastMedia{Type: bridge.MediaAudio})},
		"GIF":                                      {MessageType: "videoMessage", Media: file(bridge.LastMedia{Type: bridge.MediaVideo, GIF: true})},
		"plan.pdf":                                 {MessageType: "documentMessage", Media: file(bridge.LastMedia{Type: bridge.MediaDocument, FileName: "plan.pdf"})},
		"the plan":                                 {MessageType: "documentMessage", Content: "the plan", Media: file(bridge.LastMedia{Type: bridge.MediaDocument, FileName: "plan.pdf"})},
		"Document":                                 {MessageType: "documentMessage"},
		"Event":                                    {MessageType: "eventMessage"},
		deletedText:                                {MessageType: "imageMessage", ViewOnce: true, DeletedAt: new(bridge.Time)},
	} {
		if got := lastLine(m); got != want {
			t.Errorf("%+v is %q, want %q", m, got, want)
		}
	}
}
