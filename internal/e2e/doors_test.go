package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// doorScene is a paired bridge with all doors open, a friend, and tokens.
type doorScene struct {
	*process
	network              *simnet.Network
	owner, friend        *simnet.Phone
	device               *simnet.Device
	own                  string // the address of the Evolution door's own listener
	full, reader, narrow string // tokens: to read and send, to read, and for another chat
}

var doorAddress = regexp.MustCompile(`"door":"evolution","address":"([^"]+)"`)

func newDoorScene(t *testing.T, settings ...string) doorScene {
	t.Helper()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	s := doorScene{network: network, owner: owner, friend: newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})}
	s.process = startBridge(t, network, append([]string{"COMPAT=waha,evolution", "COMPAT_LISTEN=evolution=127.0.0.1:0"}, settings...)...)
	s.device = pair(t, s.process, owner)
	hello := must(s.friend.SendText(within(t), owner.PN(), "hello"))(t)
	if err := s.device.WaitAcknowledged(within(t), hello); err != nil {
		t.Fatal(err)
	}
	s.full = s.token(t, "full", nil, bridge.ScopeRead, bridge.ScopeSend)
	s.reader = s.token(t, "reader", nil, bridge.ScopeRead)
	s.narrow = s.token(t, "narrow", []bridge.JID{"15550100399@s.whatsapp.net"}, bridge.ScopeRead, bridge.ScopeSend)
	s.own = doorAddress.FindStringSubmatch(s.log.String())[1]
	return s
}

// token makes a token and returns its secret.
func (s doorScene) token(t *testing.T, name string, chats []bridge.JID, scopes ...bridge.Scope) string {
	t.Helper()
	made := must(s.api.CreateToken(within(t), client.NewToken{Name: name, Scopes: scopes, Chats: chats}))(t)
	s.secrets = append(s.secrets, made.Secret)
	return made.Secret
}

// doorRequest is a request as a client of a door makes it.
type doorRequest struct {
	method, address string
	header          map[string]string
	body            string
}

// ask makes a request and returns the answer with its JSON.
func (s doorScene) ask(t *testing.T, r doorRequest) (*http.Response, any) {
	t.Helper()
	req := must(http.NewRequestWithContext(within(t), r.method, "http://"+r.address, strings.NewReader(r.body)))(t)
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	resp := must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	data := must(io.ReadAll(resp.Body))(t)
	var answer any
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&answer); err != nil {
		t.Fatalf("%s %s answers %d %q: %v", r.method, r.address, resp.StatusCode, data, err)
	}
	if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %s: headers %v", r.method, r.address, resp.Header)
	}
	return resp, answer
}

// at returns the value at a path of members, such as "key.id"; nil for none.
func at(answer any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch v := answer.(type) {
		case map[string]any:
			answer = v[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
				return nil
			}
			answer = v[i]
		default:
			return nil
		}
	}
	return answer
}

// doorCase is a request with what its client reads of the answer.
type doorCase struct {
	name    string
	request doorRequest
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

func (s doorScene) check(t *testing.T, cases []doorCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resp, answer := s.ask(t, c.request)
			if resp.StatusCode != c.status {
				t.Fatalf("%d %v, want %d", resp.StatusCode, answer, c.status)
			}
			for path, want := range c.reads {
				if got := at(answer, path); !isValue(got, want) {
					t.Errorf("%s is %v, want %v: %v", path, got, want, answer)
				}
			}
		})
	}
}

