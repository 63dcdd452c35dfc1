package bridge

import "testing"

func TestRedact_LeavesNoWholePhoneNumber(t *testing.T) {
	for in, want := range map[string]string{
		"Successfully paired 15551234567:12@s.whatsapp.net":          "Successfully paired …67:12@s.whatsapp.net",
		"No LID found for 4915112345678@s.whatsapp.net":              "No LID found for …78@s.whatsapp.net",
		"device 15551234567.0:3@s.whatsapp.net gone":                 "device …67.0:3@s.whatsapp.net gone",
		"query +15551234567@c.us failed":                             "query …67@c.us failed",
		"number +15551234567 is unknown":                             "number …67 is unknown",
		"/messages/true_15551234567@c.us_3EB0A1":                     "/messages/true_…67@c.us_3EB0A1",
		"false_120363000000000000@g.us_A_15551234567@c.us":           "false_120363000000000000@g.us_A_…67@c.us",
		"lid 236395184570386@lid stays":                              "lid 236395184570386@lid stays",
		"group 120363000000000000@g.us stays":                        "group 120363000000000000@g.us stays",
		"two: 15551234567@s.whatsapp.net 15557654321@s.whatsapp.net": "two: …67@s.whatsapp.net …21@s.whatsapp.net",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestJIDRedacted_LeavesNoWholePhoneNumber(t *testing.T) {
	for jid, want := range map[JID]string{
		"15551234567@s.whatsapp.net":  "…67@s.whatsapp.net",
		"1234@s.whatsapp.net":         "…34@s.whatsapp.net",
		"15551234567-1420070400@g.us": "…67-1420070400@g.us",
		"120363000000000000@g.us":     "120363000000000000@g.us",
		"236395184570386@lid":         "236395184570386@lid",
		"":                            "",
	} {
		if got := jid.Redacted(); got != want {
			t.Errorf("%s: got %q, want %q", jid, got, want)
		}
	}
}
