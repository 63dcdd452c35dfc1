package compat

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// What Chatwoot, Typebot, kapso and the libraries ask of the Cloud API, byte for byte where
// it matters, and what they read of the answers.
func TestCompat_Cloud(t *testing.T) {
	t.Parallel()
	s := NewCloudScene(t)
	base, key := s.Address+"/cloud", Bearer(s.Full)
	messages := base + "/v21.0/" + CloudAccount + "/messages"
	web := NewWebsite(t)
	picture := web.Has("/a.png", demo.Picture(20, 20))
	sent := map[string]any{"messaging_product": "whatsapp", "contacts.0.wa_id": "15550100301", "messages.0.id": `wamid\.[A-Za-z0-9_-]+`}
	post := func(body string) CompatRequest {
		return CompatRequest{Method: "POST", Address: messages, Header: key, Body: body}
	}
	fails := func(code float64) map[string]any {
		return map[string]any{"error.code": code, "error.message": `\(#\d+\) .+`, "error.type": "OAuthException", "error.fbtrace_id": ".+", "error.error_data.details": ".+"}
	}
	missing := map[string]any{"error.code": 100.0, "error.type": "GraphMethodException", "error.message": "Unsupported .*"}
	check(s, t, []compatCase{
		{"Chatwoot's set-up, with the key in the address", CompatRequest{Method: "GET", Address: base + "/v14.0/" + CloudAccount + "/message_templates?access_token=" + s.Full, Header: nil, Body: ""}, 200, map[string]any{"paging.cursors.after": ""}},
		{"Chatwoot's text", CompatRequest{Method: "POST", Address: base + "/v13.0/" + CloudAccount + "/messages", Header: key, Body: `{"messaging_product":"whatsapp","context":null,"to":"15550100301","text":{"body":"from Chatwoot"},"type":"text"}`}, 200, sent},
		{"Chatwoot's choices", post(`{"messaging_product":"whatsapp","to":"15550100301","interactive":{"type":"button","body":{"text":"Which?"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"Red"}},{"type":"reply","reply":{"id":"b","title":"Blue"}}]}},"type":"interactive"}`), 200, sent},
		{"kapso", post(`{"messaging_product":"whatsapp","recipient_type":"individual","to":"+1 555 010-0301","type":"text","text":{"body":"from kapso","preview_url":false}}`), 200, sent},
		{"without a type", CompatRequest{Method: "POST", Address: base + "//v21.0//" + CloudAccount + "/messages/", Header: key, Body: `{"messaging_product":"whatsapp","recipient":"15550100301","text":{"body":"plain"}}`}, 200, sent},
		{"a list", post(`{"to":"15550100301","type":"interactive","interactive":{"type":"list","header":{"type":"text","text":"Menu"},"body":{"text":"Choose"},"footer":{"text":"thanks"},"action":{"button":"Open","sections":[{"title":"Hot","rows":[{"id":"1","title":"Soup","description":"of the day"}]},{"title":"Cold","rows":[{"id":"2","title":"Salad"}]}]}}}`), 200, sent},
		{"a picture by link", post(`{"to":"15550100301","type":"image","image":{"link":"` + picture + `","caption":"a picture"}}`), 200, sent},
		{"a document by link", post(`{"to":"15550100301","type":"document","document":{"link":"` + picture + `","filename":"plan/1.png"}}`), 200, sent},
		{"a sound that cannot be a voice note", post(`{"to":"15550100301","type":"audio","audio":{"link":"` + web.Has("/a.mp3", Song()) + `","voice":true}}`), 200, sent},
		{"a place, with texts for numbers", post(`{"to":"15550100301","type":"location","location":{"latitude":"52.5","longitude":13.4,"name":"n","address":"a"}}`), 200, sent},
		{"contacts", post(`{"to":"15550100301","type":"contacts","contacts":[{"name":{"formatted_name":"Jonas; Weber","first_name":"Jonas"},"phones":[{"phone":"+49 1510 0100102","type":"CELL","wa_id":"4915100100102"},{"phone":"4915100100103"}],"org":{"company":"ACME, Inc."}}]}`), 200, sent},
		{"whatsapp-api-js' contacts, JSON in a text", post(`{"to":"15550100301","type":"contacts","contacts":"[{\"name\":{\"formatted_name\":\"Ada L\",\"first_name\":\"Ada\"},\"phones\":[{\"phone\":\"+15551234567\",\"type\":\"CELL\",\"wa_id\":\"15551234567\"}]}]"}`), 200, sent},
		{"contacts that are neither", post(`{"to":"15550100301","type":"contacts","contacts":"Ada"}`), 400, fails(100)},
		{"a sound that computers refuse", post(`{"to":"15550100301","type":"audio","audio":{"link":"` + web.Has("/a.wav", Tone(1)) + `","voice":true}}`), 400, fails(131053)},
		{"a link that leads nowhere", post(`{"to":"15550100301","type":"image","image":{"link":"` + web.URL + `/none.png"}}`), 400, fails(131052)},
		{"a link to one's own network", post(`{"to":"15550100301","type":"image","image":{"link":"http://127.0.0.1:9/a.png"}}`), 400, fails(131052)},
		{"what is no picture", post(`{"to":"15550100301","type":"video","video":{"link":"` + web.Has("/a.txt", []byte("text")) + `"}}`), 400, fails(131053)},
		{"a template", post(`{"to":"15550100301","type":"template","template":{"name":"hello_world","language":{"code":"en_US"}}}`), 400, fails(132001)},
		{"not on WhatsApp", post(`{"to":"15550109999","type":"text","text":{"body":"x"}}`), 400, fails(131026)},
		{"no recipient", post(`{"type":"text","text":{"body":"x"}}`), 400, fails(100)},
		{"no text", post(`{"to":"15550100301","type":"text"}`), 400, fails(100)},
		{"a wrong key", CompatRequest{Method: "POST", Address: messages, Header: Bearer("x"), Body: `{}`}, 401, fails(190)},
		{"without the scope to send", CompatRequest{Method: "POST", Address: messages, Header: Bearer(s.Reader), Body: `{"to":"15550100301","text":{"body":"x"}}`}, 403, fails(10)},
		{"outside the token's chats", CompatRequest{Method: "POST", Address: messages, Header: Bearer(s.Narrow), Body: `{"to":"15550100301","text":{"body":"x"}}`}, 400, fails(100)},
		{"another number", CompatRequest{Method: "POST", Address: base + "/v21.0/15550000000/messages", Header: key, Body: `{"to":"15550100301","text":{"body":"x"}}`}, 400, missing},
		{"Typebot's number", CompatRequest{Method: "GET", Address: base + "/v21.0/" + CloudAccount, Header: key, Body: ""}, 200, map[string]any{"id": CloudAccount, "display_phone_number": CloudAccount, "verified_name": "Olga", "status": "CONNECTED"}},
		{"Typebot's numbers", CompatRequest{Method: "GET", Address: base + "/v21.0/" + CloudAccount + "/phone_numbers?fields=display_phone_number", Header: key, Body: ""}, 200, map[string]any{"data.0.id": CloudAccount}},
		{"Typebot's token", CompatRequest{Method: "GET", Address: base + "/v21.0/debug_token?input_token=" + s.Full, Header: key, Body: ""}, 200, map[string]any{"data.is_valid": true, "data.scopes.1": "whatsapp_business_messaging"}},
		{"register", CompatRequest{Method: "POST", Address: base + "/v21.0/" + CloudAccount + "/register", Header: key, Body: `{"messaging_product":"whatsapp","pin":"123456"}`}, 200, map[string]any{"success": true}},
		{"the profile", CompatRequest{Method: "GET", Address: base + "/v21.0/" + CloudAccount + "/whatsapp_business_profile", Header: key, Body: ""}, 200, map[string]any{"data.0.messaging_product": "whatsapp"}},
		{"elsewhere", CompatRequest{Method: "GET", Address: base + "/v21.0/me/accounts", Header: key, Body: ""}, 400, missing},
	})
	for _, text := range []string{"from Chatwoot", "Which?\n\n1. Red\n2. Blue", "from kapso", "plain", "*Menu*\n\nChoose\n\n*Hot*\n1. Soup – of the day\n\n*Cold*\n2. Salad\n\n_thanks_", "a picture"} {
		Must(s.Friend.ReceivedText(Within(t), text))(t)
	}
	s.WantSentBy(t, s.Friend, "from Chatwoot", "over the Cloud API with the token full")
	card := Must(s.Friend.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.ContactMessage != nil }))(t)
	for _, line := range []string{"FN:Jonas\\; Weber", "TEL;type=CELL;waid=4915100100102:+49 1510 0100102", "TEL;type=CELL;waid=4915100100103:4915100100103", "ORG:ACME\\, Inc."} {
		if vcard := card.Message.Message.ContactMessage.GetVcard(); !strings.Contains(vcard, line) {
			t.Errorf("the card has no %s: %s", line, vcard)
		}
	}
	Must(s.Friend.Received(Within(t), func(r *simnet.Received) bool {
		return r.Message.Message.GetContactMessage().GetDisplayName() == "Ada L"
	}))(t)
	if count := len(s.Friend.Messages()); count != 11 {
		t.Errorf("Sam got %d messages, want 11", count)
	}
}

