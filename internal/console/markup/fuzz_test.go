package markup

import (
	"strings"
	"testing"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// A text is shown complete except for its marks, in a limited number of spans. Links lead to the
// address that they show.
func FuzzText(f *testing.F) {
	for _, text := range []string{"*bold* _it_ ~no~ `code` ```x```", "http://a.example/x, https://u:p@b.example", strings.Repeat("*a", 400), "@15551234567 *@15551234567*", "😀😀", strings.Repeat("http://x ", 600), "- a\n- b\n> c\n1. d\n```\ne\n```", strings.Repeat("- *a*\n", 600), "*_~a~_* 「https://a.example/(b)」"} {
		f.Add(text)
	}
	token := "@15551234567"
	mentions := map[string]bridge.Mention{token: {JID: "15551234567@s.whatsapp.net", Name: "Ada", Token: &token}}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzbudget.Usual.Check(t, len(text), func() {
			spans := 0
			for _, block := range Blocks(text, mentions) {
				for _, item := range block.Items {
					spans += len(item.Spans)
					for _, s := range item.Spans {
						if utf8.ValidString(text) && !utf8.ValidString(s.Text) || s.Link != "" && (s.Link != s.Text || strings.ContainsAny(s.Link, "<>\" ")) {
							t.Errorf("%q has %+v", text, s)
						}
					}
				}
			}
			if spans > MaxSpans+len(text)/len("```a```")+2 {
				t.Errorf("%.60q has %d spans", text, spans)
			}
			if IsJumbo(text) && strings.ContainsRune(text, 0x61) {
				t.Errorf("%q is shown as emoji", text)
			}
		})
	})
}
