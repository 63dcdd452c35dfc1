package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/bridge"
	"bridged/internal/store"
)

// text returns the body of a text message.
func text(to bridge.JID, words string) map[string]any {
	return map[string]any{"jid": to, "text": words}
}

// with returns body with one more field.
func with(body map[string]any, name string, value any) map[string]any {
	more := map[string]any{name: value}
	for k, v := range body {
		if k != name {
			more[k] = v
		}
	}
	return more
}

// stamp is the identity of the message that a quote or reaction names.
type stamp struct {
	Chat bridge.JID
	ID   string
}

func stampOf(m *bridge.Message) *stamp {
	if m == nil {
		return nil
	}
	return &stamp{m.Chat, m.ID}
}

// Everything that is accepted reaches the account as what it says.
func TestSend_ReachesTheAccount(t *testing.T) {
	t.Parallel()
	in := func(body map[string]any) map[string]any { return with(body, "jid", club) }
	tests := []struct {
		name, route string
		body        map[string]any
		content     bridge.Content
		quote       *stamp
		mentions    []bridge.JID
	}{
		{"text", "send", in(text("", "hi")), bridge.Text{Text: "hi"}, nil, nil},
		{"a blank is a character", "send", in(text("", " ")), bridge.Text{Text: " "}, nil, nil},
		{"text of 65536 characters", "send", in(text("", strings.Repeat("é", 65536))), bridge.Text{Text: strings.Repeat("é", 65536)}, nil, nil},
		{
			"mentions, once each", "send", with(in(text("", "hi")), "mentions", []bridge.JID{grace, alan, grace}),
			bridge.Text{Text: "hi"},
			nil,
			[]bridge.JID{grace, alan},
		},
		{"quote from the destination", "send", with(in(text("", "hi")), "quotedMsgId", "G1"), bridge.Text{Text: "hi"}, &stamp{club, "G1"}, nil},
		{
			"quote from another chat", "send", with(with(in(text("", "hi")), "quotedMsgId", "M1"), "quotedChatJid", grace),
			bridge.Text{Text: "hi"},
			&stamp{grace, "M1"}, nil,
		},
		{
			"empty and null optional fields", "send", with(with(with(in(text("", "hi")), "quotedMsgId", ""), "quotedChatJid", ""), "mentions", nil),
			bridge.Text{Text: "hi"},
			nil, nil,
		},
		{"unknown fields", "send", with(in(text("", "hi")), "linkPreviewHighQuality", true), bridge.Text{Text: "hi"}, nil, nil},
		{
			"location", "send-location",
			map[string]any{"jid": club, "latitude": -90, "longitude": 180, "name": "Pole", "address": "South"},
			bridge.Location{Latitude: -90, Longitude: 180, Name: "Pole", Address: "South"},
			nil, nil,
		},
		{
			"location at zero, quoting", "send-location",
			map[string]any{"jid": club, "latitude": 0, "longitude": 0, "quotedMsgId": "G1"},
			bridge.Location{},
			&stamp{club, "G1"}, nil,
		},
		{
			"poll", "send-poll",
			map[string]any{"jid": club, "name": "When?", "values": []string{"a", "b"}},
			bridge.Poll{Name: "When?", Values: []string{"a", "b"}, Selectable: 1},
			nil, nil,
		},
		{
			"poll of any number, quoting", "send-poll",
			map[string]any{"jid": club, "name": "When?", "values": []string{"a", "b"}, "selectableCount": 0, "quotedMsgId": "G1"},
			bridge.Poll{Name: "When?", Values: []string{"a", "b"}, Selectable: 0},
			&stamp{club, "G1"}, nil,
		},
		{
			"poll of twelve", "send-poll",
			map[string]any{"jid": club, "name": "When?", "values": options(12), "selectableCount": 12},
			bridge.Poll{Name: "When?", Values: options(12), Selectable: 12},
			nil, nil,
		},
		{
			"contact", "send-contact",
			map[string]any{"jid": club, "contacts": []any{map[string]any{
				"displayName": "Alan", "firstName": "Alan", "lastName": "Turing", "phone": "447700900123", "phoneDisplay": "07700",
				"email": "a@b", "organization": "NPL", "title": "Dr", "vcard": card,
			}}, "quotedMsgId": "G1"},
			bridge.Contacts{Contacts: []bridge.ContactCard{{
				DisplayName: "Alan", FirstName: "Alan", LastName: "Turing", Phone: "447700900123", PhoneDisplay: "07700",
				Email: "a@b", Organization: "NPL", Title: "Dr", VCard: card,
			}}},
			&stamp{club, "G1"}, nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := stocked(t)
			var answer map[string]any
			s.Post("/api/messages/"+test.route, test.body).Want(http.StatusOK).Decode(&answer)
			out := s.account.sent()[0]
			if diff := cmp.Diff(test.content, out.Content); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.quote, stampOf(out.Quote)); diff != "" {
				t.Errorf("quote: %s", diff)
			}
			if diff := cmp.Diff(test.mentions, out.Mentions, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("mentions: %s", diff)
			}
			if out.To != club || out.Key != nil {
				t.Errorf("to %s, key %v", out.To, out.Key)
			}
			want := map[string]any{"ok": true, "msgId": "3EB0120000B", "timestamp": "2026-11-21T12:00:00.000Z", "chatJid": string(club)}
			if test.name == "unknown fields" {
				want["ignored"] = []any{"linkPreviewHighQuality"}
			}
			if diff := cmp.Diff(want, answer); diff != "" {
				t.Errorf("answer: %s", diff)
			}
		})
	}
}

