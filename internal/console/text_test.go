package console

import (
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// shown writes spans with their marks in brackets.
func shown(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		switch {
		case s.Link != "":
			fmt.Fprintf(&b, "[link %s]", s.Link)
		case s.Person != "":
			fmt.Fprintf(&b, "[who %s]", s.Text)
		case s.Bold:
			fmt.Fprintf(&b, "[b %s]", s.Text)
		case s.Italic:
			fmt.Fprintf(&b, "[i %s]", s.Text)
		case s.Strike:
			fmt.Fprintf(&b, "[s %s]", s.Text)
		case s.Code:
			fmt.Fprintf(&b, "[code %s]", s.Text)
		default:
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func TestText_MarksAsInTheApps(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "": "", "a *bold* word": "a [b bold] word", "_it_ ~no~ `x`": "[i it] [s no] [code x]",
		"```one\ntwo```": "[code one\ntwo]", "2*3*4": "2*3*4", "* a *": "* a *", "*a\nb*": "*a\nb*", "**": "**", "snake_case_name": "snake_case_name",
		"*unfinished": "*unfinished", "(*in brackets*)": "([b in brackets])",
		"see https://example.org/a?b=c&d=e.": "see [link https://example.org/a?b=c&d=e].", "(http://example.org)": "([link http://example.org])",
		"javascript:alert(1)": "javascript:alert(1)", "https://user:pass@example.org/": "https://user:pass@example.org/",
		`https://example.org/"onclick="x`: `[link https://example.org/]"onclick="x`,
		"@15550100301 hello":              "[who @Grace] hello", "@15550100399": "@15550100399", "*@15550100301*": "[who @Grace]",
	} {
		token := "@15550100301"
		mentions := map[string]bridge.Mention{token: {JID: "15550100301@s.whatsapp.net", Name: "Grace", Token: &token}}
		if got := shown(spansOf(text, mentions)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// No text takes long, and none loses a character.
func TestText_OfStrangersIsKeptWhole(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("*", 65536), strings.Repeat("*a*", 20000), strings.Repeat("`", 65535) + "x", strings.Repeat("_a", 30000),
		strings.Repeat("https://a.b/ ", 5000), strings.Repeat("\u0316\u0317", 30000), "\u202e*evil*\u202c", "\x00\xff",
	} {
		var whole strings.Builder
		for _, s := range spansOf(text, nil) {
			whole.WriteString(s.Text)
		}
		if got, want := strings.Trim(whole.String(), "*`_"), strings.Trim(text, "*`_"); len(strings.ReplaceAll(got, "*", "")) != len(strings.ReplaceAll(want, "*", "")) {
			t.Errorf("%.20q…: %d of %d bytes", text, whole.Len(), len(text))
		}
	}
}

func TestText_JumboEmoji(t *testing.T) {
	for text, want := range map[string]bool{"🥾": true, "👍🏽👍🏽": true, "👩‍👩‍👧": true, "❤️": true, "🥾🥾🥾🥾": false, "a": false, "": false, "👍 ok": false} {
		if isJumbo(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestQuotedLine(t *testing.T) {
	for want, quoted := range map[string]bridge.Quoted{
		"plan.pdf":                 {MessageType: "documentMessage", FileName: "plan.pdf"},
		"Document":                 {MessageType: "documentMessage"},
		"Document: the plan":       {MessageType: "documentMessage", FileName: "plan.pdf", Content: "the\nplan"},
		"This message was deleted": {MessageType: "documentMessage", DeletedAt: &bridge.Time{}},
		"hello":                    {MessageType: "conversation", Content: "hello"},
	} {
		if got := quotedLine(quoted); got != want {
			t.Errorf("%+v is shown as %q, want %q", quoted, got, want)
		}
	}
}
