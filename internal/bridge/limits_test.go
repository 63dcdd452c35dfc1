package bridge

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBounded_EveryLimit sends each field what a stranger could put into it.
func TestBounded_EveryLimit(t *testing.T) {
	long := strings.Repeat("ä", 1<<17)
	media := func(m Media) Message { return Message{Media: &m} }
	parts := func(p Parts) Message { return Message{Parts: p} }
	contacts := func(n int) []SharedContact {
		list := make([]SharedContact, n)
		for i := range list {
			list[i].Phones, list[i].Emails = []SharedPhone{}, []string{}
		}
		return list
	}
	cards := func(card string, n int) []SharedContact {
		list := contacts(n)
		for i := range list {
			list[i].VCard = card
		}
		return list
	}
	shown := func(m Media) Message {
		if m.MimeType == "" {
			m.MimeType = UnknownMIMEType
		}
		return media(m)
	}
	for name, test := range map[string]struct{ given, want Fact }{
		"content":            {Message{Content: long}, Message{Content: long[:2*MaxContent]}},
		"content no text":    {Message{Content: "a\xffb"}, Message{Content: "a\uFFFDb"}},
		"control characters": {Message{Content: "a\x00\x1b[2Jb"}, Message{Content: "a\x00\x1b[2Jb"}},
		"message type":       {Message{MessageType: long}, Message{MessageType: long[:2*maxName]}},
		"push name":          {Message{PushName: long}, Message{PushName: long[:2*maxName]}},
		"size negative":      {media(Media{Size: -1}), shown(Media{})},
		"size of 2 GiB":      {media(Media{Size: 2 << 30}), shown(Media{Size: 2 << 30})},
		"size beyond 2 GiB":  {media(Media{Size: 2<<30 + 1}), shown(Media{})},
		"caption":            {media(Media{Caption: long}), shown(Media{Caption: long[:2*MaxContent]})},
		"mimetype":           {media(Media{MimeType: "audio/ogg; codecs=opus"}), media(Media{MimeType: "audio/ogg; codecs=opus"})},
		"mimetype missing":   {media(Media{}), media(Media{MimeType: UnknownMIMEType})},
		"mimetype too long":  {media(Media{MimeType: "a/" + strings.Repeat("b", 254)}), shown(Media{})},
		"mimetype half":      {media(Media{MimeType: "image"}), shown(Media{})},
		"mimetype two lines": {media(Media{MimeType: "image/png\r\nX-Evil: 1"}), shown(Media{})},
		"mimetype's params":  {media(Media{MimeType: "image/png; a=\n"}), shown(Media{})},
		"mimetype not ASCII": {media(Media{MimeType: "bild/pñg"}), shown(Media{})},
		"file name":          {media(Media{FileName: long + ".pdf"}), shown(Media{FileName: long[:2*(maxName-4)] + ".pdf"})},
		"file name no dot":   {media(Media{FileName: long}), shown(Media{FileName: long[:2*maxName]})},
		"file name hides":    {media(Media{FileName: "invoice\u202Efdp.exe\r\n\x00"}), shown(Media{FileName: "invoicefdp.exe"})},
		"duration":           {media(Media{DurationSec: 1 << 31}), shown(Media{})},
		"duration negative":  {media(Media{DurationSec: -5}), shown(Media{})},
		"width and height":   {media(Media{Width: 1 << 31, Height: -1}), shown(Media{})},
		"pages":              {media(Media{Pages: 1 << 31}), shown(Media{})},
		"keys": {
			media(Media{Ref: MediaRef{MediaKey: make([]byte, 65), FileSHA256: make([]byte, 65), FileEncSHA256: make([]byte, 32)}}),
			shown(Media{Ref: MediaRef{FileEncSHA256: make([]byte, 32)}}),
		},
		"direct path":     {media(Media{Ref: MediaRef{DirectPath: "/" + long}}), shown(Media{})},
		"poll's question": {Message{Poll: &PollTally{Name: long, Options: []PollOption{}}}, Message{Poll: &PollTally{Name: long[:2*MaxContent], Options: []PollOption{}}}},
		"poll's options": {
			Message{Poll: &PollTally{Options: make([]PollOption, 10_000), SelectableCount: 10_000}},
			Message{Poll: &PollTally{Options: make([]PollOption, maxOptions)}},
		},
		"poll's option": {
			Message{Poll: &PollTally{Options: []PollOption{{Name: long}}, SelectableCount: 1}},
			Message{Poll: &PollTally{Options: []PollOption{{Name: long[:2*maxOption]}}, SelectableCount: 1}},
		},
		"mentions": {
			Message{ContextInfo: &ContextInfo{MentionedJID: make([]JID, 65_536)}},
			Message{ContextInfo: &ContextInfo{MentionedJID: make([]JID, maxMentions)}},
		},
		"reaction": {ReactionChange{Emoji: strings.Repeat("👍", 1<<14)}, ReactionChange{Emoji: strings.Repeat("👍", maxEmoji)}},
		"votes": {
			PollVote{Hashes: append([][]byte{{1}}, slicesOf(10_000, 32)...)},
			PollVote{Hashes: slicesOf(maxOptions, 32)},
		},
		"names": {
			Contact{Name: &long, PushName: &long, BusinessName: &long},
			Contact{Name: ptr(long[:2*maxName]), PushName: ptr(long[:2*maxName]), BusinessName: ptr(long[:2*maxName])},
		},
		"group": {
			Group{Name: long, Topic: long, Participants: []Participant{{DisplayName: long}}},
			Group{Name: long[:2*maxName], Topic: long[:2*maxTopic], Participants: []Participant{{DisplayName: long[:2*maxName]}}},
		},
		"group change": {
			GroupChange{Name: &long, Topic: &long, Joined: []Participant{{DisplayName: long}}},
			GroupChange{Name: ptr(long[:2*maxName]), Topic: ptr(long[:2*maxTopic]), Joined: []Participant{{DisplayName: long[:2*maxName]}}},
		},
		"edit": {
			Edit{New: Message{Content: long}, Upload: &Message{Content: long}},
			Edit{New: Message{Content: long[:2*MaxContent]}, Upload: &Message{Content: long[:2*MaxContent]}},
		},
		"new place": {MediaMoved{DirectPath: "/" + long}, MediaMoved{}},
		"place":     {parts(Parts{Location: &Place{Latitude: math.NaN()}}), Message{}},
		"place too far": {
			parts(Parts{Location: &Place{Longitude: math.Inf(1)}, Event: &CalendarEvent{Name: long, Location: &Place{Latitude: 91}}}),
			parts(Parts{Event: &CalendarEvent{Name: long[:2*MaxContent]}}),
		},
		"place's texts": {
			parts(Parts{Location: &Place{Latitude: -90, Longitude: 180, Name: long, Address: long, URL: long}}),
			parts(Parts{Location: &Place{Latitude: -90, Longitude: 180, Name: long[:2*maxOption], Address: long[:2*maxTopic]}}),
		},
		"contacts": {parts(Parts{Contacts: make([]SharedContact, 1000)}), parts(Parts{Contacts: contacts(maxContacts)})},
		"contact": {
			parts(Parts{Contacts: []SharedContact{{DisplayName: long, VCard: long, Phones: make([]SharedPhone, 100), Emails: []string{long}}}}),
			parts(Parts{Contacts: []SharedContact{{DisplayName: long[:2*maxName], VCard: long[:2*MaxContent], Phones: make([]SharedPhone, maxPhones), Emails: []string{long[:2*maxName]}}}}),
		},
		"contacts' cards": {
			parts(Parts{Contacts: cards(long, maxContacts)}),
			parts(Parts{Contacts: append(cards(long[:2*MaxContent], maxVCards/(2*MaxContent)), contacts(maxContacts-maxVCards/(2*MaxContent))...)}),
		},
		"buttons": {
			parts(Parts{Interactive: &Interactive{Body: long, Buttons: make([]Button, 1000), Selected: &Choice{ID: long}}}),
			parts(Parts{Interactive: &Interactive{Body: long[:2*MaxContent], Buttons: make([]Button, maxButtons), Selected: &Choice{ID: long[:2*maxID]}}}),
		},
		"button": {
			parts(Parts{Interactive: &Interactive{Buttons: []Button{{ID: long, Text: long, URL: long, Phone: long}}}}),
			parts(Parts{Interactive: &Interactive{Buttons: []Button{{ID: long[:2*maxID], Text: long[:2*maxOption], Phone: long[:2*maxNumber]}}}}),
		},
		"invite":       {parts(Parts{GroupInvite: &GroupInvite{Name: long, Code: long}}), parts(Parts{GroupInvite: &GroupInvite{Name: long[:2*maxName], Code: long[:2*maxName]}})},
		"order":        {parts(Parts{Order: &ShopOrder{Title: long, ItemCount: -1, Currency: long}}), parts(Parts{Order: &ShopOrder{Title: long[:2*maxOption], Currency: long[:2*maxNumber]}})},
		"product":      {parts(Parts{Product: &Product{Description: long, URL: long}}), parts(Parts{Product: &Product{Description: long[:2*MaxContent]}})},
		"link preview": {parts(Parts{LinkPreview: &LinkPreview{URL: "https://\xff", Title: long}}), parts(Parts{LinkPreview: &LinkPreview{Title: long[:2*maxOption]}})},
		"referral": {
			parts(Parts{Referral: &Referral{
				SourceType: long, SourceID: long, SourceURL: long, Headline: long, Body: long, MediaType: long, Thumbnail: ptr(long),
				CTWAClid: long, EntryPoint: long, Payload: long, ConversionSource: long,
			}}),
			parts(Parts{Referral: &Referral{
				SourceType: long[:2*maxName], SourceID: long[:2*maxID], Headline: long[:2*maxOption], Body: long[:2*maxTopic], MediaType: long[:2*maxNumber],
				CTWAClid: long[:2*maxID], EntryPoint: long[:2*maxName], ConversionSource: long[:2*maxName],
			}}),
		},
		"album":            {parts(Parts{Album: &Album{Images: 1 << 31, Videos: -1}}), parts(Parts{Album: &Album{}})},
		"option of a poll": {PollOptionAdded{Name: long}, PollOptionAdded{Name: long[:2*maxOption]}},
		"guests":           {EventResponse{Guests: 1 << 31}, EventResponse{}},
		"raw is whole":     {Message{Raw: []byte(long)}, Message{Raw: []byte(long)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Bounded(test.given)
			if diff := cmp.Diff(test.want, got, sameTime); diff != "" {
				t.Error(diff)
			}
			if !reflect.DeepEqual(Bounded(got), got) {
				t.Error("a second time changes more")
			}
		})
	}
}

