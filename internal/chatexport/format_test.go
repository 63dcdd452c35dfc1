package chatexport

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
)

// detectText returns how a text is written.
func detectText(text string, o Options) (format, error) {
	if o.Now.IsZero() {
		o.Now = now
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	s, err := detect(strings.NewReader(text), o)
	if err != nil {
		return format{}, err
	}
	return s.format()
}

// TestFormat_FindsTheOrderInTheWholeText in which single dates could be read in any way.
func TestFormat_FindsTheOrderInTheWholeText(t *testing.T) {
	for name, test := range map[string]struct {
		dates string
		want  Order
	}{
		"a day beyond twelve, late":          {"1/2/25 1/3/25 2/3/25 13/3/25", DMY},
		"a month cannot be beyond twelve":    {"1/2/25 1/3/25 2/3/25 2/13/25", MDY},
		"steps backwards":                    {"1/12/24 2/1/25 3/1/25 1/2/25 2/2/25 1/3/25", DMY},
		"steps backwards the other way":      {"12/1/24 1/2/25 1/3/25 2/1/25 2/2/25 3/1/25", MDY},
		"the notice at the top is younger":   {"9/10/25 1/2/25 1/3/25 13/3/25 2/4/25", DMY},
		"some messages came late":            {"1/13/25 1/12/25 1/14/25 2/1/25 1/31/25 2/2/25", MDY},
		"dates in the future":                {"1/9/26 12/9/26", DMY},
		"dates in the future the other way":  {"9/1/26 9/12/26 10/1/26", MDY},
		"the year first":                     {"2025/1/2 2025/2/3", YMD},
		"a year of two digits first":         {"23-12-30 24-01-02 25-02-01 25-03-01", YMD},
		"dots have one order":                {"01.02.25 02.02.25", DMY},
		"a day that is also its month":       {"1/1/25 2/2/25 3/3/25", DMY},
		"years of two digits after a stroke": {"10/11/25 11/11/25 13/11/25", DMY},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := detectText(strings.ReplaceAll(test.dates, " ", ", 10:00 - Anna: Hi\n")+", 10:00 - Anna: Hi", Options{})
			if err != nil || f.order != test.want {
				t.Errorf("got %s, %v, want %s", f.order, err, test.want)
			}
		})
	}
}

func TestFormat_TwoOrdersFit(t *testing.T) {
	_, err := detectText("1/2/25, 10:00 - Anna: Hi\n1/2/25, 10:05 - Bob: Hi\n2/2/25, 9:00 - Anna: Hi\n3/2/25, 9:00 - Anna: Hi\n4/2/25, 9:00 - Anna: Hi", Options{})
	var ambiguous *Ambiguous
	if !errors.As(err, &ambiguous) {
		t.Fatalf("got %v", err)
	}
	want := &Ambiguous{Orders: []Order{DMY, MDY}, Examples: []Example{
		{Text: "1/2/25, 10:00", Reads: map[Order]string{DMY: "2025-02-01", MDY: "2025-01-02"}},
		{Text: "1/2/25, 10:05", Reads: map[Order]string{DMY: "2025-02-01", MDY: "2025-01-02"}},
		{Text: "3/2/25, 9:00", Reads: map[Order]string{DMY: "2025-02-03", MDY: "2025-03-02"}},
	}}
	if diff := cmp.Diff(want, ambiguous); diff != "" {
		t.Error(diff)
	}
	_, err = detectText("1/2/67, 10:00 - Anna: Hi\n2/2/67, 9:00 - Anna: Hi", Options{})
	if !errors.As(err, &ambiguous) || ambiguous.Examples[0].Reads[DMY] != "2024-02-01" {
		t.Errorf("of the Buddhist calendar: got %v %+v", err, ambiguous)
	}
	for _, order := range want.Orders {
		f, err := detectText("1/2/25, 10:00 - Anna: Hi\n2/2/25, 9:00 - Anna: Hi", Options{Order: order})
		if err != nil || f.order != order {
			t.Errorf("told %s: got %s, %v", order, f.order, err)
		}
	}
}

