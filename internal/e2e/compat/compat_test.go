package compat

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// compatCase is a request with what its client reads of the answer.
type compatCase struct {
	name    string
	request CompatRequest
	status  int
	reads   map[string]any // by path; a pattern for texts
}

// isValue reports whether a value is the one that is wanted: for a text a pattern of it.
func isValue(got, want any) bool {
	pattern, isText := want.(string)
	if !isText {
		return got == want
	}
	text, isText := got.(string)
	return isText && regexp.MustCompile("^(?s:"+pattern+")$").MatchString(text)
}

func check(s CompatScene, t *testing.T, cases []compatCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resp, answer := s.Ask(t, c.request)
			if resp.StatusCode != c.status {
				t.Fatalf("%d %v, want %d", resp.StatusCode, answer, c.status)
			}
			for path, want := range c.reads {
				if got := At(answer, path); !isValue(got, want) {
					t.Errorf("%s is %v, want %v: %v", path, got, want, answer)
				}
			}
		})
	}
}

// What Uptime Kuma, Peekaping, Home Assistant's integrations, n8n's credential test and
// scripts ask of WAHA, byte for byte where it matters.
func TestCompat_WAHA(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	base := s.Address + "/waha"
	key := map[string]string{"X-Api-Key": s.Full, "Content-Type": "application/json"}
	bearer := map[string]string{"Authorization": "Bearer " + s.Full, "Content-Type": "application/json"}
	sent := map[string]any{"id": `true_15550100301@c\.us_[0-9A-F]+`, "fromMe": true, "ackName": "PENDING", "from": `15550100301@c\.us`, "_data.Info.ID": "[0-9A-F]+"}
	check(s, t, []compatCase{
		{"Uptime Kuma", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `{"session":"default","chatId":"15550100301@c.us","text":"[DB] is down"}`}, 201, sent},
		{"Peekaping", CompatRequest{Method: "POST", Address: base + "//api//sendText/", Header: key, Body: `{"session":"default","chatId":"15550100301","text":"down"}`}, 201, sent},
		{"Home Assistant, with a bearer", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: bearer, Body: `{"chatId":"+1 555 010-0301","text":"the door is open","session":"default"}`}, 201, sent},
		{"n8n, with empty fields", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `{"session":"default","chatId":"15550100301@c.us","text":"x","reply_to":"","linkPreview":true,"linkPreviewHighQuality":false}`}, 201, sent},
		{"a script, by address", CompatRequest{Method: "GET", Address: base + "/api/sendText?session=default&phone=15550100301&text=plain", Header: key, Body: ""}, 200, sent},
		{"sessions", CompatRequest{Method: "GET", Address: base + "/api/sessions?all=true", Header: key, Body: ""}, 200, map[string]any{"0.name": "default", "0.status": "WORKING", "0.me.id": `\d+@c\.us`, "0.me.pushName": "Olga"}},
		{"a session", CompatRequest{Method: "GET", Address: base + "/api/sessions/default", Header: key, Body: ""}, 200, map[string]any{"status": "WORKING", "engine.engine": "GOWS"}},
		{"the account", CompatRequest{Method: "GET", Address: base + "/api/sessions/default/me", Header: key, Body: ""}, 200, map[string]any{"pushName": "Olga", "jid": `\d+@s\.whatsapp\.net`}},
		{"version", CompatRequest{Method: "GET", Address: base + "/api/version", Header: key, Body: ""}, 200, map[string]any{"engine": "GOWS", "version": `2026\..*`}},
		{"ping", CompatRequest{Method: "GET", Address: base + "/ping", Header: nil, Body: ""}, 200, map[string]any{"message": "pong"}},
		{"without a key", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: nil, Body: `{"chatId":"15550100301","text":"x"}`}, 401, map[string]any{"message": "Unauthorized", "statusCode": 401.0}},
		{"a key in the address", CompatRequest{Method: "GET", Address: base + "/api/sessions?x-api-key=" + s.Full, Header: nil, Body: ""}, 401, nil},
		{"another session", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `{"session":"mine","chatId":"15550100301","text":"x"}`}, 422, map[string]any{"error": `Session "mine" does not exist`}},
		{"another session's state", CompatRequest{Method: "GET", Address: base + "/api/sessions/mine", Header: key, Body: ""}, 422, map[string]any{"session": "mine"}},
		{"no chat", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `{"text":"x"}`}, 400, map[string]any{"message": "chatId is missing.*"}},
		{"no recipient", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `{"chatId":"Sam","text":"x"}`}, 400, map[string]any{"message": `chatId: "Sam" is neither.*`}},
		{"no text", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `{"chatId":"15550100301"}`}, 400, map[string]any{"message": "text.*"}},
		{"no JSON", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `chatId=1`}, 400, map[string]any{"message": "the body must be a JSON object"}},
		{"not on WhatsApp", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: key, Body: `{"chatId":"15550109999","text":"x"}`}, 400, map[string]any{"message": ".*"}},
		{"without the scope to send", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: map[string]string{"X-Api-Key": s.Reader}, Body: `{"chatId":"15550100301","text":"x"}`}, 403, map[string]any{"message": ".*"}},
		{"outside the token's chats", CompatRequest{Method: "POST", Address: base + "/api/sendText", Header: map[string]string{"X-Api-Key": s.Narrow}, Body: `{"chatId":"15550100301","text":"x"}`}, 404, map[string]any{"message": "there is no chat.*"}},
		{"stop the server", CompatRequest{Method: "POST", Address: base + "/api/server/stop", Header: key, Body: `{}`}, 501, map[string]any{"message": "bridged does not do this.*", "error": "Not Implemented"}},
		{"delete the session", CompatRequest{Method: "DELETE", Address: base + "/api/sessions/default", Header: key, Body: ""}, 501, nil},
		{"elsewhere", CompatRequest{Method: "GET", Address: base + "/dashboard", Header: key, Body: ""}, 404, map[string]any{"message": "Cannot GET /dashboard"}},
	})
	Must(s.Friend.ReceivedText(Within(t), "plain"))(t)
	s.WantSentBy(t, s.Friend, "plain", "over WAHA’s API with the token full")
	if refused := s.Friend.Messages(); len(refused) != 5 {
		t.Errorf("Sam got %d messages, want 5", len(refused))
	}
}

