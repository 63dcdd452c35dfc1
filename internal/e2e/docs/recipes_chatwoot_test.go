package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// chatwoot is an inbox of the type WhatsApp, provider "WhatsApp Cloud", which makes the calls
// that Chatwoot makes, and reads of posts what it reads.
type chatwoot struct {
	*httptest.Server
	t           *testing.T
	base, token string // WHATSAPP_CLOUD_BASE_URL and the API key

	mu     sync.Mutex
	shown  map[string][]string // what conversations show, by the contact's id; guarded by mu, as below
	names  map[string]string   // of contacts
	files  map[string][]byte   // that came, by what was written with them
	states map[string][]string // of answers, by their ids, in their order
	ids    map[string]string   // of messages that came, by their text
}

func newChatwoot(t *testing.T, base, token string) *chatwoot {
	t.Helper()
	c := &chatwoot{
		t: t, base: base, token: token, shown: make(map[string][]string), names: make(map[string]string), files: make(map[string][]byte),
		states: make(map[string][]string), ids: make(map[string]string),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /webhooks/whatsapp/{number}", func(w http.ResponseWriter, r *http.Request) {
		if query := r.URL.Query(); query.Get("hub.mode") != "subscribe" || query.Get("hub.verify_token") != "shown-by-the-inbox" || r.PathValue("number") != "+"+CloudAccount {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, r.URL.Query().Get("hub.challenge")) // fails only if the caller is gone
	})
	mux.HandleFunc("POST /webhooks/whatsapp/{number}", func(w http.ResponseWriter, r *http.Request) {
		var posted struct {
			Entry []struct{ Changes []struct{ Value any } }
		}
		if err := json.NewDecoder(r.Body).Decode(&posted); err != nil {
			t.Error(err)
		}
		c.take(posted.Entry[0].Changes[0].Value)
		w.WriteHeader(http.StatusOK)
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// contactID matches the ids of contacts that a WhatsApp inbox accepts.
var contactID = regexp.MustCompile(`^\d{1,15}$`)

// take does what Chatwoot does with the value of a post.
func (c *chatwoot) take(value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := func(path string) string { s, _ := At(value, path).(string); return s }
	if id := text("statuses.0.id"); id != "" {
		c.states[id] = append(c.states[id], text("statuses.0.status"))
		return
	}
	contact, kind, id := text("contacts.0.wa_id"), text("messages.0.type"), text("messages.0.id")
	if kind == "" || slices.Contains([]string{"reaction", "ephemeral", "unsupported", "request_welcome"}, kind) {
		return
	}
	if !contactID.MatchString(contact) || text("metadata.phone_number_id") != CloudAccount || text("messages.0.from") != contact || len(id) > 255 {
		c.t.Errorf("posted %v", value)
	}
	content := text("messages.0.text.body")
	if file := At(value, "messages.0."+kind); kind != "text" && kind != "location" && kind != "contacts" {
		content, _ = At(file, "caption").(string)
		mediaID, _ := At(file, "id").(string)
		c.files[content] = c.download(mediaID)
	}
	c.shown[contact] = append(c.shown[contact], content)
	c.names[contact], c.ids[content] = text("contacts.0.profile.name"), id
}

// download fetches a file in two steps.
func (c *chatwoot) download(id string) []byte {
	described, status := c.call(http.MethodGet, "/v13.0/"+id+"?phone_number_id="+CloudAccount, "")
	address, _ := At(described, "url").(string)
	if status != http.StatusOK || address == "" {
		c.t.Errorf("the file is described as %d %v", status, described)
		return nil
	}
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		c.t.Error(err)
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Error(err)
		return nil
	}
	data, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
		c.t.Errorf("downloaded: %d, %v", resp.StatusCode, err)
	}
	return data
}

// call makes a call with the headers that Chatwoot sends.
func (c *chatwoot) call(method, path, body string) (answer any, status int) {
	c.t.Helper()
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return nil, 0
	}
	if !strings.Contains(path, "access_token=") {
		req.Header.Set("Authorization", "Bearer "+c.token)
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		err = errors.Join(json.NewDecoder(resp.Body).Decode(&answer), resp.Body.Close())
	}
	if err != nil {
		c.t.Errorf("%s %s: %v", method, path, err)
		return nil, 0
	}
	return answer, resp.StatusCode
}

// accepts reports whether an inbox can be saved: whether its templates can be listed.
func (c *chatwoot) accepts() bool {
	_, status := c.call(http.MethodGet, "/v14.0/"+CloudAccount+"/message_templates?access_token="+url.QueryEscape(c.token), "")
	return status == http.StatusOK
}

// agent sends what an agent wrote to a contact: content is that of its type, and an id that of
// the message it answers. It returns the id, or the error that is shown beside the message.
func (c *chatwoot) agent(to, kind string, content Object, answers string) (id, failure string) {
	c.t.Helper()
	body := Object{"messaging_product": "whatsapp", "context": nil, "to": to, "type": kind, kind: content}
	if answers != "" {
		body["context"] = Object{"message_id": answers}
	}
	answer, _ := c.call(http.MethodPost, "/v13.0/"+CloudAccount+"/messages", string(Must(json.Marshal(body))(c.t)))
	id, _ = At(answer, "messages.0.id").(string)
	failure, _ = At(answer, "error.message").(string)
	return id, failure
}

// shows waits until a conversation is as wanted.
func (c *chatwoot) shows(contact string, want ...string) {
	c.t.Helper()
	Eventually(c.t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !slices.Equal(c.shown[contact], want) {
			return fmt.Errorf("%s shows %q, want %q; all: %v", contact, c.shown[contact], want, c.shown)
		}
		return nil
	})
}

