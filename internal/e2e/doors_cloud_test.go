package e2e

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
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bridged/internal/demo"
	"bridged/internal/simnet"
)

// newCloudScene is a paired bridge with the Cloud door open, and with what its tests need.
func newCloudScene(t *testing.T) doorScene {
	t.Helper()
	return newDoorScene(t, "COMPAT=cloud", "COMPAT_URL_TOKEN=true", "WEBHOOK_ALLOW_PRIVATE=127.0.0.1/32", fetchesLoopback)
}

const cloudAccount = "491510000001"

// bearer returns the headers of a client of the Cloud API.
func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"}
}

// What Chatwoot, Typebot, kapso and the libraries ask of the Cloud API, byte for byte where
// it matters, and what they read of the answers.
func TestDoors_Cloud(t *testing.T) {
	t.Parallel()
	s := newCloudScene(t)
	base, key := s.address+"/cloud", bearer(s.full)
	messages := base + "/v21.0/" + cloudAccount + "/messages"
	web := newWebsite(t)
	picture := web.has("/a.png", demo.Picture(20, 20))
	sent := map[string]any{"messaging_product": "whatsapp", "contacts.0.wa_id": "15550100301", "messages.0.id": `wamid\.[A-Za-z0-9_-]+`}
	post := func(body string) doorRequest { return doorRequest{"POST", messages, key, body} }
	fails := func(code float64) map[string]any {
		return map[string]any{"error.code": code, "error.message": `\(#\d+\) .+`, "error.type": "OAuthException", "error.fbtrace_id": ".+", "error.error_data.details": ".+"}
	}
	missing := map[string]any{"error.code": 100.0, "error.type": "GraphMethodException", "error.message": "Unsupported .*"}
	s.check(t, []doorCase{
		{"Chatwoot's set-up, with the key in the address", doorRequest{"GET", base + "/v14.0/" + cloudAccount + "/message_templates?access_token=" + s.full, nil, ""}, 200, map[string]any{"paging.cursors.after": ""}},
		{"Chatwoot's text", doorRequest{"POST", base + "/v13.0/" + cloudAccount + "/messages", key, `{"messaging_product":"whatsapp","context":null,"to":"15550100301","text":{"body":"from Chatwoot"},"type":"text"}`}, 200, sent},
		{"Chatwoot's choices", post(`{"messaging_product":"whatsapp","to":"15550100301","interactive":{"type":"button","body":{"text":"Which?"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"Red"}},{"type":"reply","reply":{"id":"b","title":"Blue"}}]}},"type":"interactive"}`), 200, sent},
		{"kapso", post(`{"messaging_product":"whatsapp","recipient_type":"individual","to":"+1 555 010-0301","type":"text","text":{"body":"from kapso","preview_url":false}}`), 200, sent},
		{"without a type", doorRequest{"POST", base + "//v21.0//" + cloudAccount + "/messages/", key, `{"messaging_product":"whatsapp","recipient":"15550100301","text":{"body":"plain"}}`}, 200, sent},
		{"a list", post(`{"to":"15550100301","type":"interactive","interactive":{"type":"list","header":{"type":"text","text":"Menu"},"body":{"text":"Choose"},"footer":{"text":"thanks"},"action":{"button":"Open","sections":[{"title":"Hot","rows":[{"id":"1","title":"Soup","description":"of the day"}]},{"title":"Cold","rows":[{"id":"2","title":"Salad"}]}]}}}`), 200, sent},
		{"a picture by link", post(`{"to":"15550100301","type":"image","image":{"link":"` + picture + `","caption":"a picture"}}`), 200, sent},
		{"a document by link", post(`{"to":"15550100301","type":"document","document":{"link":"` + picture + `","filename":"plan/1.png"}}`), 200, sent},
		{"a sound that cannot be a voice note", post(`{"to":"15550100301","type":"audio","audio":{"link":"` + web.has("/a.mp3", song()) + `","voice":true}}`), 200, sent},
		{"a place, with texts for numbers", post(`{"to":"15550100301","type":"location","location":{"latitude":"52.5","longitude":13.4,"name":"n","address":"a"}}`), 200, sent},
		{"contacts", post(`{"to":"15550100301","type":"contacts","contacts":[{"name":{"formatted_name":"Jonas; Weber","first_name":"Jonas"},"phones":[{"phone":"+49 1510 0100102","type":"CELL","wa_id":"4915100100102"},{"phone":"4915100100103"}],"org":{"company":"ACME, Inc."}}]}`), 200, sent},
		{"whatsapp-api-js' contacts, JSON in a text", post(`{"to":"15550100301","type":"contacts","contacts":"[{\"name\":{\"formatted_name\":\"Ada L\",\"first_name\":\"Ada\"},\"phones\":[{\"phone\":\"+15551234567\",\"type\":\"CELL\",\"wa_id\":\"15551234567\"}]}]"}`), 200, sent},
		{"contacts that are neither", post(`{"to":"15550100301","type":"contacts","contacts":"Ada"}`), 400, fails(100)},
		{"a sound that computers refuse", post(`{"to":"15550100301","type":"audio","audio":{"link":"` + web.has("/a.wav", tone(1)) + `","voice":true}}`), 400, fails(131053)},
		{"a link that leads nowhere", post(`{"to":"15550100301","type":"image","image":{"link":"` + web.URL + `/none.png"}}`), 400, fails(131052)},
		{"a link to one's own network", post(`{"to":"15550100301","type":"image","image":{"link":"http://127.0.0.1:9/a.png"}}`), 400, fails(131052)},
		{"what is no picture", post(`{"to":"15550100301","type":"video","video":{"link":"` + web.has("/a.txt", []byte("text")) + `"}}`), 400, fails(131053)},
		{"a template", post(`{"to":"15550100301","type":"template","template":{"name":"hello_world","language":{"code":"en_US"}}}`), 400, fails(132001)},
		{"not on WhatsApp", post(`{"to":"15550109999","type":"text","text":{"body":"x"}}`), 400, fails(131026)},
		{"no recipient", post(`{"type":"text","text":{"body":"x"}}`), 400, fails(100)},
		{"no text", post(`{"to":"15550100301","type":"text"}`), 400, fails(100)},
		{"a wrong key", doorRequest{"POST", messages, bearer("x"), `{}`}, 401, fails(190)},
		{"without the scope to send", doorRequest{"POST", messages, bearer(s.reader), `{"to":"15550100301","text":{"body":"x"}}`}, 403, fails(10)},
		{"outside the token's chats", doorRequest{"POST", messages, bearer(s.narrow), `{"to":"15550100301","text":{"body":"x"}}`}, 400, fails(100)},
		{"another number", doorRequest{"POST", base + "/v21.0/15550000000/messages", key, `{"to":"15550100301","text":{"body":"x"}}`}, 400, missing},
		{"Typebot's number", doorRequest{"GET", base + "/v21.0/" + cloudAccount, key, ""}, 200, map[string]any{"id": cloudAccount, "display_phone_number": cloudAccount, "verified_name": "Olga", "status": "CONNECTED"}},
		{"Typebot's numbers", doorRequest{"GET", base + "/v21.0/" + cloudAccount + "/phone_numbers?fields=display_phone_number", key, ""}, 200, map[string]any{"data.0.id": cloudAccount}},
		{"Typebot's token", doorRequest{"GET", base + "/v21.0/debug_token?input_token=" + s.full, key, ""}, 200, map[string]any{"data.is_valid": true, "data.scopes.1": "whatsapp_business_messaging"}},
		{"register", doorRequest{"POST", base + "/v21.0/" + cloudAccount + "/register", key, `{"messaging_product":"whatsapp","pin":"123456"}`}, 200, map[string]any{"success": true}},
		{"the profile", doorRequest{"GET", base + "/v21.0/" + cloudAccount + "/whatsapp_business_profile", key, ""}, 200, map[string]any{"data.0.messaging_product": "whatsapp"}},
		{"elsewhere", doorRequest{"GET", base + "/v21.0/me/accounts", key, ""}, 400, missing},
	})
	for _, text := range []string{"from Chatwoot", "Which?\n\n1. Red\n2. Blue", "from kapso", "plain", "*Menu*\n\nChoose\n\n*Hot*\n1. Soup – of the day\n\n*Cold*\n2. Salad\n\n_thanks_", "a picture"} {
		must(s.friend.ReceivedText(within(t), text))(t)
	}
	card := must(s.friend.Received(within(t), func(r *simnet.Received) bool { return r.Message.Message.ContactMessage != nil }))(t)
	for _, line := range []string{"FN:Jonas\\; Weber", "TEL;type=CELL;waid=4915100100102:+49 1510 0100102", "TEL;type=CELL;waid=4915100100103:4915100100103", "ORG:ACME\\, Inc."} {
		if vcard := card.Message.Message.ContactMessage.GetVcard(); !strings.Contains(vcard, line) {
			t.Errorf("the card has no %s: %s", line, vcard)
		}
	}
	must(s.friend.Received(within(t), func(r *simnet.Received) bool {
		return r.Message.Message.GetContactMessage().GetDisplayName() == "Ada L"
	}))(t)
	if count := len(s.friend.Messages()); count != 11 {
		t.Errorf("Sam got %d messages, want 11", count)
	}
}