func TestFormat_DatesThatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"the Islamic calendar":         "15/7/1446, 10:00 - Anna: Hi",
		"the Islamic calendar, era":    "[١٥/٧/١٤٤٦ هـ، ١٠:٠٠:٠٠ ص] Anna: Hi",
		"the Persian calendar":         "۱۴۰۳/۱۰/۲۶، ۹:۴۱ - Anna: Hi",
		"the Persian one, short years": "99/10/26, 9:41 - Anna: Hi\n99/10/27, 9:41 - Anna: Hi",
		"the Hebrew calendar":          "3.5.5785, 10:00 - Anna: Hi",
		"months beyond twelve":         "45/45/25, 10:00 - Anna: Hi\n46/46/25, 10:00 - Anna: Hi",
		"words without an order":       "1/2/25, 9:41 blip - Anna: Hi\n2/2/25, 9:41 blop - Anna: Hi",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := detectText(text, Options{}); bridge.CodeOf(err) != bridge.CodeUnknownDates {
				t.Errorf("got %v", err)
			}
		})
	}
	for text, want := range map[string]string{
		"13/2/25, 10:00 - Anna: Hi":   "choose DMY, or leave the order to be found out",
		"13-02-10, 10:00 - Anna: Hi":  "choose DMY or YMD, or leave the order to be found out",
		"45/45/25, 10:00 - Anna: Hi":  "Set the phone to the Gregorian calendar",
		"15/7/1446, 10:00 - Anna: Hi": "Set the phone to the Gregorian calendar",
	} {
		if _, err := detectText(text, Options{Order: MDY}); bridge.CodeOf(err) != bridge.CodeUnknownDates || !strings.Contains(err.Error(), want) {
			t.Errorf("%s in an order that does not fit: got %v", text, err)
		}
	}
	unusual := "03/01/23, 10:00 - Anna: Hi\n15/01/23, 10:00 - Anna: Hi\n28/02/23, 10:00 - Anna: Hi\n01/03/23, 10:00 - Anna: Hi"
	if _, err := detectText(unusual, Options{Order: YMD}); bridge.CodeOf(err) != bridge.CodeUnknownDates || !strings.Contains(err.Error(), "choose DMY") {
		t.Errorf("the year first, with strokes: got %v", err)
	}
	if _, err := detectText("Dear diary,\ntoday 1/2/25 nothing happened", Options{}); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("a text that is no chat: got %v", err)
	}
}