// becomes waits until an answer has a state. Each post shows the state at its time, so that one
// may come twice, but none after one that is further.
func (c *chatwoot) becomes(id, want string) {
	c.t.Helper()
	Eventually(c.t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		states := c.states[id]
		if !slices.IsSortedFunc(states, func(a, b string) int { return slices.Index(answerStates, a) - slices.Index(answerStates, b) }) {
			c.t.Errorf("%s became %q", id, states)
		}
		if len(states) == 0 || states[len(states)-1] != want {
			return fmt.Errorf("%s became %q, not %s", id, states, want)
		}
		return nil
	})
}

var answerStates = []string{"sent", "delivered", "read"}

// As integrations/chatwoot sets it up, an inbox is accepted; texts and files go both ways, answers
// quote and show how far they came; a group is a contact of its own.
func TestRecipes_Chatwoot(t *testing.T) {
	t.Parallel()
	s := NewCloudScene(t)
	inbox := newChatwoot(t, "http://"+s.Address+"/cloud", s.Full)
	if !inbox.accepts() {
		t.Fatal("the inbox is refused")
	}
	inbox.token = "a-wrong-token"
	if inbox.accepts() {
		t.Error("an inbox with a wrong key is accepted")
	}
	inbox.token = s.Full
	hook := Object{"url": inbox.URL + "/webhooks/whatsapp/+" + CloudAccount, "format": "cloud", "allowPrivate": true, "formatOptions": Object{"verifyToken": "another", "groupChats": true}}
	s.Post("/api/webhooks", hook).Want(http.StatusBadRequest)
	hook["formatOptions"] = Object{"verifyToken": "shown-by-the-inbox", "groupChats": true}
	s.Post("/api/webhooks", hook).Want(http.StatusCreated)

	// What comes in.
	sam, picture := s.Friend.Number(), demo.Picture(30, 20)
	asked := Say(t, s.Friend, s.Owner.PN(), "is anybody there?")
	Must(s.Friend.SendImage(Within(t), s.Owner.PN(), simnet.Media{Data: picture, Mimetype: "image/png", Caption: "this is broken"}))(t)
	inbox.shows(sam, "is anybody there?", "this is broken")
	group := Must(s.Friend.CreateGroup(Within(t), simnet.GroupOptions{ID: "120363025246125486", Subject: "Customers", Members: []*simnet.Phone{s.Owner}}))(t)
	const customers = "999025246125486"
	Say(t, s.Friend, group.JID(), "to all of you")
	Must(s.Friend.SendImage(Within(t), group.JID(), simnet.Media{Data: picture, Mimetype: "image/png"}))(t)
	inbox.shows(customers, "Sam: to all of you", "Sam")
	inbox.shows(sam, "is anybody there?", "this is broken")
	inbox.mu.Lock()
	if question := inbox.ids["is anybody there?"]; inbox.names[sam] != "Sam" || !bytes.Equal(inbox.files["this is broken"], picture) || question == "" {
		t.Errorf("the contact is %q, the file has %d bytes", inbox.names[sam], len(inbox.files["this is broken"]))
	}
	if inbox.names[customers] != "Customers" || !bytes.Equal(inbox.files["Sam"], picture) {
		t.Errorf("the group is %q, its file has %d bytes", inbox.names[customers], len(inbox.files["Sam"]))
	}
	question, toAll := inbox.ids["is anybody there?"], inbox.ids["Sam: to all of you"]
	inbox.mu.Unlock()

	// What agents write.
	id, _ := inbox.agent(sam, "text", Object{"body": "we are"}, question)
	answer := Must(s.Friend.ReceivedText(Within(t), "we are"))(t)
	if quoted := answer.Message.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID(); quoted != asked {
		t.Errorf("the answer quotes %q, want %s", quoted, asked)
	}
	if err := s.Friend.MarkRead(Within(t), answer); err != nil {
		t.Fatal(err)
	}
	inbox.becomes(id, "read")

	id, _ = inbox.agent(customers, "text", Object{"body": "thank you all"}, toAll)
	thanks := Must(s.Friend.ReceivedText(Within(t), "thank you all"))(t)
	if thanks.Message.Info.Chat != group.JID() {
		t.Errorf("the answer to the group came in %v", thanks.Message.Info.Chat)
	}
	inbox.becomes(id, "delivered")

	// A file is a link on Chatwoot's own host, which leads to another one.
	web := NewWebsite(t)
	web.Has("/disk/manual.pdf", []byte("%PDF-1.4\n%%EOF\n"))
	web.Has("/disk/part.png", picture)
	link := func(name string) string {
		return web.Serves("/rails/active_storage/blobs/redirect/x/"+name, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/disk/"+name, http.StatusFound)
		})
	}
	id, failure := inbox.agent(sam, "image", Object{"link": link("part.png"), "caption": "the part"}, "")
	got := Must(s.Friend.ReceivedText(Within(t), "the part"))(t)
	if got.Message.Message.ImageMessage == nil || failure != "" {
		t.Errorf("the picture came as %v, %s", got.Message.Message, failure)
	}
	inbox.becomes(id, "delivered")
	inbox.agent(sam, "document", Object{"link": link("manual.pdf"), "caption": nil, "filename": "manual.pdf"}, "")
	Must(s.Friend.Received(Within(t), func(r *simnet.Received) bool {
		return r.Message.Message.GetDocumentMessage().GetFileName() == "manual.pdf"
	}))(t)
	// A host in one's own network is refused, and the agent sees why.
	if id, failure := inbox.agent(sam, "image", Object{"link": inbox.URL + "/part.png"}, ""); id != "" || !strings.Contains(failure, "131052") {
		t.Errorf("a link to a private address: %q, %q", id, failure)
	}
}
