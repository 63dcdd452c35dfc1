package markup

import (
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// shown writes blocks and spans with their marks in brackets.
func shown(blocks []Block) string {
	var b strings.Builder
	for _, block := range blocks {
		for _, item := range block.Items {
			switch block.Kind {
			case PlainLines:
				b.WriteString(shownSpans(item.Spans))
			case NumberedList:
				fmt.Fprintf(&b, "{%d %s}", item.Number, shownSpans(item.Spans))
			case CodeBlock, QuotedLines, BulletList:
				fmt.Fprintf(&b, "{%s %s}", block.Kind, shownSpans(item.Spans))
			}
		}
	}
	return b.String()
}

func shownSpans(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		text := s.Text
		for name, applies := range map[string]bool{"link ": s.Link != "", "who ": s.Person != "", "code ": s.Code} {
			if applies {
				text = "[" + name + text + "]"
			}
		}
		for _, look := range []struct {
			name    string
			applies bool
		}{{"s ", s.Strike}, {"i ", s.Italic}, {"b ", s.Bold}} {
			if look.applies {
				text = "[" + look.name + text + "]"
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

func TestText_MarksAsInTheApps(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "": "", "a *bold* word": "a [b bold] word", "_it_ ~no~ `x`": "[i it] [s no] [code x]",
		"a ```one``` b": "a [code one] b", "2*3*4": "2*3*4", "*a *": "*a *", "*a\nb*": "*a\nb*", "**": "**", "snake_case_name": "snake_case_name",
		"*unfinished": "*unfinished", "(*in brackets*)": "([b in brackets])",
		"see https://example.org/a?b=c&d=e.": "see [link https://example.org/a?b=c&d=e].", "(http://example.org)": "([link http://example.org])",
		"javascript:alert(1)": "javascript:alert(1)", "https://user:pass@example.org/": "https://user:pass@example.org/",
		`https://example.org/"onclick="x`: `[link https://example.org/]"onclick="x`,
		"@15550100301 hello":              "[who @Grace] hello", "@15550100399": "@15550100399", "*@15550100301*": "[b [who @Grace]]",
		"*_both_*": "[b [i both]]", "_a *b* c_": "[i a ][b [i b]][i  c]", "*see https://example.org/_a_*b*c now*": "[b see ][b [link https://example.org/_a_*b*c]][b  now]",
		"*https://example.org/*": "[b [link https://example.org/]]", "`https://example.org/`": "[code https://example.org/]", "`*x*`": "[code *x*]",
		"call +1 555 0100 or 030/1234567": "call +1 555 0100 or 030/1234567",
	} {
		token := "@15550100301"
		mentions := map[string]bridge.Mention{token: {JID: "15550100301@s.whatsapp.net", Name: "Grace", Token: &token}}
		if got := shown(Blocks(text, mentions)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// Lists, quotes and code have their own lines.
func TestText_BlocksAsInTheApps(t *testing.T) {
	for text, want := range map[string]string{
		"Bring:\n- water\n- *bread*\nThanks": "Bring:{bullets water}{bullets [b bread]}Thanks", "* one\n* two": "{bullets one}{bullets two}",
		"3. three\n4. four": "{3 three}{4 four}", "2026. was": "2026. was", "1.5 km": "1.5 km", "-5 degrees": "-5 degrees", "- ": "- ",
		"> You said\n> that\nYes": "{quote You said}{quote that}Yes", ">no quote": ">no quote", "a\n\n- b": "a\n{bullets b}",
		"```\none\n  two\n```": "{code [code one\n  two]}", "so:\n```x```\ndone": "so:{code [code x]}done", "```open\n- a": "```open{bullets a}", "``````": "``````",
		"- ```a\nb```": "- {code [code a\nb]}",
	} {
		if got := shown(Blocks(text, nil)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// A link ends before the punctuation of its sentence.
func TestText_LinksEndBeforePunctuation(t *testing.T) {
	for text, want := range map[string]string{
		"「https://example.org/a」と": "「[link https://example.org/a]」と", "『https://example.org』": "『[link https://example.org]』", "【https://example.org/】": "【[link https://example.org/]】",
		"（https://example.org/x）。": "（[link https://example.org/x]）。", "《https://example.org/x》": "《[link https://example.org/x]》", "https://example.org/页，还有": "[link https://example.org/页]，还有",
		"https://example.org/a。": "[link https://example.org/a]。", "https://example.org/《红楼梦》": "[link https://example.org/《红楼梦》]",
		"https://en.example.org/wiki/Go_(game)": "[link https://en.example.org/wiki/Go_(game)]", "(see https://en.example.org/wiki/Go_(game))": "(see [link https://en.example.org/wiki/Go_(game)])",
		"https://example.org/a).": "[link https://example.org/a]).", "https://example.org/?q=[1]": "[link https://example.org/?q=[1]]", "[x](https://example.org/a)[y]": "[x]([link https://example.org/a])[y]",
		"“https://example.org/”": "“[link https://example.org/]”", "https://example.org/...": "[link https://example.org/]...", "https://": "https://", "https://)": "https://)",
	} {
		if got := shown(Blocks(text, nil)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// Any text is fast and complete.
func TestText_IsComplete(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("*", 65536), strings.Repeat("*a*", 20000), strings.Repeat("`", 65535) + "x", strings.Repeat("_a", 30000),
		strings.Repeat("https://a.b/ ", 5000), strings.Repeat("\u0316\u0317", 30000), "\u202e*evil*\u202c", "\x00\xff",
	} {
		var whole strings.Builder
		for _, block := range Blocks(text, nil) {
			for _, s := range block.Items[0].Spans {
				whole.WriteString(s.Text)
			}
		}
		if got, want := strings.Trim(whole.String(), "*`_"), strings.Trim(text, "*`_"); len(strings.ReplaceAll(got, "*", "")) != len(strings.ReplaceAll(want, "*", "")) {
			t.Errorf("%.20q…: %d of %d bytes", text, whole.Len(), len(text))
		}
	}
}

func TestText_JumboEmoji(t *testing.T) {
	for text, want := range map[string]bool{"🥾": true, "👍🏽👍🏽": true, "👩‍👩‍👧": true, "❤️": true, "🥾🥾🥾🥾": false, "a": false, "": false, "👍 ok": false} {
		if IsJumbo(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
