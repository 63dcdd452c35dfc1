package compat

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

// Recipients as the clients of WAHA, Evolution and the Cloud API write them.
func TestRecipient_AsClientsWriteIt(t *testing.T) {
	for text, want := range map[string]bridge.JID{
		"4915100100101":                      "4915100100101@s.whatsapp.net",
		"+49 151 001-00101":                  "4915100100101@s.whatsapp.net",
		"+49 (151) 00100101":                 "4915100100101@s.whatsapp.net",
		"4915100100101@c.us":                 "4915100100101@s.whatsapp.net",
		"4915100100101@s.whatsapp.net":       "4915100100101@s.whatsapp.net",
		"4915100100101:12@s.whatsapp.net":    "4915100100101@s.whatsapp.net",
		"4915100100101_1@c.us":               "4915100100101@s.whatsapp.net",
		"+4915100100101@s.whatsapp.net":      "4915100100101@s.whatsapp.net",
		"111111111111111@lid":                "111111111111111@lid",
		"111111111111111:3@lid":              "111111111111111@lid",
		"120363025246125486@g.us":            "120363025246125486@g.us",
		"120363025246125486":                 "120363025246125486@g.us",
		"4915100100101-1600000000@g.us":      "4915100100101-1600000000@g.us",
		"4915100100101-1600000000":           "4915100100101-1600000000@g.us",
		"  4915100100101@c.us ":              "4915100100101@s.whatsapp.net",
		"status@broadcast":                   "",
		"120363144038483540@newsletter":      "",
		"Sofía":                              "",
		"":                                   "",
		"@c.us":                              "",
		"4915100100101@example.org":          "",
		"4915100100101@c.us@c.us":            "",
		"../../4915100100101@s.whatsapp.net": "",
		"4915100100101%40s.whatsapp.net":     "",
	} {
		got, err := Recipient(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
}

// What a recipient is read as is read as the same again.
func FuzzRecipient(f *testing.F) {
	for _, text := range []string{"+49 151 001-00101", "4915100100101:12@s.whatsapp.net", "120363025246125486", "1-2@g.us", "x@lid"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzbudget.Usual.Check(t, len(text), func() {
			jid, err := Recipient(text)
			if err != nil {
				return
			}
			for _, again := range []string{string(jid), AsChat(jid)} {
				if same, err := Recipient(again); err != nil || same != jid {
					t.Errorf("%q is %q, and %q is %q, %v", text, jid, again, same, err)
				}
			}
		})
	})
}

func TestText_OfNumbers(t *testing.T) {
	for data, want := range map[string]string{`"x"`: "x", `4915100100101`: "4915100100101", `120363025246125486`: "120363025246125486", `null`: "", `""`: ""} {
		var text Text
		if err := json.Unmarshal([]byte(data), &text); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v, want %q", data, text, err, want)
		}
	}
	for _, data := range []string{`{}`, `[]`, `true`} {
		var text Text
		if err := json.Unmarshal([]byte(data), &text); err == nil {
			t.Errorf("%s is %q", data, text)
		}
	}
}

// Numbers, flags and lists, as clients and the fields of forms write them.
func TestValues_AsClientsWriteThem(t *testing.T) {
	for data, want := range map[string]struct {
		number Number
		flag   Flag
		texts  string
		faults string
	}{
		`12.5`: {number: 12.5, faults: "flag texts"}, `"12.5"`: {number: 12.5, texts: "12.5", faults: "flag"}, `1`: {number: 1, flag: true, faults: "texts"},
		`""`: {}, `null`: {}, `" "`: {faults: "flag"}, `true`: {flag: true, faults: "number texts"}, `"False"`: {texts: "False", faults: "number"},
		`"yes"`: {texts: "yes", faults: "number flag"}, `["a",1," ",null]`: {texts: "a|1", faults: "number flag"}, `"a, b,,c"`: {texts: "a|b|c", faults: "number flag"},
		`"NaN"`: {texts: "NaN", faults: "number flag"}, `"-Inf"`: {texts: "-Inf", faults: "number flag"}, `1e999`: {faults: "number flag texts"},
		`{}`: {faults: "number flag texts"}, `[{}]`: {faults: "number flag texts"}, `"0x1p-2"`: {number: 0.25, texts: "0x1p-2", faults: "flag"},
	} {
		var number Number
		var flag Flag
		var texts Texts
		faults := []string{}
		for name, value := range map[string]any{"number": &number, "flag": &flag, "texts": &texts} {
			if err := json.Unmarshal([]byte(data), value); err != nil {
				faults = append(faults, name)
			}
		}
		slices.Sort(faults)
		wanted := strings.Fields(want.faults)
		slices.Sort(wanted)
		if !slices.Equal(faults, wanted) || number != want.number || flag != want.flag || strings.Join(texts, "|") != want.texts {
			t.Errorf("%s is %v, %v, %q, without %v; want %+v", data, number, flag, texts, faults, want)
		}
	}
}