// Uploaded files are sent by their ids, received ones are downloaded in two steps, a send
// with a key is repeated once, and a message's id serves replies, reactions and reading.
func TestCompat_CloudFilesAndIDs(t *testing.T) {
	t.Parallel()
	s := NewCloudScene(t)
	key, base := Bearer(s.Full), s.Address+"/cloud/v21.0/"
	send := func(body string) any {
		t.Helper()
		resp, answer := s.Ask(t, CompatRequest{Method: "POST", Address: base + CloudAccount + "/messages", Header: key, Body: body})
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", body, resp.StatusCode, answer)
		}
		return At(answer, "messages.0.id")
	}
	picture := demo.Picture(30, 20)
	id := s.UploadTo(t, "plan.png", picture)
	for kind, wants := range map[string]func(r *simnet.Received) bool{
		"image":    func(r *simnet.Received) bool { return r.Text() == "look" && r.Message.Message.ImageMessage != nil },
		"sticker":  func(r *simnet.Received) bool { return r.Message.Message.StickerMessage != nil },
		"document": func(r *simnet.Received) bool { return r.Message.Message.DocumentMessage.GetFileName() == "plan.png" },
	} {
		caption := ""
		if kind == "image" {
			caption = `,"caption":"look"`
		}
		send(fmt.Sprintf(`{"to":"15550100301","type":%q,%q:{"id":%q%s}}`, kind, kind, id, caption))
		got := Must(s.Friend.Received(Within(t), wants))(t)
		if content := Must(s.Friend.Download(Within(t), got))(t); kind == "document" && !bytes.Equal(content, picture) {
			t.Errorf("the %s has %d other bytes", kind, len(content))
		}
	}
	if resp, answer := s.Ask(t, CompatRequest{Method: "DELETE", Address: base + id, Header: key, Body: ""}); resp.StatusCode != http.StatusOK || At(answer, "success") != true {
		t.Errorf("deleted: %d %v", resp.StatusCode, answer)
	}

	came := Must(s.Friend.SendImage(Within(t), s.Owner.PN(), simnet.Media{Data: picture, Mimetype: "image/png", Caption: "from Sam"}))(t)
	received := "m" + base64.RawURLEncoding.EncodeToString([]byte("15550100301@s.whatsapp.net/"+came))
	var shown any
	Eventually(t, func() error {
		var resp *http.Response
		if resp, shown = s.Ask(t, CompatRequest{Method: "GET", Address: base + received + "/", Header: key, Body: ""}); resp.StatusCode != http.StatusOK {
			return fmt.Errorf("shown: %d %v", resp.StatusCode, shown)
		}
		return nil
	})
	sum := sha256.Sum256(picture)
	if At(shown, "mime_type") != "image/png" || At(shown, "sha256") != hex.EncodeToString(sum[:]) || At(shown, "file_size") != float64(len(picture)) {
		t.Errorf("described as %v", shown)
	}
	address := fmt.Sprint(At(shown, "url"))
	if want := "http://" + s.Address + "/cloud/media/" + received + "/content"; address != want {
		t.Errorf("it is at %s, want %s", address, want)
	}
	for token, status := range map[string]int{s.Full: http.StatusOK, "": http.StatusUnauthorized, s.Narrow: http.StatusBadRequest} {
		req := Must(http.NewRequestWithContext(Within(t), http.MethodGet, address, nil))(t)
		req.Header.Set("Authorization", "Bearer "+token)
		resp := Must(http.DefaultClient.Do(req))(t)
		content := Must(io.ReadAll(resp.Body))(t)
		if resp.Body.Close(); resp.StatusCode != status || status == http.StatusOK && (!bytes.Equal(content, picture) || resp.Header.Get("Content-Type") != "image/png") {
			t.Errorf("downloaded: %d, %d bytes, %v", resp.StatusCode, len(content), resp.Header)
		}
	}
	send(`{"to":"15550100301","type":"document","document":{"id":"` + received + `","filename":"back.png"}}`)
	Must(s.Friend.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.DocumentMessage.GetFileName() == "back.png" }))(t)

	message := "wamid." + received[1:]
	send(`{"to":"15550100301","type":"text","text":{"body":"an answer"},"context":{"message_id":"` + message + `"}}`)
	answer := Must(s.Friend.ReceivedText(Within(t), "an answer"))(t)
	if quoted := answer.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID(); quoted != came {
		t.Errorf("it answers %q, want %s", quoted, came)
	}
	send(`{"to":"15550100301","type":"reaction","reaction":{"message_id":"` + message + `","emoji":"👍"}}`)
	Must(s.Friend.Received(Within(t), func(r *simnet.Received) bool { return r.Message.Message.GetReactionMessage().GetText() == "👍" }))(t)
	reads := CompatRequest{Method: "POST", Address: base + CloudAccount + "/messages", Header: key, Body: `{"messaging_product":"whatsapp","status":"read","message_id":"` + message + `","typing_indicator":{"type":"text"}}`}
	if resp, answer := s.Ask(t, reads); resp.StatusCode != http.StatusOK || At(answer, "success") != true {
		t.Errorf("read: %d %v", resp.StatusCode, answer)
	}
	Must(s.Friend.WaitReceipt(Within(t), came, "read"))(t)

	keyed := CompatRequest{Method: "POST", Address: base + CloudAccount + "/messages", Header: map[string]string{"Authorization": "Bearer " + s.Full, "Idempotency-Key": "order-1"}, Body: `{"to":"15550100301","text":{"body":"once"}}`}
	_, first := s.Ask(t, keyed)
	again, second := s.Ask(t, keyed)
	if At(first, "messages.0.id") != At(second, "messages.0.id") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("repeated: %v, %v", first, second)
	}

	s.UploadTo(t, "plan.png", picture)
	s.Set("COMPAT=waha")
	s.Restart()
	if left, err := os.ReadDir(filepath.Join(s.Env["DATA_DIR"], "uploads")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the API is closed, and has left %v, %v", left, err)
	}
}