// uploadTo uploads a file as clients do, and returns its id.
func (s doorScene) uploadTo(t *testing.T, name string, file []byte) string {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part := must(w.CreateFormFile("file", name))(t)
	_, err := part.Write(file)
	if err := errors.Join(err, w.WriteField("messaging_product", "whatsapp"), w.Close()); err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"Authorization": "Bearer " + s.full, "Content-Type": w.FormDataContentType()}
	resp, answer := s.ask(t, doorRequest{"POST", s.address + "/cloud/v21.0/" + cloudAccount + "/media", header, form.String()})
	id, _ := at(answer, "id").(string)
	if resp.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("uploaded: %d %v", resp.StatusCode, answer)
	}
	return id
}

// Uploaded files are sent by their ids, received ones are downloaded in two steps, a send
// with a key is repeated once, and a message's id serves replies, reactions and reading.
func TestDoors_CloudFilesAndIDs(t *testing.T) {
	t.Parallel()
	s := newCloudScene(t)
	key, base := bearer(s.full), s.address+"/cloud/v21.0/"
	send := func(body string) any {
		t.Helper()
		resp, answer := s.ask(t, doorRequest{"POST", base + cloudAccount + "/messages", key, body})
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", body, resp.StatusCode, answer)
		}
		return at(answer, "messages.0.id")
	}
	picture := demo.Picture(30, 20)
	id := s.uploadTo(t, "plan.png", picture)
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
		got := must(s.friend.Received(within(t), wants))(t)
		if content := must(s.friend.Download(within(t), got))(t); kind == "document" && !bytes.Equal(content, picture) {
			t.Errorf("the %s has %d other bytes", kind, len(content))
		}
	}
	if resp, answer := s.ask(t, doorRequest{"DELETE", base + id, key, ""}); resp.StatusCode != http.StatusOK || at(answer, "success") != true {
		t.Errorf("deleted: %d %v", resp.StatusCode, answer)
	}

	came := must(s.friend.SendImage(within(t), s.owner.PN(), simnet.Media{Data: picture, Mimetype: "image/png", Caption: "from Sam"}))(t)
	received := "m" + base64.RawURLEncoding.EncodeToString([]byte("15550100301@s.whatsapp.net/"+came))
	var shown any
	eventually(t, func() error {
		var resp *http.Response
		if resp, shown = s.ask(t, doorRequest{"GET", base + received + "/", key, ""}); resp.StatusCode != http.StatusOK {
			return fmt.Errorf("shown: %d %v", resp.StatusCode, shown)
		}
		return nil
	})
	sum := sha256.Sum256(picture)
	if at(shown, "mime_type") != "image/png" || at(shown, "sha256") != hex.EncodeToString(sum[:]) || at(shown, "file_size") != float64(len(picture)) {
		t.Errorf("described as %v", shown)
	}
	address := fmt.Sprint(at(shown, "url"))
	if want := "http://" + s.address + "/cloud/media/" + received + "/content"; address != want {
		t.Errorf("it is at %s, want %s", address, want)
	}
	for token, status := range map[string]int{s.full: http.StatusOK, "": http.StatusUnauthorized, s.narrow: http.StatusBadRequest} {
		req := must(http.NewRequestWithContext(within(t), http.MethodGet, address, nil))(t)
		req.Header.Set("Authorization", "Bearer "+token)
		resp := must(http.DefaultClient.Do(req))(t)
		content := must(io.ReadAll(resp.Body))(t)
		if resp.Body.Close(); resp.StatusCode != status || status == http.StatusOK && (!bytes.Equal(content, picture) || resp.Header.Get("Content-Type") != "image/png") {
			t.Errorf("downloaded: %d, %d bytes, %v", resp.StatusCode, len(content), resp.Header)
		}
	}
	send(`{"to":"15550100301","type":"document","document":{"id":"` + received + `","filename":"back.png"}}`)
	must(s.friend.Received(within(t), func(r *simnet.Received) bool { return r.Message.Message.DocumentMessage.GetFileName() == "back.png" }))(t)

	message := "wamid." + received[1:]
	send(`{"to":"15550100301","type":"text","text":{"body":"an answer"},"context":{"message_id":"` + message + `"}}`)
	answer := must(s.friend.ReceivedText(within(t), "an answer"))(t)
	if quoted := answer.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID(); quoted != came {
		t.Errorf("it answers %q, want %s", quoted, came)
	}
	send(`{"to":"15550100301","type":"reaction","reaction":{"message_id":"` + message + `","emoji":"👍"}}`)
	must(s.friend.Received(within(t), func(r *simnet.Received) bool { return r.Message.Message.GetReactionMessage().GetText() == "👍" }))(t)
	reads := doorRequest{"POST", base + cloudAccount + "/messages", key, `{"messaging_product":"whatsapp","status":"read","message_id":"` + message + `","typing_indicator":{"type":"text"}}`}
	if resp, answer := s.ask(t, reads); resp.StatusCode != http.StatusOK || at(answer, "success") != true {
		t.Errorf("read: %d %v", resp.StatusCode, answer)
	}
	must(s.friend.WaitReceipt(within(t), came, "read"))(t)

	keyed := doorRequest{"POST", base + cloudAccount + "/messages", map[string]string{"Authorization": "Bearer " + s.full, "Idempotency-Key": "order-1"}, `{"to":"15550100301","text":{"body":"once"}}`}
	_, first := s.ask(t, keyed)
	again, second := s.ask(t, keyed)
	if at(first, "messages.0.id") != at(second, "messages.0.id") || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("repeated: %v, %v", first, second)
	}

	s.uploadTo(t, "plan.png", picture)
	s.set("COMPAT=waha")
	s.restart()
	if left, err := os.ReadDir(filepath.Join(s.env["DATA_DIR"], "uploads")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the door is closed, and has left %v, %v", left, err)
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
	if bytes.ContainsFunc(raw, func(c rune) bool { return c > '~' }) || at(body, "object") != "whatsapp_business_account" || at(body, "entry.0.id") != cloudAccount {
		r.faults = append(r.faults, "posted "+string(raw))
	}
	r.values = append(r.values, at(body, "entry.0.changes.0.value"))
}