// What Uptime Kuma, Peekaping, Home Assistant's integrations, n8n's credential test and
// scripts ask of WAHA, byte for byte where it matters.
func TestDoors_WAHA(t *testing.T) {
	t.Parallel()
	s := newDoorScene(t)
	base := s.address + "/waha"
	key := map[string]string{"X-Api-Key": s.full, "Content-Type": "application/json"}
	bearer := map[string]string{"Authorization": "Bearer " + s.full, "Content-Type": "application/json"}
	sent := map[string]any{"id": `true_15550100301@c\.us_[0-9A-F]+`, "fromMe": true, "ackName": "PENDING", "from": `15550100301@c\.us`, "_data.Info.ID": "[0-9A-F]+"}
	s.check(t, []doorCase{
		{"Uptime Kuma", doorRequest{"POST", base + "/api/sendText", key, `{"session":"default","chatId":"15550100301@c.us","text":"[DB] is down"}`}, 201, sent},
		{"Peekaping", doorRequest{"POST", base + "//api//sendText/", key, `{"session":"default","chatId":"15550100301","text":"down"}`}, 201, sent},
		{"Home Assistant, with a bearer", doorRequest{"POST", base + "/api/sendText", bearer, `{"chatId":"+1 555 010-0301","text":"the door is open","session":"default"}`}, 201, sent},
		{"n8n, with empty fields", doorRequest{"POST", base + "/api/sendText", key, `{"session":"default","chatId":"15550100301@c.us","text":"x","reply_to":"","linkPreview":true,"linkPreviewHighQuality":false}`}, 201, sent},
		{"a script, by address", doorRequest{"GET", base + "/api/sendText?session=default&phone=15550100301&text=plain", key, ""}, 200, sent},
		{"sessions", doorRequest{"GET", base + "/api/sessions?all=true", key, ""}, 200, map[string]any{"0.name": "default", "0.status": "WORKING", "0.me.id": `\d+@c\.us`, "0.me.pushName": "Olga"}},
		{"a session", doorRequest{"GET", base + "/api/sessions/default", key, ""}, 200, map[string]any{"status": "WORKING", "engine.engine": "GOWS"}},
		{"the account", doorRequest{"GET", base + "/api/sessions/default/me", key, ""}, 200, map[string]any{"pushName": "Olga", "jid": `\d+@s\.whatsapp\.net`}},
		{"version", doorRequest{"GET", base + "/api/version", key, ""}, 200, map[string]any{"engine": "GOWS", "version": `2026\..*`}},
		{"ping", doorRequest{"GET", base + "/ping", nil, ""}, 200, map[string]any{"message": "pong"}},
		{"without a key", doorRequest{"POST", base + "/api/sendText", nil, `{"chatId":"15550100301","text":"x"}`}, 401, map[string]any{"message": "Unauthorized", "statusCode": 401.0}},
		{"a key in the address", doorRequest{"GET", base + "/api/sessions?x-api-key=" + s.full, nil, ""}, 401, nil},
		{"another session", doorRequest{"POST", base + "/api/sendText", key, `{"session":"mine","chatId":"15550100301","text":"x"}`}, 422, map[string]any{"error": `Session "mine" does not exist`}},
		{"another session's state", doorRequest{"GET", base + "/api/sessions/mine", key, ""}, 422, map[string]any{"session": "mine"}},
		{"no chat", doorRequest{"POST", base + "/api/sendText", key, `{"text":"x"}`}, 400, map[string]any{"message": "chatId is missing.*"}},
		{"no recipient", doorRequest{"POST", base + "/api/sendText", key, `{"chatId":"Sam","text":"x"}`}, 400, map[string]any{"message": `"Sam" is neither.*`}},
		{"no text", doorRequest{"POST", base + "/api/sendText", key, `{"chatId":"15550100301"}`}, 400, map[string]any{"message": "text.*"}},
		{"no JSON", doorRequest{"POST", base + "/api/sendText", key, `chatId=1`}, 400, map[string]any{"message": "the body must be a JSON object"}},
		{"not on WhatsApp", doorRequest{"POST", base + "/api/sendText", key, `{"chatId":"15550109999","text":"x"}`}, 400, map[string]any{"message": ".*"}},
		{"without the scope to send", doorRequest{"POST", base + "/api/sendText", map[string]string{"X-Api-Key": s.reader}, `{"chatId":"15550100301","text":"x"}`}, 403, map[string]any{"message": ".*"}},
		{"outside the token's chats", doorRequest{"POST", base + "/api/sendText", map[string]string{"X-Api-Key": s.narrow}, `{"chatId":"15550100301","text":"x"}`}, 404, map[string]any{"message": "there is no chat.*"}},
		{"stop the server", doorRequest{"POST", base + "/api/server/stop", key, `{}`}, 501, map[string]any{"message": "bridged does not do this.*", "error": "Not Implemented"}},
		{"delete the session", doorRequest{"DELETE", base + "/api/sessions/default", key, ""}, 501, nil},
		{"elsewhere", doorRequest{"GET", base + "/dashboard", key, ""}, 404, map[string]any{"message": "Cannot GET /dashboard"}},
	})
	must(s.friend.ReceivedText(within(t), "plain"))(t)
	if refused := s.friend.Messages(); len(refused) != 5 {
		t.Errorf("Sam got %d messages, want 5", len(refused))
	}
}

// Replies and repetitions: a message's whole id comes back as it was handed out, and the
// id that a caller chooses, or its key, makes a send repeatable.
func TestDoors_WAHARepliesAndRepeats(t *testing.T) {
	t.Parallel()
	s := newDoorScene(t)
	key := map[string]string{"X-Api-Key": s.full}
	send := func(body string) (*http.Response, any) {
		return s.ask(t, doorRequest{"POST", s.address + "/waha/api/sendText", key, body})
	}
	_, first := send(`{"chatId":"15550100301","text":"first","id":"order-1"}`)
	again, repeated := send(`{"chatId":"15550100301","text":"first","id":"order-1"}`)
	if at(first, "id") != at(repeated, "id") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("repeated: %v, %v, %v", first, repeated, again.Header)
	}
	if resp, other := send(`{"chatId":"15550100301","text":"other","id":"order-1"}`); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("another text with the same id: %d %v", resp.StatusCode, other)
	}
	if resp, reply := send(fmt.Sprintf(`{"chatId":"15550100301@c.us","text":"an answer","reply_to":"%v"}`, at(first, "id"))); resp.StatusCode != http.StatusCreated {
		t.Fatalf("a reply: %d %v", resp.StatusCode, reply)
	}
	got := must(s.friend.ReceivedText(within(t), "an answer"))(t)
	quoted := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID()
	if want := at(first, "_data.Info.ID"); quoted != want {
		t.Errorf("it answers %q, want %v", quoted, want)
	}
	if count := len(s.friend.Messages()); count != 2 {
		t.Errorf("Sam got %d messages, want 2", count)
	}
}

