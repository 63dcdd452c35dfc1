package convert

import (
	"strings"
	"testing"

	"github.com/emersion/go-vcard"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

func TestVCardOf(t *testing.T) {
	for name, test := range map[string]struct {
		contact bridge.ContactCard
		want    []string // the lines between the version and the end
	}{
		"name alone": {bridge.ContactCard{DisplayName: "Ada"}, []string{"N:;Ada;;;", "FN:Ada"}},
		"first and last name": {
			bridge.ContactCard{DisplayName: "Ada L.", FirstName: "Ada", LastName: "Lovelace"},
			[]string{"N:Lovelace;Ada;;;", "FN:Ada L."},
		},
		"last name alone": {bridge.ContactCard{DisplayName: "Mrs. Lovelace", LastName: "Lovelace"}, []string{"N:Lovelace;;;;", "FN:Mrs. Lovelace"}},
		"phone": {
			bridge.ContactCard{DisplayName: "Ada", Phone: "15551234567"},
			[]string{"N:;Ada;;;", "FN:Ada", "TEL;type=CELL;type=VOICE;waid=15551234567:+15551234567"},
		},
		"phone shown otherwise": {
			bridge.ContactCard{DisplayName: "Ada", Phone: "15551234567", PhoneDisplay: "(555) 123"},
			[]string{"N:;Ada;;;", "FN:Ada", "TEL;type=CELL;type=VOICE;waid=15551234567:(555) 123"},
		},
		"phone that is only shown": {
			bridge.ContactCard{DisplayName: "Ada", PhoneDisplay: "555-123"},
			[]string{"N:;Ada;;;", "FN:Ada", "TEL;type=CELL;type=VOICE:555-123"},
		},
		"work": {
			bridge.ContactCard{DisplayName: "Ada", Organization: "Engines; Ltd, UK", Title: `C\O`, Email: "ada@example.org"},
			[]string{"N:;Ada;;;", "FN:Ada", `ORG:Engines\; Ltd\, UK`, `TITLE:C\\O`, "EMAIL;type=INTERNET:ada@example.org"},
		},
		"lines": {
			bridge.ContactCard{DisplayName: "a\r\nb\nc\rd\u2028e\u2029f\u0085g\vh\fi\x00j\x1dk"},
			[]string{`N:;a\nb\nc\nd\ne\nf\ng h i j k;;;`, `FN:a\nb\nc\nd\ne\nf\ng h i j k`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := "BEGIN:VCARD\nVERSION:3.0\n" + strings.Join(test.want, "\n") + "\nEND:VCARD"
			if got := vcardOf(test.contact); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	own := bridge.ContactCard{DisplayName: "Ada", Phone: "15551234567", VCard: "anything of the caller's"}
	if got := vcardOf(own); got != own.VCard {
		t.Errorf("the caller's own card became %q", got)
	}
}

// FuzzVCardOf: whatever the fields hold, a reader finds exactly the properties that
// were written.
func FuzzVCardOf(f *testing.F) {
	for _, seed := range []string{"", "Ada", "a\nNOTE:x", "a\r\n b", "\\", ";,:\"", "\u2028END:VCARD", "a\\\nTEL:1", "=0A", "\x1e"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		fuzzbudget.Usual.Check(t, len(name)+len(other), func() {
			text := vcardOf(bridge.ContactCard{DisplayName: "x" + name, Email: "y" + other, Title: "z" + name + other, Phone: "15551234567"})
			if lines := strings.FieldsFunc(text, endsLine); len(lines) != 8 {
				t.Fatalf("%d lines: %q", len(lines), text)
			}
			card, err := vcard.NewDecoder(strings.NewReader(text)).Decode()
			if err != nil {
				t.Fatalf("read %q: %v", text, err)
			}
			if len(card) != 6 {
				t.Errorf("%q has the properties %v", text, card)
			}
		})
	})
}

// endsLine reports whether any reader of vCards might end a line there.
func endsLine(r rune) bool {
	return strings.ContainsRune("\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029", r)
}
