package bridge

import (
	"strings"
	"testing"
)

func TestParsePhone_AsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"15551234567":         "15551234567",
		"+1 555 123-4567":     "15551234567",
		"+1 (555) 123-4567":   "15551234567",
		"001.555.123.4567":    "15551234567",
		"+44 (0)20 7946 0958": "442079460958",
		"\u202a+49\u00a01510\u2011000\u20090001\u202c": "4915100000001",
		" 49/1510/000001 ": "491510000001",
		"1234567":          "1234567",
		"123456789012345":  "123456789012345",
	} {
		if got, err := ParsePhone(written); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %s", written, got, err, want)
		}
	}
}

func TestParsePhone_Refuses(t *testing.T) {
	t.Parallel()
	for written, sentence := range map[string]string{
		"":                 "must be a phone number",
		"+":                "must be a phone number",
		"call me":          "must be a phone number",
		"1555123456x":      "must be a phone number",
		"++15551234567":    "must be a phone number",
		"15551234567\nA:b": "must be a phone number",
		"٤٩١٥١٠٠٠٠٠٠١":     "must be a phone number",
		"0151 0000001":     "must begin with the country code",
		"000151000001":     "must begin with the country code",
		"+49 151":          "must have 7 to 15",
		"1234567890123456": "must have 7 to 15",
	} {
		got, err := ParsePhone(written)
		if err == nil || CodeOf(err) != CodeInvalid || !strings.HasPrefix(err.Error(), sentence) {
			t.Errorf("%q: %q, %v, want %q", written, got, err, sentence)
		}
	}
}