// TestMessages_InTheForms of former years and of heads with all that stands in them.
func TestMessages_InTheForms(t *testing.T) {
	for line, want := range map[string]time.Time{
		"24/12/2012 17:03:48: Anna: Hi":                           time.Date(2012, 12, 24, 17, 3, 48, 0, time.UTC),
		"3/24/14, 1:59:59 PM: Anna: Hi":                           time.Date(2014, 3, 24, 13, 59, 59, 0, time.UTC),
		"2018년 1월 15일 오후 9:41, Anna : Hi":                         time.Date(2018, 1, 15, 21, 41, 0, 0, time.UTC),
		"24.12.18 um 17:03 - Anna: Hi":                            time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
		"24/12/2018 à 17 h 03 - Anna\u00a0: Hi":                   time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
		"\ufeff[24.12.18, 17:03:01] Anna: Hi":                     time.Date(2018, 12, 24, 17, 3, 1, 0, time.UTC),
		"\u200e[12/24/18, 12:00:01\u202fAM] ~\u00a0Anna: Hi":      time.Date(2018, 12, 24, 0, 0, 1, 0, time.UTC),
		"12/24/18, 12:00 p.m. - \u202aAnna\u202c: Hi":             time.Date(2018, 12, 24, 12, 0, 0, 0, time.UTC),
		"24/12/18, 24:00 - Anna: Hi":                              time.Date(2018, 12, 24, 0, 0, 0, 0, time.UTC),
		"2018/12/24 上午12:05 - Anna: Hi":                           time.Date(2018, 12, 24, 0, 5, 0, 0, time.UTC),
		"2018/12/24 中午12:05 - Anna: Hi":                           time.Date(2018, 12, 24, 12, 5, 0, 0, time.UTC),
		"2018/12/24 晚上9:05 - Anna: Hi":                            time.Date(2018, 12, 24, 21, 5, 0, 0, time.UTC),
		"24/12/2561 17:03 - Anna: Hi":                             time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
		"[西元2018年12月24日 17:03:04] Anna: Hi":                       time.Date(2018, 12, 24, 17, 3, 4, 0, time.UTC),
		"[2018/12/24 午後5:03:04] Anna: Hi":                         time.Date(2018, 12, 24, 17, 3, 4, 0, time.UTC),
		"5:03 CH, 24/12/2018 - Anna: Hi":                          time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
		"17.03 24.12.2018 - Anna: Hi":                             time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
		"[17.03.04 24.12.2018] Anna: Hi":                          time.Date(2018, 12, 24, 17, 3, 4, 0, time.UTC),
		"२४/१२/१८, ५:०३ अपराह्न - Anna: Hi":                       time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
		"24/12/18, 5:03\u202fe pasdites - Anna: Hi":               time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
		"\u200f[٢٤\u200f/١٢\u200f/٢٠١٨، ٥:٠٣:٠٤\u00a0م] Anna: Hi": time.Date(2018, 12, 24, 17, 3, 4, 0, time.UTC),
		"24. 12. 18, 17:03 - Anna: Hi":                            time.Date(2018, 12, 24, 17, 3, 0, 0, time.UTC),
	} {
		t.Run(line, func(t *testing.T) {
			got, notes := readAll(t, []byte(line), Options{})
			if diff := cmp.Diff([]Message{{Line: 1, At: want, Sender: "Anna", Text: "Hi"}}, got); diff != "" || len(notes.Warnings) > 0 {
				t.Errorf("%s %+v", diff, notes.Warnings)
			}
		})
	}
}

// TestMessages_OfOldKoreanPhones have no dash, and notices nothing but a comma.
func TestMessages_OfOldKoreanPhones(t *testing.T) {
	got, notes := readAll(t, []byte(strings.Join([]string{
		"2018년 1월 15일 오후 9:40, 영희님이 들어왔습니다",
		"2018년 1월 15일 오후 9:41, Anna : Hi",
		"2018년 1월 15일, 좋은 날",
		"2018. 1. 15. 오후 9:41, and so on",
		"2018년 1월 15일 오후 9:42, 영희님이 나갔습니다",
	}, "\n")), Options{})
	if len(got) != 1 || got[0].Text != "Hi\n2018년 1월 15일, 좋은 날\n2018. 1. 15. 오후 9:41, and so on" || notes.System != 2 || len(notes.Warnings) > 0 {
		t.Errorf("%+v %+v", got, notes)
	}
}

// TestMessages_WithoutAHead: what people write begins no message.
func TestMessages_WithoutAHead(t *testing.T) {
	for _, line := range []string{
		"10:30", "1/2/25", "1/2/25 - party", "meet at 10:30 - Anna: ok", "1.2.3.4.5: an address", "555-123-4567 10:00 - call me: now",
		"[1/2/25]", "[link](http://10.20.30.40:50)", "1/2/25, 25:00 - Anna: Hi", "1/2/25, 10:61 - Anna: Hi", "1/2/25, 10:1 - Anna: Hi",
		"12345/1/2, 10:00 - Anna: Hi", "1/2/25, 10:00, or later: maybe", "10:00", "", "-", "[", "]", "年", "1/2/25, 10:00 and then it happened that - Anna: Hi",
	} {
		if h, ok := prefixOf(line); ok {
			t.Errorf("%q begins a message: %+v", line, h)
		}
	}
}

