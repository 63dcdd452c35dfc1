package shell

import (
	"testing"

	"bridged/internal/bridge"
)

// TestMessages_ShowWhatTheyAnswer, and what only the sender of the answer claims.
func TestMessages_ShowWhatTheyAnswer(t *testing.T) {
	yes := true
	for want, quoted := range map[string]*bridge.Quoted{
		"no":                             nil,
		"[to me: shall we?] no":          {FromMe: &yes, Content: "shall\nwe?", Origin: bridge.QuoteStored},
		"[to Anna, as quoted: hello] no": {PushName: "Anna", Content: "hello", Origin: bridge.QuoteEmbedded},
		"[to 4915100100101, as quoted: not stored] no": {SenderJID: "4915100100101@s.whatsapp.net", MessageType: bridge.TypeUnknown, Origin: bridge.QuoteEmbedded},
		"[to somebody, as quoted: plan.pdf] no":        {FileName: "plan.pdf", MessageType: "documentMessage", Origin: bridge.QuoteEmbedded},
		"[to Anna: deleted] no":                        {PushName: "Anna", DeletedAt: &bridge.Time{}, Origin: bridge.QuoteStored},
	} {
		if got := messageText(bridge.Message{Content: "no", MessageType: bridge.TypeText, Quoted: quoted}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