// cloudReceiver is a receiver of Meta's webhooks: it answers the challenge, checks each
// signature over the raw bytes, and keeps what is posted.
type cloudReceiver struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	secret string // guarded by mu, as all below
	asked  int
	values []any // of changes, in their order
	faults []string
}

func newCloudReceiver(t *testing.T) *cloudReceiver {
	r := &cloudReceiver{t: t}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *cloudReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Method == http.MethodGet {
		if query := req.URL.Query(); query.Get("hub.mode") == "subscribe" && query.Get("hub.verify_token") == "right" {
			r.asked++
			_, _ = io.WriteString(w, query.Get("hub.challenge"))
			return
		}
		w.WriteHeader(http.StatusForbidden)
		return
	}
	raw, err := io.ReadAll(req.Body)
	mac := hmac.New(sha256.New, []byte(r.secret))
	mac.Write(raw)
	var body any
	if err := errors.Join(err, json.Unmarshal(raw, &body)); err != nil {
		r.faults = append(r.faults, err.Error())
	}
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); req.Header.Get("X-Hub-Signature-256") != want {
		r.faults = append(r.faults, "signed "+req.Header.Get("X-Hub-Signature-256")+", want "+want)
	}
	if bytes.ContainsFunc(raw, func(c rune) bool { return c > '~' }) || At(body, "object") != "whatsapp_business_account" || At(body, "entry.0.id") != CloudAccount {
		r.faults = append(r.faults, "posted "+string(raw))
	}
	r.values = append(r.values, At(body, "entry.0.changes.0.value"))
}