// Replies and repetitions: a message's whole id comes back as it was handed out, and the
// id that a caller chooses, or its key, makes a send repeatable.
func TestCompat_WAHARepliesAndRepeats(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	key := map[string]string{"X-Api-Key": s.Full}
	send := func(body string) (*http.Response, any) {
		return s.Ask(t, CompatRequest{Method: "POST", Address: s.Address + "/waha/api/sendText", Header: key, Body: body})
	}
	_, first := send(`{"chatId":"15550100301","text":"first","id":"order-1"}`)
	again, repeated := send(`{"chatId":"15550100301","text":"first","id":"order-1"}`)
	if At(first, "id") != At(repeated, "id") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("repeated: %v, %v, %v", first, repeated, again.Header)
	}
	if resp, other := send(`{"chatId":"15550100301","text":"other","id":"order-1"}`); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("another text with the same id: %d %v", resp.StatusCode, other)
	}
	if resp, reply := send(fmt.Sprintf(`{"chatId":"15550100301@c.us","text":"an answer","reply_to":"%v"}`, At(first, "id"))); resp.StatusCode != http.StatusCreated {
		t.Fatalf("a reply: %d %v", resp.StatusCode, reply)
	}
	got := Must(s.Friend.ReceivedText(Within(t), "an answer"))(t)
	quoted := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID()
	if want := At(first, "_data.Info.ID"); quoted != want {
		t.Errorf("it answers %q, want %v", quoted, want)
	}
	if count := len(s.Friend.Messages()); count != 2 {
		t.Errorf("Sam got %d messages, want 2", count)
	}
}