// waits waits for a value in which a path has a value, and returns that value.
func (r *cloudReceiver) waits(path string, want any) (found any) {
	r.t.Helper()
	eventually(r.t, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, value := range r.values {
			if at(value, path) == want {
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
func TestDoors_CloudWebhook(t *testing.T) {
	t.Parallel()
	s := newCloudScene(t)
	receiver := newCloudReceiver(t)
	apps := doorRequest{"POST", s.address + "/cloud/v21.0/" + cloudAccount + "/subscribed_apps", bearer(testToken), ""}
	subscribe := func(token string) (*http.Response, any) {
		r := apps
		r.body = fmt.Sprintf(`{"override_callback_uri":%q,"verify_token":%q}`, receiver.URL, token)
		return s.ask(t, r)
	}
	if resp, answer := subscribe("wrong"); resp.StatusCode != http.StatusBadRequest || at(answer, "error.code") != 100.0 {
		t.Fatalf("a receiver that does not want it: %d %v", resp.StatusCode, answer)
	}
	resp, answer := subscribe("right")
	secret, _ := at(answer, "app_secret").(string)
	if resp.StatusCode != http.StatusOK || at(answer, "success") != true || secret == "" {
		t.Fatalf("subscribed: %d %v", resp.StatusCode, answer)
	}
	s.secrets = append(s.secrets, secret)
	receiver.mu.Lock()
	receiver.secret = secret
	receiver.mu.Unlock()

	if resp, answer := subscribe("right"); resp.StatusCode != http.StatusOK || at(answer, "app_secret") != nil {
		t.Errorf("subscribed again: %d %v", resp.StatusCode, answer)
	}
	list := apps
	list.method = "GET"
	if _, answer := s.ask(t, list); at(answer, "data.0.override_callback_uri") != receiver.URL || at(answer, "data.1") != nil {
		t.Errorf("listed: %v", answer)
	}

	hello := must(s.friend.SendText(within(t), s.owner.PN(), "¡hola! 👋"))(t)
	value := receiver.waits("messages.0.text.body", "¡hola! 👋")
	for path, want := range map[string]any{
		"contacts.0.profile.name": "Sam", "contacts.0.wa_id": "15550100301", "messages.0.from": "15550100301", "metadata.display_phone_number": cloudAccount,
		"messages.0.id": "wamid." + base64.RawURLEncoding.EncodeToString([]byte("15550100301@s.whatsapp.net/"+hello)),
	} {
		if got := at(value, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	_, sent := s.ask(t, doorRequest{"POST", s.address + "/cloud/" + cloudAccount + "/messages", bearer(s.full), fmt.Sprintf(`{"to":"15550100301","text":{"body":"hi"},"context":{"message_id":"%v"}}`, at(value, "messages.0.id"))})
	id := at(sent, "messages.0.id")
	receiver.waits("statuses.0.id", id)
	got := must(s.friend.ReceivedText(within(t), "hi"))(t)
	receiver.waits("statuses.0.status", "delivered")
	if err := s.friend.MarkRead(within(t), got); err != nil {
		t.Fatal(err)
	}
	receiver.waits("statuses.0.status", "read")
	must(s.friend.React(within(t), got, "🎉"))(t)
	if value := receiver.waits("messages.0.reaction.emoji", "🎉"); at(value, "messages.0.reaction.message_id") != id {
		t.Errorf("a reaction on %v, want %v", value, id)
	}
	picture := must(s.friend.SendImage(within(t), s.owner.PN(), simnet.Media{Data: demo.Picture(10, 10), Mimetype: "image/png", Caption: "pic"}))(t)
	value = receiver.waits("messages.0.image.caption", "pic")
	if want := "m" + base64.RawURLEncoding.EncodeToString([]byte("15550100301@s.whatsapp.net/"+picture)); at(value, "messages.0.image.id") != want {
		t.Errorf("the picture is %v, want %s", value, want)
	}

	// A person without a number is answered at the digits that stand for her.
	fay := newPhone(t, s.network, simnet.PhoneOptions{Number: "15550100701", Name: "Fay", Username: "fay.w", Numberless: true})
	must(fay.SendText(within(t), s.owner.LID(), "hello from Fay"))(t)
	from := at(receiver.waits("messages.0.text.body", "hello from Fay"), "messages.0.from")
	if from != fay.LID().User {
		t.Errorf("Fay is %v, want %s", from, fay.LID().User)
	}
	s.ask(t, doorRequest{"POST", s.address + "/cloud/" + cloudAccount + "/messages", bearer(s.full), fmt.Sprintf(`{"to":"%v","text":{"body":"hello, Fay"}}`, from)})
	must(fay.ReceivedText(within(t), "hello, Fay"))(t)

	apps.method = "DELETE"
	if resp, answer := s.ask(t, apps); resp.StatusCode != http.StatusOK {
		t.Errorf("ended: %d %v", resp.StatusCode, answer)
	}
	if left := must(s.api.Webhooks(within(t)))(t); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	if receiver.asked != 2 || len(receiver.faults) > 0 {
		t.Errorf("asked %d times, %v", receiver.asked, receiver.faults)
	}
}
