package shell

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// noon is when the tests take place, in a zone of its own.
var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.FixedZone("there", 3*3600))

// onTerminal returns a shell on a terminal of so many columns; 0 is none.
func onTerminal(columns int) (*Shell, *bytes.Buffer) {
	var out bytes.Buffer
	return &Shell{Out: &out, Notes: &out, Width: columns, Now: func() time.Time { return noon }}, &out
}

func TestColumnsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "Grace": 5, "Žofie": 5, "Z\u030cofie": 5, "漢字": 4, "ﾊﾝｶｸ": 4, "각": 2, "\u1112\u1161\u11ab": 2,
		"👍": 2, "👍🏽": 2, "👩‍👧‍👦": 2, "שלום": 4, "a\u200db": 1,
	} {
		if got := columnsOf(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

func TestCut_FitsAndIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Grace Hopper", "漢字漢字漢字", "👩‍👧‍👦👩‍👧‍👦👩‍👧‍👦👩‍👧‍👦", strings.Repeat("e\u0301", 50), "o" + strings.Repeat("\u0301", 5000)} {
		for most := 2; most < 14; most++ {
			got := cut(text, most)
			if columnsOf(got) > most || len(got) > 20*most+8 {
				t.Errorf("%q in %d columns: %q", text, most, got)
			}
			if columnsOf(text) <= most && len(text) <= 16*most && got != text {
				t.Errorf("%q fits into %d columns, but is cut to %q", text, most, got)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		most int
		want []string
	}{
		"short":         {"one two", 20, []string{"one two"}},
		"at spaces":     {"one two three four", 9, []string{"one two", "three", "four"}},
		"long words":    {"abcdefghijkl", 5, []string{"abcde", "fghij", "kl"}},
		"wide":          {"漢字漢字漢", 5, []string{"漢字", "漢字", "漢"}},
		"its own lines": {"a\n\nb", 5, []string{"a", "", "b"}},
		"too narrow":    {"漢字", 1, []string{"漢字"}},
		"empty":         {"", 5, []string{""}},
	} {
		if diff := cmp.Diff(c.want, Wrap(c.text, c.most)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// A table fits its terminal, keeps its columns apart whatever is in them, and
// shows whole cells where there is no terminal.
func TestTable_FitsTheTerminal(t *testing.T) {
	t.Parallel()
	rows := func() [][]string {
		return [][]string{
			{"Grace Brewster Murray Hopper the First", "1@s.whatsapp.net", "a text\nof two lines that goes on and on until it is too long"},
			{"漢字", "2@s.whatsapp.net", "\x1b[31mred\x1b[0m \u202eturned"},
			{"שלום", "3@s.whatsapp.net", "12:30"},
		}
	}
	columns := []column{{title: "NAME", most: 20, flexible: true}, {title: "JID"}, {title: "MESSAGE", flexible: true}}
	s, out := onTerminal(60)
	if err := s.table(columns, rows()); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"NAME                  JID               MESSAGE\n" +
		"Grace Brewster Murr…  1@s.whatsapp.net  a text of two lines…\n" +
		"漢字                  2@s.whatsapp.net  \\x1b[31mred\\x1b[0m …\n" +
		leftToRight + "שלום" + leftToRight + "                  3@s.whatsapp.net  12:30\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("on a terminal: -want +got\n%s", diff)
	}
	s, out = onTerminal(0)
	if err := s.table(columns, rows()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "the First") || !strings.Contains(got, `\x1b[31mred\x1b[0m \u202eturned`) || !strings.Contains(got, "too long\n") ||
		strings.Contains(got, leftToRight) || strings.Count(got, "\n") != 4 {
		t.Errorf("in a file:\n%s", got)
	}
}

func TestMessages_WrapOnATerminal(t *testing.T) {
	t.Parallel()
	s, out := onTerminal(40)
	at := bridge.At(noon.Add(-time.Hour))
	emoji := bridge.MessageReaction{Emoji: "👍"}
	pending, edited := bridge.DeliveryPending, at
	list := []bridge.Message{
		{Timestamp: at, PushName: "Grace", Content: "one two three four five six\nseven", EditedAt: &edited, Reactions: []bridge.MessageReaction{emoji}},
		{Timestamp: at, FromMe: true, Status: &pending, MessageType: "imageMessage", Media: &bridge.Media{Type: "image"}},
		{Timestamp: at, PushName: "Grace", DeletedAt: &edited},
	}
	shown := func(yield func(shownMessage, error) bool) {
		for _, m := range list {
			yield(shownMessage{Message: m}, nil)
		}
	}
	if err := s.printMessages(shown, false); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"TIME   FROM   MESSAGE\n" +
		"11:00  Grace  one two three four five\n" +
		"              six\n" +
		"              seven (edited) [👍]\n" +
		"11:00  me     [image] (pending)\n" +
		"11:00  Grace  [deleted]\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestWhen(t *testing.T) {
	t.Parallel()
	terminal, _ := onTerminal(80)
	file, _ := onTerminal(0)
	for ago, want := range map[time.Duration]string{
		time.Hour: "11:00", 13 * time.Hour: "Fri 23:00", 30 * 24 * time.Hour: "22 Oct 12:00", 400 * 24 * time.Hour: "2025-10-17", -48 * time.Hour: "2026-11-23 12:00",
	} {
		at := bridge.At(noon.Add(-ago))
		if got := terminal.when(&at); got != want {
			t.Errorf("%s ago is %q, want %q", ago, got, want)
		}
	}
	at := bridge.At(noon)
	if got := file.when(&at); got != "2026-11-21 12:00:00" {
		t.Errorf("in a file: %q", got)
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	s, _ := onTerminal(80)
	for text, want := range map[string]time.Time{
		"90m": noon.Add(-90 * time.Minute), "3d": noon.AddDate(0, 0, -3), "2w": noon.AddDate(0, 0, -14),
		"2026-11-20": time.Date(2026, 11, 20, 0, 0, 0, 0, noon.Location()), "2026-11-20 08:15": time.Date(2026, 11, 20, 8, 15, 0, 0, noon.Location()),
		"08:15": time.Date(2026, 11, 21, 8, 15, 0, 0, noon.Location()), "2026-11-20T08:15:30Z": time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC),
	} {
		got, err := s.moment("--since", text)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, wrong := range []string{"yesterday", "-3h", "-2d", "3x", "2026-13-01", "25:00", "99999999d"} {
		var usage *UsageError
		if got, err := s.moment("--since", wrong); !errors.As(err, &usage) {
			t.Errorf("%s is %v, %v", wrong, got, err)
		}
	}
}

// JSON that goes to a terminal does nothing to it, and is the same JSON.
func TestPrintJSON_ActsOnNothing(t *testing.T) {
	t.Parallel()
	s, out := onTerminal(0)
	if err := s.printJSON(map[string]string{"text": "a\u009b31m\u202e<b>\u2066\x1b"}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `{"text":"a\u009b31m\u202e<b>\u2066\u001b"}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestColour_WhereItIsWanted(t *testing.T) {
	t.Parallel()
	s, _ := onTerminal(80)
	if got := s.styled(boldText, "x"); got != "x" {
		t.Errorf("without colour: %q", got)
	}
	s.Color = true
	if got := s.styled(boldText, "x"); got != boldText+"x"+asBefore {
		t.Errorf("with colour: %q", got)
	}
}

func TestExplain_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	limited := &client.Error{Status: http.StatusTooManyRequests, Code: bridge.CodeNewChatsLimited, Message: "no more new chats today", RetryAfter: 90 * time.Second}
	for err, hint := range map[error]string{
		limited: "try again in 1m30s",
		&client.Error{Status: http.StatusForbidden, Code: bridge.CodeSendDisabled, Message: "off"}: "start the bridge with ENABLE_SEND=true",
	} {
		var said *Error
		if got := Explain(err); !errors.As(got, &said) || said.Hint != hint || got.Error() != err.Error() {
			t.Errorf("%v: %+v", err, got)
		}
	}
	plain := errors.New("x")
	if Explain(plain) != plain || Explain(nil) != nil {
		t.Error("what is no answer of the API is changed")
	}
}
