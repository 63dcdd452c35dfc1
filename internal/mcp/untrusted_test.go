package mcp

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

func TestVisible_NothingActs(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ntext\twith 🧑\u200d🔧 and فارسی\u200cزبان": "plain\ntext\twith 🧑\u200d🔧 and فارسی\u200cزبان",
		"left\u202eright":                 "left[U+202E]right",
		"\u2066isolated\u2069":            "[U+2066]isolated[U+2069]",
		"\x1b[2Jcleared\r":                "[U+001B][2Jcleared[U+000D]",
		"tag \U000e0041\U000e007f":        "tag [U+E0041][U+E007F]",
		"\ufeffmark and \u200bzero width": "[U+FEFF]mark and [U+200B]zero width",
		"\u0085next line":                 "[U+0085]next line",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestMessageOf_IsBounded(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	m := bridge.Message{
		ID: long, PushName: long, MessageType: long, Content: long, Timestamp: bridge.At(time.Unix(0, 0)),
		Media: &bridge.Media{FileName: long, MimeType: long},
	}
	for range 1000 {
		m.Reactions = append(m.Reactions, bridge.MessageReaction{Emoji: long})
	}
	text, err := answer{"untrusted": messageOf(m, maxShort)}.text()
	if err != nil {
		t.Fatal(err)
	}
	if count := utf8.RuneCountInString(text); count > maxShort+26*(maxName+100) {
		t.Errorf("one message takes %d characters", count)
	}
	if !strings.Contains(text, "[98000 more characters]") {
		t.Error("it is not said that something is left out")
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202eb\x00")
	f.Fuzz(func(t *testing.T, s string) {
		fuzzbudget.Usual.Check(t, len(s), func() {
			got := visible(s)
			acts := func(r rune) bool {
				return r < ' ' && r != '\n' && r != '\t' || r >= 0x80 && r < 0xa0 || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
			}
			if strings.ContainsFunc(got, acts) {
				t.Errorf("%q", got)
			}
		})
	})
}
