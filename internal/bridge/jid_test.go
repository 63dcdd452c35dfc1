package bridge

import (
	"strings"
	"testing"
)

// What is nearly a JID is refused, with the one that was meant.
func TestParseJID_DidYouMean(t *testing.T) {
	t.Parallel()
	for written, meant := range map[string]string{
		"15551234567":                                  "15551234567@s.whatsapp.net",
		"+1 555 123-4567":                              "15551234567@s.whatsapp.net",
		"15551234567@c.us":                             "15551234567@s.whatsapp.net",
		"+15551234567@s.whatsapp.net":                  "15551234567@s.whatsapp.net",
		" 15551234567@s.whatsapp.net":                  "15551234567@s.whatsapp.net",
		"15551234567%40s.whatsapp.net":                 "15551234567@s.whatsapp.net",
		"15551234567:3@s.whatsapp.net":                 "15551234567@s.whatsapp.net",
		"https://wa.me/15551234567":                    "15551234567@s.whatsapp.net",
		"wa.me/15551234567?text=hi":                    "15551234567@s.whatsapp.net",
		"https://api.whatsapp.com/send?phone=+1555123": "1555123@s.whatsapp.net",
		"236395184570386:1@lid":                        "236395184570386@lid",
		"120363025246125486":                           "120363025246125486@g.us",
		"15551234567-1600000000":                       "15551234567-1600000000@g.us",
		"120363025246125486%40g.us":                    "120363025246125486@g.us",
	} {
		jid, err := ParseJID(written)
		if err == nil || CodeOf(err) != CodeInvalid || !strings.HasSuffix(err.Error(), "; did you mean "+meant+"?") {
			t.Errorf("%q: %q, %v, want a guess at %s", written, jid, err, meant)
		}
	}
}

func TestParseJID_GuessesNothingWild(t *testing.T) {
	t.Parallel()
	for _, written := range []string{
		"", "@", "anna", "anna@s.whatsapp.net", "1@example.org", "15551234567@example.org", "12", "07700900123",
		"1203@newsletter", "1-2-3@g.us", strings.Repeat("1", 200), "https://example.org/15551234567", "\xff@s.whatsapp.net",
	} {
		if jid, err := ParseJID(written); err == nil || strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%q: %q, %v", written, jid, err)
		}
	}
}

// TestParseJID_OtherMessengers: the messenger's number and a dash are part of the JID.
func TestParseJID_OtherMessengers(t *testing.T) {
	jid, err := ParseJID("12-3456789@interop")
	if err != nil || !jid.IsInterop() || !jid.IsPerson() || jid.IsGroup() {
		t.Errorf("%s, %v", jid, err)
	}
	for _, wrong := range []string{"3456789@interop", "12-@interop", "-345@interop", "12-3-4@interop", "a-345@interop"} {
		if jid, err := ParseJID(wrong); err == nil {
			t.Errorf("%s is read as %s", wrong, jid)
		}
	}
}
