package sending

import (
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

func repeated[T any](count int, value T) []T {
	out := make([]T, count)
	for i := range out {
		out[i] = value
	}
	return out
}

// TestSend_LargestInput sends input at the limits, which is accepted.
func TestSend_LargestInput(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	long := strings.Repeat("🥾", 65536)
	r.arrives(r.room.sends("send", Object{"text": long}), conversationText(long))
	options := strings.Split("abcdefghijkl", "")
	r.arrives(r.room.sends("send-poll", Object{"name": "?", "values": options, "selectableCount": 12}), poll("?", 12, nil, options...))
	list := r.room.sends("send-contact", Object{"contacts": repeated(20, Object{"displayName": "A"})})
	if got := decrypted(t, c.Ben, list).GetContactsArrayMessage().GetContacts(); len(got) != 20 {
		t.Errorf("%d contacts arrived, want 20", len(got))
	}
	// Unknown fields, and empty ones of forms, are accepted.
	r.room.sends("send", Object{"text": "hi", "quotedMsgId": "", "quotedChatJid": "", "mentions": nil, "colour": "red"})
}

// TestSend_GateIsShut: with ENABLE_SEND off every send is refused.
func TestSend_GateIsShut(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "ENABLE_SEND=false")
	r := &room{Conversation: &Conversation{TB: t, Me: c.Owner, By: c.Ben, In: c.Ben.PN(), ToMe: c.Owner.PN()}, b: c.Bridge}
	heard := r.hears("write to me")
	quiet(t, c)
	sent := c.Device.Counters().Sent
	bodies := SendsWithoutSource(r.In)
	bodies["/api/messages/react"] = Object{"chatJid": r.In.String(), "msgId": heard, "emoji": "👍"}
	bodies["/api/messages/forward"] = Object{"sourceChatJid": r.In.String(), "sourceMsgId": heard, "destJid": r.In.String()}
	bodies["/api/messages/send-media"] = Object{"jid": r.In.String(), "url": "https://example.org/x.png", "type": "image"}
	for route, body := range bodies {
		for _, sent := range []any{body, "no JSON", Object{}} {
			Refused(t, c.Bridge.Post(route, sent), http.StatusForbidden, bridge.CodeSendDisabled, "ENABLE_SEND")
		}
	}
	if got := c.Device.Counters().Sent; got != sent {
		t.Errorf("%d messages left", got-sent)
	}
}