// TestMessages_TheHourThatComesTwice is the first, and the one that is left out the next.
func TestMessages_TheHourThatComesTwice(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := readAll(t, []byte("[25.10.26, 02:30:00] Anna: twice\n[29.03.26, 02:30:00] Anna: never"), Options{Zone: berlin})
	want := []time.Time{time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)}
	for i := range want {
		if !got[i].At.Equal(want[i]) {
			t.Errorf("%s is at %v, want %v", got[i].Text, got[i].At.UTC(), want[i])
		}
	}
}

// TestMessages_TextsOfPeople are not taken for the app's, and the app's not for theirs.
func TestMessages_TextsOfPeople(t *testing.T) {
	got, notes := readAll(t, []byte(strings.Join([]string{
		"13/01/25, 10:00 - Anna: <3",
		"13/01/25, 10:00 - Anna: <html> is a tag",
		"13/01/25, 10:01 - Anna: we agreed on this (see above)",
		"13/01/25, 10:02 - Bob: look what Anna wrote:",
		"[12.01.25, 09:00:00] Anna: I am never late",
		"13/01/25, 10:03 - Bob: null and void",
		"13/01/25, 10:04 - Anna changed the group description to “Rules: none”",
		"13/01/25, 10:05 - Anna Amsel Work: my first message",
		"13/01/25, 10:05 - Anna changed who can write here: only admins",
		"13/01/25, 10:05 - Messages and calls are end-to-end encrypted and nobody can read them, learn more: https://example.com",
		"13/01/25, 10:05 - Bob left",
		"13/01/25, 10:06 - Anna: hello @\u2068Zoë\u2069",
		"13/01/25, 10:07 - Anna: <Media omitted>",
		"notes for tomorrow.pdf",
		"13/01/25, 10:08 - Anna: PTT-20250113-WA0007.opus (file attached)",
		"13/01/25, 10:08 - Anna: <View once voice message omitted>",
		"13/01/25, 10:08 - Anna: View once message omitted",
		"13/01/25, 10:08 - Anna: Zoë Doe.vcf (file attached)",
		"01/02/24, 10:09 - Anna: an old one",
		"13/13/25, 10:10 - Anna: no such month",
	}, "\n")), Options{})
	type short struct {
		Sender, Text, File string
		Kind               Kind
	}
	want := []short{
		{"Anna", "<3", "", Text},
		{"Anna", "<html> is a tag", "", Text},
		{"Anna", "we agreed on this (see above)", "", Text},
		{"Bob", "look what Anna wrote:\n[12.01.25, 09:00:00] Anna: I am never late", "", Text},
		{"Bob", "null and void", "", Text},
		{"Anna Amsel Work", "my first message", "", Text},
		{"Anna", "hello @Zoë", "", Text},
		{"Anna", "", "", Omitted},
		{"Anna", "", "PTT-20250113-WA0007.opus", Attached},
		{"Anna", "", "", ViewOnce},
		{"Anna", "View once message omitted", "", Text},
		{"Anna", "", "Zoë Doe.vcf", Attached}, // Android names it also without files
		{"Anna", "an old one\n13/13/25, 10:10 - Anna: no such month", "", Text},
	}
	var shorts []short
	for _, m := range got {
		shorts = append(shorts, short{m.Sender, m.Text, m.File, m.Kind})
	}
	if diff := cmp.Diff(want, shorts); diff != "" {
		t.Error(diff)
	}
	if m := got[7]; m.Name != "notes for tomorrow.pdf" || m.Type != bridge.MediaDocument {
		t.Errorf("the document that was left out: %+v", m)
	}
	if m := got[8]; !m.PTT || m.Type != bridge.MediaAudio {
		t.Errorf("the voice note: %+v", m)
	}
	if notes.System != 4 {
		t.Errorf("%d notices", notes.System)
	}
	wantDoubts := []Warning{
		{Line: 5, Text: "[12.01.25, 09:00:00] Anna: I am never late", Why: "it looks like a new message, but in another format than the others: added to the message above it"},
		{Line: 7, Text: "13/01/25, 10:04 - Anna changed the group description to “Rules: none”", Why: "the text before the colon is probably not a sender: treated as a notice of the app"},
		{Line: 9, Text: "13/01/25, 10:05 - Anna changed who can write here: only admins", Why: "the text before the colon is probably not a sender: treated as a notice of the app"},
		{Line: 10, Text: "13/01/25, 10:05 - Messages and calls are end-to-end encrypted and nobody can read them, learn more: https://example.com", Why: "the text before the colon is probably not a sender: treated as a notice of the app"},
		{Line: 19, Text: "01/02/24, 10:09 - Anna: an old one", Why: "it is more than a month older than the message above it"},
		{Line: 20, Text: "13/13/25, 10:10 - Anna: no such month", Why: "its date does not exist in the order DMY: added to the message above it"},
	}
	if diff := cmp.Diff(wantDoubts, notes.Warnings); diff != "" {
		t.Error(diff)
	}
}