var sameTime = cmp.Comparer(func(a, b Time) bool { return a.Equal(b.Time) })

func ptr[T any](v T) *T { return &v }

func slicesOf(n, size int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = make([]byte, size)
	}
	return list
}

func TestCut_EndsBetweenSigns(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"hello", 5, "hello"},
		{"hello", 3, "hel"},
		{"ae\u0301b", 2, "a"},
		{"ae\u0301b", 3, "ae\u0301"},
		{"x👩‍👩‍👧", 4, "x"},
		{"x🙏🏾", 2, "x"},
		{"🇮🇹🇩🇪", 3, "🇮🇹"},
		{"🇮🇹🇩🇪", 1, "🇮"}, // never nothing: an empty reaction would be its removal
		{"a" + strings.Repeat("\u0301", 300), 255, "a" + strings.Repeat("\u0301", 254)},
		{"\xff\xffab", 1, "\uFFFD"},
	} {
		if got := cut(test.text, test.most); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.text, test.most, got, test.want)
		}
	}
}

func TestIsDirectPath(t *testing.T) {
	for path, want := range map[string]bool{
		"/v/t62.7118-24/1_n.enc?ccb=11-4&oh=01_Q5&_nc_sid=5e03e0": true, "/": true, "//host/x": true, "/o1/v/t24/f2/x?a=@b": true,
		"": false, "v/x": false, "@host/v/x": false, ":1@host/v/x": false, "https://host/v/x": false, ".evil.example/x": false, "x@host/v/x?a=b": false,
		"/v/x#y": false, "/v\\x": false, "/%zz": false, "/x\x00y": false, "/x\r\ny": false, "/\xff": false, "/" + strings.Repeat("x", maxDirectPath): false,
	} {
		if got := IsDirectPath(path); got != want {
			t.Errorf("%.40q: %v, want %v", path, got, want)
		}
	}
}