const card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Alan\r\nEND:VCARD\r\n"

func options(n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint("option ", i)
	}
	return values
}

func TestSend_ToEveryKindOfDestination(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, to := range []bridge.JID{grace, alan, hidden, club, olden} {
		s.Post("/api/messages/send", text(to, "hi")).Want(http.StatusOK)
	}
	for _, to := range []string{
		"status@broadcast", "123@broadcast", "120363@newsletter", "15557654321", "15557654321:3@s.whatsapp.net",
		"@s.whatsapp.net", "x@s.whatsapp.net", "15557654321@c.us", "1-2-3@g.us", "15557654321@s.whatsapp.net ", "",
	} {
		if got := s.Post("/api/messages/send", text(bridge.JID(to), "hi")).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "jid") {
			t.Errorf("%q: the sentence does not name the field: %s", to, got.Error())
		}
	}
}

// A person is quoted and answered by either identity.
func TestSend_LIDIsThePerson(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	var answer struct{ ChatJID bridge.JID }
	s.Post("/api/messages/send", with(text(graceLID, "hi"), "quotedMsgId", "M1")).Want(http.StatusOK).Decode(&answer)
	if answer.ChatJID != grace {
		t.Errorf("chatJid %s, want %s", answer.ChatJID, grace)
	}
	if quote := s.account.sent()[0].Quote; quote == nil || quote.ID != "M1" {
		t.Errorf("quote %v", quote)
	}
}

func TestForward_HandsOverTheStoredMessage(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.Post("/api/messages/forward", map[string]any{"sourceChatJid": club, "sourceMsgId": "G1", "destJid": alan}).Want(http.StatusOK)
	out := s.account.sent()[0]
	source := out.Content.(bridge.Forward).Source
	if out.To != alan || source.Chat != club || source.ID != "G1" || len(source.Raw) == 0 {
		t.Errorf("to %s, source %s %s with %d raw bytes", out.To, source.Chat, source.ID, len(source.Raw))
	}
}

func TestForward_RefusesWhatCannotBeForwarded(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	once := say(club, grace, "ONCE", "", 3)
	once.MessageType, once.ViewOnce = "imageMessage", true
	lost := say(club, grace, "LOST", "", 4)
	lost.MessageType, lost.Raw = bridge.TypeUndecryptable, nil
	party, empty, bare := say(club, grace, "PARTY", "", 6), say(club, grace, "EMPTY", "", 7), say(club, grace, "BARE", "", 8)
	party.MessageType, empty.MessageType, bare.Raw = "eventMessage", "ephemeralMessage", nil
	s.know(once, lost, party, empty, bare, say(club, grace, "GONE", "oops", 5),
		bridge.Deletion{Chat: club, Target: "GONE", By: grace, Timestamp: bridge.At(noon)})
	for id, why := range map[string]string{
		"ONCE": "view-once", "LOST": "decrypted", "GONE": "deleted",
		"PARTY": "calendar event", "EMPTY": "no content", "BARE": "no stored content",
	} {
		got := s.Post("/api/messages/forward", map[string]any{"sourceChatJid": club, "sourceMsgId": id, "destJid": alan}).Want(http.StatusBadRequest)
		if !strings.Contains(got.Error(), why) {
			t.Errorf("%s: %s", id, got.Error())
		}
	}
	s.Post("/api/messages/send", with(text(club, "hi"), "quotedMsgId", "GONE")).Want(http.StatusBadRequest)
	s.Post("/api/messages/react", map[string]any{"chatJid": club, "msgId": "GONE", "emoji": "👍"}).Want(http.StatusBadRequest)
	s.Post("/api/messages/react", map[string]any{"chatJid": club, "msgId": "ONCE", "emoji": "👍"}).Want(http.StatusOK)
}