// TestMessages_OfOtherTimes are doubtful themselves, and not what follows.
func TestMessages_OfOtherTimes(t *testing.T) {
	got, notes := readAll(t, []byte(strings.Join([]string{
		"13.02.24, 09:05 - Anna: Hi",
		"13.02.34, 09:06 - Bob: Hi",
		"13.02.34, 09:06 - Bob left",
		"13.02.24, 09:07 - Anna: Hi",
		"13.02.05, 09:06 - Bob: Hi",
		"13.02.05, 09:06 - Bob left",
		"13.02.24, 09:07 - Anna: Hi",
		"28.11.26, 09:07 - Anna: in a zone that is ahead",
	}, "\n")), Options{})
	want := []Warning{{Line: 2, Text: "13.02.34, 09:06 - Bob: Hi", Why: "its date is in the future"}, {Line: 5, Text: "13.02.05, 09:06 - Bob: Hi", Why: "its date is before the first release of the app"}}
	if diff := cmp.Diff(want, notes.Warnings); len(got) != 6 || diff != "" {
		t.Errorf("%d messages, %s", len(got), diff)
	}
}

// TestMessages_ALineOfColons takes no longer than another one of its length.
func TestMessages_ALineOfColons(t *testing.T) {
	for _, piece := range []string{"a:", "<a:"} {
		text := []byte("13/01/25, 10:00 - " + strings.Repeat(piece, maxLine/len(piece)) + "\n13/01/25, 10:01 - Anna: hello")
		budget.Check(t, len(text), func() {
			if got, notes := readAll(t, text, Options{}); len(got) != 1 || notes.System != 1 {
				t.Errorf("%d messages, %d notices", len(got), notes.System)
			}
		})
	}
}

