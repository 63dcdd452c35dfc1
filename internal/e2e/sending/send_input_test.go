package sending

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestSend_BadInput sends invalid input to every sending route: 400 with the
// field's name, or the specific code. Nothing is stored or sent.
func TestSend_BadInput(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	heard := r.hears("a message to name")
	deleted := r.hears("gone")
	Must(c.Ben.Revoke(Within(t), r.ToMe, deleted))(t)
	Eventually(t, func() error {
		if r.stored(deleted).DeletedAt == nil {
			return fmt.Errorf("not deleted yet")
		}
		return nil
	})
	quiet(t, c)
	sent, listed := c.Device.Counters().Sent, c.Bridge.Snapshot(r.List())
	routes := map[string]struct {
		good Object // accepted but for the bad fields
		bad  []badInput
	}{
		"send":          {Object{"jid": r.In.String(), "text": "hi"}, append(append(badTexts, badDestinations("jid")...), badQuotes(deleted)...)},
		"send-location": {Object{"jid": r.In.String(), "latitude": 1, "longitude": 2}, append(append(badPlaces, badDestinations("jid")...), badQuotes(deleted)...)},
		"send-poll":     {Object{"jid": r.In.String(), "name": "?", "values": []string{"a", "b"}}, append(append(badPolls, badDestinations("jid")...), badQuotes(deleted)...)},
		"send-contact":  {Object{"jid": r.In.String(), "contacts": []Object{{"displayName": "A"}}}, append(append(badContacts, badDestinations("jid")...), badQuotes(deleted)...)},
		"react":         {Object{"chatJid": r.In.String(), "msgId": heard, "emoji": "👍"}, append(badReactions(deleted), badDestinations("chatJid")...)},
		"forward":       {Object{"sourceChatJid": r.In.String(), "sourceMsgId": heard, "destJid": r.In.String()}, append(append(badForwards, badDestinations("sourceChatJid")...), badDestinations("destJid")...)},
	}
	for route, inputs := range routes {
		for _, input := range append(inputs.bad, badBodies...) {
			t.Run(route+"/"+input.name, func(t *testing.T) {
				body := any(input.raw)
				if input.raw == "" {
					body = With(inputs.good, input.fields)
				}
				resp := c.Bridge.Post("/api/messages/"+route, body, input.headers...)
				status, code := http.StatusBadRequest, bridge.CodeInvalid
				if input.status != 0 {
					status, code = input.status, input.code
				}
				Refused(t, resp, status, code, input.says)
			})
		}
	}
	if got := c.Device.Counters().Sent; got != sent {
		t.Errorf("%d messages left", got-sent)
	}
	if got := c.Bridge.Snapshot(r.List()); got != listed {
		t.Errorf("the chat has changed to %s", got)
	}
}

// badInput is one invalid input of a route.
type badInput struct {
	name    string
	fields  Object // override the good ones; a nil value is null
	says    string // expected in the error's sentence
	raw     string // replaces the whole body
	headers []string
	status  int // 0 means 400
	code    bridge.Code
}

var badBodies = []badInput{
	{name: "no JSON", raw: "hello", says: "JSON"},
	{name: "an array", raw: "[]", says: "object"},
	{name: "null", raw: "null", says: "object"},
	{name: "half an object", raw: `{"jid":`, says: "JSON"},
	{name: "two objects", raw: `{} {}`, says: "after"},
	{name: "invalid UTF-8", raw: "{\"jid\":\"\xff\"}", says: "jid is not valid UTF-8"},
	{name: "too large", raw: `{"text":"` + strings.Repeat("x", 1<<20) + `"}`, status: http.StatusRequestEntityTooLarge, code: bridge.CodePayloadTooLarge},
	{name: "another content type", raw: "{}", headers: []string{"Content-Type", "text/plain"}, says: "Content-Type"},
	{name: "a form", raw: "jid=1", headers: []string{"Content-Type", "application/x-www-form-urlencoded"}, says: "Content-Type"},
}

// badDestinations returns values that do not name a chat to write to.
func badDestinations(field string) []badInput {
	var bad []badInput
	for name, value := range map[string]any{
		"missing": nil, "empty": "", "a number": 491510000003, "no server": "491510000003", "another server": "491510000003@example.org",
		"letters": "anna@s.whatsapp.net", "a plus": "+491510000003@s.whatsapp.net", "a device": "491510000003:2@s.whatsapp.net",
		"no user": "@s.whatsapp.net", "status updates": "status@broadcast", "a broadcast list": "1234@broadcast", "a channel": "1203@newsletter",
		"too long": strings.Repeat("1", 60) + "@s.whatsapp.net", "spaces": " 491510000003@s.whatsapp.net", "a list": []string{"491510000003@s.whatsapp.net"},
	} {
		bad = append(bad, badInput{name: field + " is " + name, fields: Object{field: value}, says: field})
	}
	return bad
}