func TestReact_TakesOneEmoji(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, emoji := range []string{"👍", "", "❤️", "❤", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "🇮🇹", "1️⃣", "#️⃣", "🙏🏾", "ℹ️", "™️", "‼️", "☺"} {
		s.Post("/api/messages/react", map[string]any{"chatJid": club, "msgId": "G1", "emoji": emoji}).Want(http.StatusOK)
		sent := s.account.sent()
		react := sent[len(sent)-1].Content.(bridge.Reaction)
		if react.Emoji != emoji || react.Target.ID != "G1" || react.Target.SenderJID != grace {
			t.Errorf("emoji %q, target %s of %s", react.Emoji, react.Target.ID, react.Target.SenderJID)
		}
	}
	for _, emoji := range []string{"ok", "1", " ", "👍 👍", "да", "👍\n", "x👍", strings.Repeat("👍", 17), "\ufffd"} {
		s.Post("/api/messages/react", map[string]any{"chatJid": club, "msgId": "G1", "emoji": emoji}).Want(http.StatusBadRequest)
	}
}

// Bad input of every field of every sending route, with the field's name in
// the sentence.
func TestSend_RefusesBadInput(t *testing.T) {
	t.Parallel()
	location := map[string]any{"jid": grace, "latitude": 1, "longitude": 1}
	poll := map[string]any{"jid": grace, "name": "When", "values": []string{"a", "b"}}
	forward := map[string]any{"sourceChatJid": club, "sourceMsgId": "G1", "destJid": grace}
	react := map[string]any{"chatJid": club, "msgId": "G1", "emoji": "👍"}
	contact := func(field string, value any) map[string]any {
		return map[string]any{"jid": grace, "contacts": []any{map[string]any{"displayName": "Alan"}, with(map[string]any{"displayName": "Grace"}, field, value)}}
	}
	many := func(n int) (contacts []any) {
		for range n {
			contacts = append(contacts, map[string]any{"displayName": "Alan"})
		}
		return contacts
	}
	type badInput struct {
		route, field string
		body         any
	}
	tests := []badInput{
		{"send", "text", with(text(grace, "hi"), "text", nil)},
		{"send", "text", text(grace, "")},
		{"send", "text", text(grace, strings.Repeat("x", 65537))},
		{"send", "text", with(text(grace, "hi"), "text", []string{"hi"})},
		{"send", "mentions", with(text(grace, "hi"), "mentions", grace)},
		{"send", "mentions", with(text(grace, "hi"), "mentions", []any{1})},
		{"send", "mentions", with(text(grace, "hi"), "mentions", []any{"@grace"})},
		{"send", "mentions", with(text(grace, "hi"), "mentions", []any{club})},
		{"send", "mentions", with(text(grace, "hi"), "mentions", make([]string, 1025))},
		{"send", "quotedMsgId", with(text(grace, "hi"), "quotedChatJid", grace)},
		{"send", "quotedMsgId", with(text(grace, "hi"), "quotedMsgId", 7)},
		{"send", "quotedChatJid", with(with(text(grace, "hi"), "quotedMsgId", "M1"), "quotedChatJid", "status@broadcast")},
		{"forward", "sourceChatJid", with(forward, "sourceChatJid", nil)},
		{"forward", "sourceChatJid", with(forward, "sourceChatJid", "status@broadcast")},
		{"forward", "sourceMsgId", with(forward, "sourceMsgId", "")},
		{"forward", "destJid", with(forward, "destJid", "status@broadcast")},
		{"forward", "destJid", with(forward, "destJid", "")},
		{"react", "chatJid", with(react, "chatJid", "")},
		{"react", "msgId", with(react, "msgId", "")},
		{"react", "emoji", with(react, "emoji", nil)},
		{"react", "emoji", with(react, "emoji", true)},
		{"send-location", "jid", with(location, "jid", "status@broadcast")},
		{"send-location", "latitude", with(location, "latitude", nil)},
		{"send-location", "latitude", with(location, "latitude", 90.001)},
		{"send-location", "latitude", with(location, "latitude", -91)},
		{"send-location", "latitude", with(location, "latitude", "51.5")},
		{"send-location", "latitude", `{"jid":"15557654321@s.whatsapp.net","latitude":1e999,"longitude":1}`},
		{"send-location", "not valid JSON", `{"jid":"15557654321@s.whatsapp.net","latitude":NaN,"longitude":1}`},
		{"send-location", "longitude", with(location, "longitude", nil)},
		{"send-location", "longitude", with(location, "longitude", 180.5)},
		{"send-location", "name", with(location, "name", 1)},
		{"send-location", "address", with(location, "address", []any{})},
		{"send-poll", "jid", with(poll, "jid", "")},
		{"send-poll", "name", with(poll, "name", " ")},
		{"send-poll", "values", with(poll, "values", nil)},
		{"send-poll", "values", with(poll, "values", "a, b")},
		{"send-poll", "values", with(poll, "values", []string{"a"})},
		{"send-poll", "values", with(poll, "values", options(13))},
		{"send-poll", "values", with(poll, "values", []string{"a", " "})},
		{"send-poll", "values", with(poll, "values", []string{"a", "a"})},
		{"send-poll", "values", with(poll, "values", []string{"a", "a "})},
		{"send-poll", "values", with(poll, "values", []any{"a", 2})},
		{"send-poll", "selectableCount", with(poll, "selectableCount", -1)},
		{"send-poll", "selectableCount", with(poll, "selectableCount", 3)},
		{"send-poll", "selectableCount", with(poll, "selectableCount", 1.5)},
		{"send-poll", "selectableCount", with(poll, "selectableCount", "1")},
		{"send-contact", "jid", with(contact("email", ""), "jid", "x")},
		{"send-contact", "contacts", map[string]any{"jid": grace}},
		{"send-contact", "contacts", map[string]any{"jid": grace, "contacts": many(0)}},
		{"send-contact", "contacts", map[string]any{"jid": grace, "contacts": many(21)}},
		{"send-contact", "contacts", map[string]any{"jid": grace, "contacts": "Alan"}},
		{"send-contact", "contacts", map[string]any{"jid": grace, "contacts": []any{"Alan"}}},
		{"send-contact", "contacts[1].displayName", contact("displayName", "")},
		{"send-contact", "contacts[1].displayName", with(contact("displayName", nil), "vcard", card)},
		{"send-contact", "contacts[1].displayName", contact("displayName", 3)},
		{"send-contact", "contacts[1].phone", contact("phone", "+447700900123")},
		{"send-contact", "contacts[1].phone", contact("phone", "0447700900123")},
		{"send-contact", "contacts[1].phone", contact("phone", "44 7700 900123")},
		{"send-contact", "contacts[1].phone", contact("phone", "1234567890123456")},
		{"send-contact", "contacts[1].phone", contact("phone", "49151\nNOTE:x")},
		{"send-contact", "phone must be a string", contact("phone", 491510000003)},
		{"send-contact", "contacts[1].vcard", contact("vcard", card+"NOTE:x")},
		{"send-contact", "contacts[1].vcard", contact("vcard", "FN:Grace")},
		{"send-contact", "contacts[1].vcard", contact("vcard", "BEGIN:VCARD\nFN:Grace")},
		{"send-contact", "contacts[1].vcard", contact("vcard", card+card)},
		{"send-contact", "contacts[1].vcard", contact("vcard", "BEGIN:VCARD\nFN:Gr\x00ce\nEND:VCARD")},
		{"send-contact", "contacts[1].vcard", contact("vcard", "BEGIN:VCARD\nNOTE:"+strings.Repeat("x", 65536)+"\nEND:VCARD")},
	}
	for _, to := range []any{
		nil, "", 491510000003, "491510000003", "491510000003@example.org", "anna@s.whatsapp.net", "+491510000003@s.whatsapp.net", "491510000003:2@s.whatsapp.net",
		"@s.whatsapp.net", "status@broadcast", "1234@broadcast", "1203@newsletter", strings.Repeat("1", 60) + "@s.whatsapp.net", " 491510000003@s.whatsapp.net",
		[]bridge.JID{grace},
	} {
		tests = append(tests, []badInput{
			{"send", "jid", with(text(grace, "hi"), "jid", to)},
			{"send-location", "jid", with(location, "jid", to)},
			{"send-poll", "jid", with(poll, "jid", to)},
			{"send-contact", "jid", with(contact("email", ""), "jid", to)},
			{"react", "chatJid", with(react, "chatJid", to)},
			{"forward", "sourceChatJid", with(forward, "sourceChatJid", to)},
			{"forward", "destJid", with(forward, "destJid", to)},
		}...)
	}
	s := stocked(t)
	for _, test := range tests {
		got := s.Post("/api/messages/"+test.route, test.body)
		if got.Status != http.StatusBadRequest || got.Code() != "invalid_request" || !strings.Contains(got.Error(), test.field) {
			t.Errorf("%s, bad %s: %d %s", test.route, test.field, got.Status, got.Body)
		}
	}
	if n := len(s.account.sent()); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
}