// TestMessages_OnIPhones the app marks what it has written itself.
func TestMessages_OnIPhones(t *testing.T) {
	got, notes := readAll(t, []byte(strings.Join([]string{
		"[13.01.25, 10:00:00] Weekend: \u200eNachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.",
		"[13.01.25, 10:00:01] Weekend: \u200eAnna hat dich hinzugefügt.",
		"\u200e[13.01.25, 10:00:01] \u200eSichere Nachrichten: mehr erfahren",
		"[13.01.25, 10:00:02] Anna: Bild weggelassen",
		"\u200e[13.01.25, 10:00:03] Anna: a caption \u200eBild weggelassen",
		"\u200e[13.01.25, 10:00:04] Anna: \u200eUMFRAGE:\r\nPizza?\r\n\u200eOPTION: Ja (\u200e2 Stimmen)\r\n\u200eOPTION: Nein (\u200e0 Stimmen)",
		"\u200e[13.01.25, 10:00:05] Anna: \u200eSprachanruf, \u200e12 Min.",
		"\u200e[13.01.25, 10:00:06] Anna: \u200eetwas Unbekanntes",
		"[13.01.25, 10:00:07] Bob: text \u200e<etwas wurde getan>",
		"\u200e[13.01.25, 10:00:08] Bob: Plan.pdf • \u200e2 Seiten \u200e<Anhang: 00000012-Plan.pdf>",
		"[13.01.25, 10:00:09] Bob: 00000013-PHOTO-2025-01-13-10-00-09.jpg <\u200eattached>",
	}, "\r\n")), Options{})
	var texts []string
	for _, m := range got {
		texts = append(texts, m.Text)
	}
	want := []string{"", "a caption", "UMFRAGE:\nPizza?\nOPTION: Ja (2 Stimmen)\nOPTION: Nein (0 Stimmen)", "Sprachanruf, 12 Min.", "text", "", ""}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
	if got[0].Kind != Omitted || got[1].Kind != Omitted || !got[4].Edited || got[5].Name != "Plan.pdf" || got[5].File != "00000012-Plan.pdf" || got[6].Type != bridge.MediaImage {
		t.Errorf("%+v", got)
	}
	if notes.System != 4 || len(notes.Warnings) != 2 || notes.Warnings[0].Line != 3 || notes.Warnings[1].Line != 11 {
		t.Errorf("notes: %+v", notes)
	}
}

// TestMessages_FromRightToLeft: the mark of the direction is the app's, and people's.
func TestMessages_FromRightToLeft(t *testing.T) {
	got, notes := readAll(t, []byte("\u200f[١٥\u200f/٩\u200f/٢٠٢٥، ٨:٤٦:٠٠ م] العائلة: \u200fالرسائل والمكالمات مشفرة\n"+
		"\u200f[١٥\u200f/٩\u200f/٢٠٢٥، ٨:٤٦:٠١ م] دانة: مرحبا\n\u200f[١٥\u200f/٩\u200f/٢٠٢٥، ٨:٤٦:٠٢ م] دانة: \u200fكيف الحال؟\n"+
		"\u200f[١٥\u200f/٩\u200f/٢٠٢٥، ٨:٤٦:٠٣ م] دانة: \u200fدانة غادرت\n\u200f[١٥\u200f/٩\u200f/٢٠٢٥، ٨:٤٦:٠٤ م] دانة: \u200fتم استبعاد الصورة"), Options{})
	if len(got) != 3 || got[1].Text != "كيف الحال؟" || got[2].Kind != Omitted || got[2].Type != bridge.MediaImage || notes.System != 2 {
		t.Errorf("%+v %+v", got, notes)
	}
}

// FuzzMessages reads any text within a budget. Whatever it is, each message has a sender and a
// time, and its line is behind that of the one before.
func FuzzMessages(f *testing.F) {
	for _, locale := range exporttest.Locales {
		for _, p := range exporttest.Platforms {
			f.Add(locale.Text(p, true, talk(p)))
		}
	}
	f.Add("1/2/25, 10:00 - Anna: Hi\n2/2/25, 10:00 - Anna: <x> (y)\n\u200e<: .a>")
	f.Fuzz(func(t *testing.T, text string) {
		budget.Check(t, len(text), func() {
			shape, err := detectText(text, Options{})
			var ambiguous *Ambiguous
			if errors.As(err, &ambiguous) {
				shape, err = detectText(text, Options{Order: ambiguous.Orders[0]})
			}
			if err != nil {
				return
			}
			var notes Notes
			last := 0
			for m, err := range shape.messages(strings.NewReader(text), func(string) bool { return len(text)%2 == 0 }, &notes) {
				if err != nil || m.Sender == "" || m.At.IsZero() || m.Line <= last {
					t.Fatalf("%v: %+v", err, m)
				}
				last = m.Line
			}
		})
	})
}