// badQuotes returns references to messages that cannot be answered.
func badQuotes(deleted simnet.MessageID) []badInput {
	return []badInput{
		{name: "quote of a chat alone", fields: Object{"quotedChatJid": "491510000003@s.whatsapp.net"}, says: "quotedMsgId"},
		{name: "quote from no chat", fields: Object{"quotedChatJid": "nowhere", "quotedMsgId": "X"}, says: "quotedChatJid"},
		{name: "quote of a number", fields: Object{"quotedMsgId": 7}, says: "quotedMsgId must be a string"},
		{name: "quote of a deleted message", fields: Object{"quotedMsgId": deleted}, says: "deleted"},
		{name: "quote of nothing stored", fields: Object{"quotedMsgId": "NONE"}, status: http.StatusNotFound, code: bridge.CodeNotFound},
		{name: "quote from a chat not stored", fields: Object{"quotedChatJid": "491510000099@s.whatsapp.net", "quotedMsgId": "NONE"}, status: http.StatusNotFound, code: bridge.CodeNotFound},
	}
}

var badTexts = []badInput{
	{name: "no text", fields: Object{"text": nil}, says: "text must have 1 to 65536"},
	{name: "empty text", fields: Object{"text": ""}, says: "text must have 1 to 65536"},
	{name: "text too long", fields: Object{"text": strings.Repeat("ü", 65537)}, says: "text must have 1 to 65536"},
	{name: "text of a number", fields: Object{"text": 5}, says: "text must be a string"},
	{name: "mentions no list", fields: Object{"mentions": "491510000003@s.whatsapp.net"}, says: "mentions must be an array"},
	{name: "mentions a number", fields: Object{"mentions": []int{1}}, says: "mentions[0] must be a string"},
	{name: "mentions nobody", fields: Object{"mentions": []string{"anna"}}, says: "mentions"},
	{name: "mentions a group", fields: Object{"mentions": []string{"120363000000000000@g.us"}}, says: "mentions"},
	{name: "mentions a device", fields: Object{"mentions": []string{"491510000003:1@s.whatsapp.net"}}, says: "mentions"},
	{name: "mentions too many", fields: Object{"mentions": repeated(1025, "491510000003@s.whatsapp.net")}, says: "mentions must hold at most 1024"},
}

var badPlaces = []badInput{
	{name: "no latitude", fields: Object{"latitude": nil}, says: "latitude is required"},
	{name: "no longitude", fields: Object{"longitude": nil}, says: "longitude is required"},
	{name: "latitude too far north", fields: Object{"latitude": 90.0001}, says: "latitude"},
	{name: "latitude too far south", fields: Object{"latitude": -90.0001}, says: "latitude"},
	{name: "longitude too far east", fields: Object{"longitude": 180.0001}, says: "longitude"},
	{name: "longitude too far west", fields: Object{"longitude": -181}, says: "longitude"},
	{name: "latitude in words", fields: Object{"latitude": "1"}, says: "latitude must be a number"},
	{name: "no number", raw: `{"jid":"491510000003@s.whatsapp.net","latitude":NaN,"longitude":0}`, says: "JSON"},
	{name: "beyond all numbers", raw: `{"jid":"491510000003@s.whatsapp.net","latitude":1e400,"longitude":0}`, says: "latitude"},
	{name: "name of a number", fields: Object{"name": 1}, says: "name must be a string"},
	{name: "address of a list", fields: Object{"address": []string{}}, says: "address must be a string"},
}

var badPolls = []badInput{
	{name: "no question", fields: Object{"name": nil}, says: "name is required"},
	{name: "blank question", fields: Object{"name": " \t"}, says: "name is required"},
	{name: "no options", fields: Object{"values": nil}, says: "values must hold 2 to 12"},
	{name: "one option", fields: Object{"values": []string{"a"}}, says: "values must hold 2 to 12"},
	{name: "thirteen options", fields: Object{"values": strings.Split("abcdefghijklm", "")}, says: "values must hold 2 to 12"},
	{name: "an empty option", fields: Object{"values": []string{"a", ""}}, says: "empty option"},
	{name: "the same option twice", fields: Object{"values": []string{"a", "b", "a"}}, says: "twice"},
	{name: "options that look the same", fields: Object{"values": []string{"a", "a "}}, says: "twice"},
	{name: "options of numbers", fields: Object{"values": []int{1, 2}}, says: "values[0] must be a string"},
	{name: "fewer than no choices", fields: Object{"selectableCount": -1}, says: "selectableCount must be between 0 and"},
	{name: "more choices than options", fields: Object{"selectableCount": 3}, says: "selectableCount must be between 0 and"},
	{name: "half a choice", fields: Object{"selectableCount": 1.5}, says: "selectableCount must be an integer"},
	{name: "a choice in words", fields: Object{"selectableCount": "1"}, says: "selectableCount must be an integer"},
}

