package convert

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/vcard"
)

// Strangers' cards can be read in any form.
func FuzzReadVCard(f *testing.F) {
	for _, card := range []string{
		"BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nitem1.TEL;waid=15551234567:+1 555\nEND:VCARD", "N;ENCODING=QUOTED-PRINTABLE:=41=\n=42;x", "TEL;TYPE=a,b:\n tel", strings.Repeat("X:=\n", 100),
		strings.Repeat("NOTE;QUOTED-PRINTABLE:x=\n", 100), strings.Repeat("A;", 100) + ":x",
	} {
		f.Add(card)
	}
	f.Fuzz(func(t *testing.T, card string) {
		fuzzbudget.Usual.Check(t, len(card), func() {
			properties := vcard.Properties(card)
			if len(properties) > maxListed {
				t.Errorf("%q has %d properties", card, len(properties))
			}
			for _, p := range properties {
				if p.Text(); slices.Contains(p.Components(), "") {
					t.Errorf("%q: %+v has an empty part", card, p)
				}
			}
		})
	})
}

// Ids from strangers are bounded and valid.
func FuzzMessageID(f *testing.F) {
	for _, id := range []string{"3EB0ABC", "..", "a/b", "%2e", "\xff", "x-1", strings.Repeat("é", 300)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		fuzzbudget.Usual.Check(t, len(id), func() {
			segment := bridge.PathID(id)
			if again, err := bridge.ParsePathID(segment); utf8.ValidString(id) && id != "" && (err != nil || again != id) {
				t.Errorf("%q has the path %q, which is %q, %v", id, segment, again, err)
			}
		})
	})
}