// A message that has begun to leave goes on without its caller.
func TestSend_OutlivesItsCaller(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	caller, hangUp := context.WithCancel(t.Context())
	var cutOff error
	s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		hangUp()
		cutOff = ctx.Err()
		return s.account.accept(ctx, out)
	}
	s.inProcess(caller, "/api/messages/send", `{"jid":"15557654321@s.whatsapp.net","text":"hi"}`)
	if cutOff != nil {
		t.Errorf("the send was cut off: %v", cutOff)
	}
	if m, err := s.store.Message(t.Context(), grace, "3EB0120000B"); err != nil || *m.Status != bridge.DeliverySent {
		t.Errorf("stored as %v, %v", m.Status, err)
	}
}

// The program's end gives up sends, and says so.
func TestSend_IsGivenUpWhenTheProgramStops(t *testing.T) {
	t.Parallel()
	lifetime, stop := context.WithCancel(t.Context())
	s := newServer(t, func(o *api.Options) { o.Lifetime = lifetime })
	s.account.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		stop()
		<-ctx.Done()
		return bridge.Sent{}, ctx.Err()
	}
	got := s.Post("/api/messages/send", text(grace, "hi")).Want(http.StatusServiceUnavailable)
	if got.Code() != "not_connected" || !strings.Contains(got.Error(), "stopping") {
		t.Errorf("body %s", got.Body)
	}
}

