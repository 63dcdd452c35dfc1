package vcard

import "testing"

// TestNameIn_SaysWhomACardIsAbout, however little of it the card says.
func TestNameIn_SaysWhomACardIsAbout(t *testing.T) {
	for card, want := range map[string]string{
		"BEGIN:VCARD\nVERSION:3.0\nN:Doe;Jane;;;\nFN:Jane Doe\nTEL;type=CELL;waid=4915100100102:+49 1510 0100102\nEND:VCARD": "Jane Doe",
		"BEGIN:VCARD\r\nN:Doe;Jane;;;\r\nEND:VCARD":                                      "Jane Doe",
		"BEGIN:VCARD\nN:Doe\nORG:ACME\nEND:VCARD":                                        "Doe",
		"BEGIN:VCARD\nitem1.ORG:ACME;Sales\nEND:VCARD":                                   "ACME, Sales",
		"BEGIN:VCARD\nTEL:tel:+4915100100102\nEND:VCARD":                                 "+4915100100102",
		"BEGIN:VCARD\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrgen\nEND:VCARD": "Jürgen",
		"BEGIN:VCARD\nFN:\nNOTE:nothing\nEND:VCARD":                                      "",
		"BEGIN:VCARD\nFN:Smith\\, Anna\nEND:VCARD":                                       "Smith, Anna",
		"BEGIN:VCARD\nFN:Anna\n  Smith\nEND:VCARD":                                       "Anna Smith",
	} {
		if got := NameIn(card); got != want {
			t.Errorf("%q is about %q, want %q", card, got, want)
		}
	}
}
