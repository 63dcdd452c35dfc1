package compat

import "testing"

// TestFields_NameTheUpstreamAPIs in the sentences of bridged, and leave ordinary words alone.
func TestFields_NameTheUpstreamAPIs(t *testing.T) {
	fields := Fields{
		"name": "poll.name", "values": "poll.options", "jid": "chatId", "url": "file.url", "fileName": "file.filename", "quotedMsgId": "reply_to",
		"contacts": "contact", "contacts[].phone": "contact[].wuid",
	}
	for sentence, want := range map[string]string{
		"name is required: the poll's question":                   "poll.name is required: the poll's question",
		"values must hold 2 to 12 options":                        "poll.options must hold 2 to 12 options",
		"fileName must be a name without directories":             "file.filename must be a name without directories",
		"quotedMsgId is required where quotedChatJid is given":    "reply_to is required where quotedChatJid is given",
		"contacts[3].phone must be E.164 digits alone":            "contact[3].wuid must be E.164 digits alone",
		"contacts[3].title is too long":                           "contacts[3].title is too long",
		"contacts must hold 1 to 20 contacts":                     "contact must hold 1 to 20 contacts",
		"the chat has no message with that name":                  "the chat has no message with that name",
		"there is no message values in the chat 1@s.whatsapp.net": "there is no message values in the chat 1@s.whatsapp.net",
		"jid: the part before the @ must be digits":               "chatId: the part before the @ must be digits",
		"": "",
	} {
		if got := fields.Rename(sentence); got != want {
			t.Errorf("%q became %q, want %q", sentence, got, want)
		}
	}
	if got := Fields(nil).Rename("name is required"); got != "name is required" {
		t.Errorf("without names: %q", got)
	}
}