// Where nobody knows whether a message arrived, the sentence says what this
// caller can do: repeating is safe with a key alone.
func TestSend_UnconfirmedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	unconfirmed := map[string]func(stop func()) error{
		"timed out": func(func()) error {
			return bridge.Fail(bridge.CodeSendTimeout, "repeat the request with the same Idempotency-Key")
		},
		"stopped": func(stop func()) error { stop(); return context.Canceled },
	}
	for name, fail := range unconfirmed {
		for key, says := range map[string]string{
			"k": "repeat the call with the same Idempotency-Key",
			"":  "look in the chat whether it arrived before you send it again, and send with an Idempotency-Key next time",
		} {
			t.Run(name+", key "+key, func(t *testing.T) {
				lifetime, stop := context.WithCancel(t.Context())
				s := newServer(t, func(o *api.Options) { o.Lifetime = lifetime })
				s.account.send = func(ctx context.Context, _ bridge.Outgoing) (bridge.Sent, error) {
					err := fail(stop)
					if errors.Is(err, context.Canceled) {
						<-ctx.Done()
					}
					return bridge.Sent{}, err
				}
				var headers []string
				if key != "" {
					headers = []string{"Idempotency-Key", key}
				}
				got := s.Post("/api/messages/send", text(grace, "hi"), headers...)
				if !strings.Contains(got.Error(), says) || key == "" && strings.Contains(got.Error(), "same Idempotency-Key") {
					t.Errorf("%d %s", got.Status, got.Body)
				}
			})
		}
	}
}

// An account that never answers is a time-out, not an internal error.
func TestSend_TimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		acc := newAccount(nil)
		acc.send = func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
			<-ctx.Done()
			return bridge.Sent{}, fmt.Errorf("send: %w", ctx.Err())
		}
		handler := api.New(api.Options{Store: new(store.Store), Account: acc, Token: token, EnableSend: true, Log: zerolog.Nop()})
		got := inProcess(t.Context(), handler, "/api/messages/send", `{"jid":"15557654321@s.whatsapp.net","text":"hi"}`)
		if got.Code != http.StatusGatewayTimeout || !strings.Contains(got.Body.String(), "send_timeout") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	})
}