var badContacts = []badInput{
	{name: "no contacts", fields: Object{"contacts": nil}, says: "contacts must hold 1 to 20"},
	{name: "an empty list", fields: Object{"contacts": []Object{}}, says: "contacts must hold 1 to 20"},
	{name: "21 contacts", fields: Object{"contacts": repeated(21, Object{"displayName": "A"})}, says: "contacts must hold 1 to 20"},
	{name: "no list", fields: Object{"contacts": Object{"displayName": "A"}}, says: "contacts must be an array"},
	{name: "nameless", fields: Object{"contacts": []Object{{"displayName": "A"}, {"phone": "491510000003"}}}, says: "contacts[1].displayName is required"},
	{name: "blank name", fields: Object{"contacts": []Object{{"displayName": " "}}}, says: "contacts[0].displayName is required"},
	{name: "a card without a name", fields: Object{"contacts": []Object{{"vcard": "BEGIN:VCARD\nEND:VCARD"}}}, says: "contacts[0].displayName is required"},
	{name: "phone with a plus", fields: Object{"contacts": []Object{{"displayName": "A", "phone": "+491510000003"}}}, says: "contacts[0].phone"},
	{name: "phone that begins with 0", fields: Object{"contacts": []Object{{"displayName": "A", "phone": "01510000003"}}}, says: "contacts[0].phone"},
	{name: "phone with a line of its own", fields: Object{"contacts": []Object{{"displayName": "A", "phone": "49151\nNOTE:x"}}}, says: "contacts[0].phone"},
	{name: "phone of a number", fields: Object{"contacts": []Object{{"displayName": "A", "phone": 491510000003}}}, says: "phone must be a string"},
	{name: "no card", fields: Object{"contacts": []Object{{"displayName": "A", "vcard": "hello"}}}, says: "contacts[0].vcard"},
	{name: "two cards", fields: Object{"contacts": []Object{{"displayName": "A", "vcard": strings.Repeat("BEGIN:VCARD\nFN:A\nEND:VCARD\n", 2)}}}, says: "contacts[0].vcard"},
	{name: "a card with more behind it", fields: Object{"contacts": []Object{{"displayName": "A", "vcard": "BEGIN:VCARD\nFN:A\nEND:VCARD\nNOTE:x"}}}, says: "contacts[0].vcard"},
	{name: "a card too large", fields: Object{"contacts": []Object{{"displayName": "A", "vcard": "BEGIN:VCARD\nNOTE:" + strings.Repeat("x", 64<<10) + "\nEND:VCARD"}}}, says: "contacts[0].vcard"},
}

func badReactions(deleted simnet.MessageID) []badInput {
	bad := []badInput{
		{name: "no message", fields: Object{"msgId": nil}, says: "msgId is required"},
		{name: "no emoji", fields: Object{"emoji": nil}, says: "emoji is required"},
		{name: "emoji of a number", fields: Object{"emoji": 1}, says: "emoji must be a string"},
		{name: "a deleted message", fields: Object{"msgId": deleted}, says: "deleted"},
		{name: "nothing stored", fields: Object{"msgId": "NONE"}, status: http.StatusNotFound, code: bridge.CodeNotFound},
		{name: "a chat not stored", fields: Object{"chatJid": "491510000099@s.whatsapp.net"}, status: http.StatusNotFound, code: bridge.CodeNotFound},
	}
	for _, emoji := range []string{"ok", "1", " ", "👍\n", "👍 👍", "é", strings.Repeat("👍", 17)} {
		bad = append(bad, badInput{name: fmt.Sprintf("emoji %q", emoji), fields: Object{"emoji": emoji}, says: "emoji must be one emoji"})
	}
	return bad
}

var badForwards = []badInput{
	{name: "no message", fields: Object{"sourceMsgId": nil}, says: "sourceMsgId is required"},
	{name: "a message of a number", fields: Object{"sourceMsgId": 1}, says: "sourceMsgId must be a string"},
	{name: "nothing stored", fields: Object{"sourceMsgId": "NONE"}, status: http.StatusNotFound, code: bridge.CodeNotFound},
	{name: "a chat not stored", fields: Object{"sourceChatJid": "491510000099@s.whatsapp.net"}, status: http.StatusNotFound, code: bridge.CodeNotFound},
}

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