// waits waits for a value in which a path has a value, and returns that value.
func (r *cloudReceiver) waits(path string, want any) (found any) {
	r.t.Helper()
	Eventually(r.t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, value := range r.values {
			if At(value, path) == want {
				found = value
				return nil
			}
		}
		return fmt.Errorf("nothing with %s = %v: %v", path, want, r.values)
	})
	return found
}

// A receiver that subscribed gets messages, reactions and statuses, signed, and no more once
// that ends.
func TestCompat_CloudWebhook(t *testing.T) {
	t.Parallel()
	s := NewCloudScene(t)
	receiver := newCloudReceiver(t)
	apps := CompatRequest{Method: "POST", Address: s.Address + "/cloud/v21.0/" + CloudAccount + "/subscribed_apps", Header: Bearer(TestToken), Body: ""}
	subscribe := func(token string) (*http.Response, any) {
		r := apps
		r.Body = fmt.Sprintf(`{"override_callback_uri":%q,"verify_token":%q}`, receiver.URL, token)
		return s.Ask(t, r)
	}
	if resp, answer := subscribe("wrong"); resp.StatusCode != http.StatusBadRequest || At(answer, "error.code") != 100.0 {
		t.Fatalf("a receiver that does not want it: %d %v", resp.StatusCode, answer)
	}
	resp, answer := subscribe("right")
	secret, _ := At(answer, "app_secret").(string)
	if resp.StatusCode != http.StatusOK || At(answer, "success") != true || secret == "" {
		t.Fatalf("subscribed: %d %v", resp.StatusCode, answer)
	}
	s.Secrets = append(s.Secrets, secret)
	receiver.mu.Lock()
	receiver.secret = secret
	receiver.mu.Unlock()

	if resp, answer := subscribe("right"); resp.StatusCode != http.StatusOK || At(answer, "app_secret") != nil {
		t.Errorf("subscribed again: %d %v", resp.StatusCode, answer)
	}
	list := apps
	list.Method = "GET"
	if _, answer := s.Ask(t, list); At(answer, "data.0.override_callback_uri") != receiver.URL || At(answer, "data.1") != nil {
		t.Errorf("listed: %v", answer)
	}

	hello := Must(s.Friend.SendText(Within(t), s.Owner.PN(), "¡hola! 👋"))(t)
	value := receiver.waits("messages.0.text.body", "¡hola! 👋")
	for path, want := range map[string]any{
		"contacts.0.profile.name": "Sam", "contacts.0.wa_id": "15550100301", "messages.0.from": "15550100301", "metadata.display_phone_number": CloudAccount,
		"messages.0.id": "wamid." + base64.RawURLEncoding.EncodeToString([]byte("15550100301@s.whatsapp.net/"+hello)),
	} {
		if got := At(value, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	_, sent := s.Ask(t, CompatRequest{Method: "POST", Address: s.Address + "/cloud/" + CloudAccount + "/messages", Header: Bearer(s.Full), Body: fmt.Sprintf(`{"to":"15550100301","text":{"body":"hi"},"context":{"message_id":"%v"}}`, At(value, "messages.0.id"))})
	id := At(sent, "messages.0.id")
	receiver.waits("statuses.0.id", id)
	got := Must(s.Friend.ReceivedText(Within(t), "hi"))(t)
	receiver.waits("statuses.0.status", "delivered")
	if err := s.Friend.MarkRead(Within(t), got); err != nil {
		t.Fatal(err)
	}
	receiver.waits("statuses.0.status", "read")
	Must(s.Friend.React(Within(t), got, "🎉"))(t)
	if value := receiver.waits("messages.0.reaction.emoji", "🎉"); At(value, "messages.0.reaction.message_id") != id {
		t.Errorf("a reaction on %v, want %v", value, id)
	}
	picture := Must(s.Friend.SendImage(Within(t), s.Owner.PN(), simnet.Media{Data: demo.Picture(10, 10), Mimetype: "image/png", Caption: "pic"}))(t)
	value = receiver.waits("messages.0.image.caption", "pic")
	if want := "m" + base64.RawURLEncoding.EncodeToString([]byte("15550100301@s.whatsapp.net/"+picture)); At(value, "messages.0.image.id") != want {
		t.Errorf("the picture is %v, want %s", value, want)
	}

	// A person without a number is answered at the digits that stand for her.
	fay := NewPhone(t, s.Network, simnet.PhoneOptions{Number: "15550100701", Name: "Fay", Username: "fay.w", Numberless: true})
	Must(fay.SendText(Within(t), s.Owner.LID(), "hello from Fay"))(t)
	from := At(receiver.waits("messages.0.text.body", "hello from Fay"), "messages.0.from")
	if from != fay.LID().User {
		t.Errorf("Fay is %v, want %s", from, fay.LID().User)
	}
	s.Ask(t, CompatRequest{Method: "POST", Address: s.Address + "/cloud/" + CloudAccount + "/messages", Header: Bearer(s.Full), Body: fmt.Sprintf(`{"to":"%v","text":{"body":"hello, Fay"}}`, from)})
	Must(fay.ReceivedText(Within(t), "hello, Fay"))(t)

	apps.Method = "DELETE"
	if resp, answer := s.Ask(t, apps); resp.StatusCode != http.StatusOK {
		t.Errorf("ended: %d %v", resp.StatusCode, answer)
	}
	if left := Must(s.API.Webhooks(Within(t)))(t); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	if receiver.asked != 2 || len(receiver.faults) > 0 {
		t.Errorf("asked %d times, %v", receiver.asked, receiver.faults)
	}
}