// What Apprise, Uptime Kuma, n8n's credential test and scripts ask of Evolution, below its
// prefix and at its own address.
func TestDoors_Evolution(t *testing.T) {
	t.Parallel()
	s := newDoorScene(t)
	key := map[string]string{"apikey": s.full, "Content-Type": "application/json"}
	sent := map[string]any{"key.id": "[0-9A-F]+", "key.remoteJid": `15550100301@s\.whatsapp\.net`, "key.fromMe": true, "messageType": "conversation", "status": "PENDING", "instanceId": "[0-9a-f-]{36}"}
	for name, base := range map[string]string{"below its prefix": s.address + "/evolution", "at its own address": s.own} {
		t.Run(name, func(t *testing.T) {
			s.check(t, []doorCase{
				{"Apprise", doorRequest{"POST", base + "/message/sendText/bridged", key, `{"number":"15550100301","text":"an alert"}`}, 201, sent},
				{"evolution-api-sdk", doorRequest{"POST", base + "/message/sendText/bridged/", key, `{"number":"15550100301@s.whatsapp.net","text":"x","delay":1}`}, 201, sent},
				{"the first version", doorRequest{"POST", base + "/message/sendText/bridged", key, `{"number":"15550100301","options":{"delay":1,"presence":"composing"},"textMessage":{"text":"x"}}`}, 201, sent},
				{"a number as a number", doorRequest{"POST", base + "/message/sendText/%62ridged", key, `{"number":15550100301,"text":"the last"}`}, 201, sent},
				{"n8n's credential test", doorRequest{"GET", base + "/instance/fetchInstances", key, ""}, 200, map[string]any{"0.name": "bridged", "0.connectionStatus": "open", "0.profileName": "Olga", "0.token": "", "0.ownerJid": `\d+@s\.whatsapp\.net`}},
				{"by name", doorRequest{"GET", base + "/instance/fetchInstances?instanceName=bridged", key, ""}, 200, map[string]any{"0.name": "bridged"}},
				{"the root", doorRequest{"GET", base + "/", nil, ""}, 200, map[string]any{"message": "Welcome.*"}},
				{"n8n's probe of a trailing slash", doorRequest{"GET", base + "/erro", key, ""}, 404, nil},
				{"without a key", doorRequest{"POST", base + "/message/sendText/bridged", nil, `{"number":"15550100301","text":"x"}`}, 401, map[string]any{"response.message": "Unauthorized"}},
				{"another instance", doorRequest{"POST", base + "/message/sendText/my%20instance", key, `{"number":"15550100301","text":"x"}`}, 404, map[string]any{"response.message.0": `The "my instance" instance does not exist.*`}},
				{"no number", doorRequest{"POST", base + "/message/sendText/bridged", key, `{"text":"x"}`}, 400, map[string]any{"response.message.0": `instance requires property "number"`}},
				{"no text", doorRequest{"POST", base + "/message/sendText/bridged", key, `{"number":"15550100301"}`}, 400, map[string]any{"response.message.0": `instance requires property "text"`}},
				{"delete the instance", doorRequest{"DELETE", base + "/instance/delete/bridged", key, ""}, 400, map[string]any{"response.message.0": "bridged does not do this, and nothing was changed.*"}},
				{"without the scope to send", doorRequest{"POST", base + "/message/sendText/bridged", map[string]string{"apikey": s.reader}, `{"number":"15550100301","text":"x"}`}, 403, nil},
				{"outside the token's chats", doorRequest{"POST", base + "/message/sendText/bridged", map[string]string{"apikey": s.narrow}, `{"number":"15550100301","text":"x"}`}, 404, nil},
			})
		})
	}
	eventually(t, func() error {
		if count := len(s.friend.Messages()); count != 8 {
			return fmt.Errorf("Sam got %d messages, want 8", count)
		}
		return nil
	})
	resp := must(http.Get("http://" + s.own + "/healthz"))(t)
	if resp.Body.Close(); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the door's own address serves the API, too: %d", resp.StatusCode)
	}
}

// Doors are closed until they are asked for, and obey the bridge's switches.
func TestDoors_AreClosedUntilAskedFor(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	p := startBridge(t, network)
	pair(t, p, owner)
	for _, path := range []string{"/waha/ping", "/evolution/", "/evolution"} {
		resp := must(http.Get("http://" + p.address + path))(t)
		if resp.Body.Close(); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	s := newDoorScene(t, "ENABLE_SEND=false")
	s.check(t, []doorCase{
		{"WAHA", doorRequest{"POST", s.address + "/waha/api/sendText", map[string]string{"X-Api-Key": s.full}, `{"chatId":"15550100301","text":"x"}`}, 403, map[string]any{"message": ".*ENABLE_SEND.*"}},
		{"Evolution", doorRequest{"POST", s.address + "/evolution/message/sendText/bridged", map[string]string{"apikey": s.full}, `{"number":"15550100301","text":"x"}`}, 403, map[string]any{"response.message.0": ".*ENABLE_SEND.*"}},
	})
}