// What Apprise, Uptime Kuma, n8n's credential test and scripts ask of Evolution, below its
// prefix and at its own address.
func TestCompat_Evolution(t *testing.T) {
	t.Parallel()
	s := NewCompatScene(t)
	key := map[string]string{"apikey": s.Full, "Content-Type": "application/json"}
	sent := map[string]any{"key.id": "[0-9A-F]+", "key.remoteJid": `15550100301@s\.whatsapp\.net`, "key.fromMe": true, "messageType": "conversation", "status": "PENDING", "instanceId": "[0-9a-f-]{36}"}
	for name, base := range map[string]string{"below its prefix": s.Address + "/evolution", "at its own address": s.Own} {
		t.Run(name, func(t *testing.T) {
			check(s, t, []compatCase{
				{"Apprise", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged", Header: key, Body: `{"number":"15550100301","text":"an alert"}`}, 201, sent},
				{"evolution-api-sdk", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged/", Header: key, Body: `{"number":"15550100301@s.whatsapp.net","text":"x","delay":1}`}, 201, sent},
				{"a body of version 1", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged", Header: key, Body: `{"number":"15550100301","options":{"delay":1,"presence":"composing"},"textMessage":{"text":"x"}}`}, 400, map[string]any{"response.message.0": `instance requires property "text"`}},
				{"a number as a number", CompatRequest{Method: "POST", Address: base + "/message/sendText/%62ridged", Header: key, Body: `{"number":15550100301,"text":"the last"}`}, 201, sent},
				{"n8n's credential test", CompatRequest{Method: "GET", Address: base + "/instance/fetchInstances", Header: key, Body: ""}, 200, map[string]any{"0.name": "bridged", "0.connectionStatus": "open", "0.profileName": "Olga", "0.token": "", "0.ownerJid": `\d+@s\.whatsapp\.net`}},
				{"by name", CompatRequest{Method: "GET", Address: base + "/instance/fetchInstances?instanceName=bridged", Header: key, Body: ""}, 200, map[string]any{"0.name": "bridged"}},
				{"the root", CompatRequest{Method: "GET", Address: base + "/", Header: nil, Body: ""}, 200, map[string]any{"message": "Welcome.*"}},
				{"n8n's probe of a trailing slash", CompatRequest{Method: "GET", Address: base + "/erro", Header: key, Body: ""}, 404, nil},
				{"without a key", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged", Header: nil, Body: `{"number":"15550100301","text":"x"}`}, 401, map[string]any{"response.message": "Unauthorized"}},
				{"another instance", CompatRequest{Method: "POST", Address: base + "/message/sendText/my%20instance", Header: key, Body: `{"number":"15550100301","text":"x"}`}, 404, map[string]any{"response.message.0": `The "my instance" instance does not exist.*`}},
				{"no number", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged", Header: key, Body: `{"text":"x"}`}, 400, map[string]any{"response.message.0": `instance requires property "number"`}},
				{"no text", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged", Header: key, Body: `{"number":"15550100301"}`}, 400, map[string]any{"response.message.0": `instance requires property "text"`}},
				{"delete the instance", CompatRequest{Method: "DELETE", Address: base + "/instance/delete/bridged", Header: key, Body: ""}, 400, map[string]any{"response.message.0": "bridged does not do this, and nothing was changed.*"}},
				{"without the scope to send", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged", Header: map[string]string{"apikey": s.Reader}, Body: `{"number":"15550100301","text":"x"}`}, 403, nil},
				{"outside the token's chats", CompatRequest{Method: "POST", Address: base + "/message/sendText/bridged", Header: map[string]string{"apikey": s.Narrow}, Body: `{"number":"15550100301","text":"x"}`}, 404, nil},
			})
		})
	}
	Eventually(t, func() error {
		if count := len(s.Friend.Messages()); count != 6 {
			return fmt.Errorf("Sam got %d messages, want 6", count)
		}
		return nil
	})
	s.WantSentBy(t, s.Friend, "the last", "over Evolution’s API with the token full")
	resp := Must(http.Get("http://" + s.Own + "/healthz"))(t)
	if resp.Body.Close(); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("Evolution's own address serves the API, too: %d", resp.StatusCode)
	}
}

// Compatibility APIs are off until COMPAT names them, and obey the bridge's switches.
func TestCompat_IsOffByDefault(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network)
	Pair(t, p, owner)
	for _, path := range []string{"/waha/ping", "/evolution/", "/evolution"} {
		resp := Must(http.Get("http://" + p.Address + path))(t)
		if resp.Body.Close(); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	s := NewCompatScene(t, "ENABLE_SEND=false")
	check(s, t, []compatCase{
		{"WAHA", CompatRequest{Method: "POST", Address: s.Address + "/waha/api/sendText", Header: map[string]string{"X-Api-Key": s.Full}, Body: `{"chatId":"15550100301","text":"x"}`}, 403, map[string]any{"message": ".*ENABLE_SEND.*"}},
		{"Evolution", CompatRequest{Method: "POST", Address: s.Address + "/evolution/message/sendText/bridged", Header: map[string]string{"apikey": s.Full}, Body: `{"number":"15550100301","text":"x"}`}, 403, map[string]any{"response.message.0": ".*ENABLE_SEND.*"}},
	})
}
