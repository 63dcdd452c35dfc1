package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bridged/internal/bridge"
)

// chatwoot is an inbox of Chatwoot's API channel, following the documentation of
// its public API.
type chatwoot struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	contacts []map[string]any    // in order of creation; the source is their number
	messages map[string][]string // by "source/conversation"
	made     int                 // number of conversations
	down     bool                // makes it answer 503
}

func newChatwoot(t *testing.T) *chatwoot {
	t.Helper()
	c := &chatwoot{t: t, messages: map[string][]string{}}
	mux := http.NewServeMux()
	const inbox = "/public/api/v1/inboxes/the-inbox/contacts"
	mux.HandleFunc("POST "+inbox, c.contact)
	mux.HandleFunc("POST "+inbox+"/{source}/conversations", c.conversation)
	mux.HandleFunc("POST "+inbox+"/{source}/conversations/{id}/messages", c.message)
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// take decodes a request and reports whether to answer it.
func (c *chatwoot) take(w http.ResponseWriter, r *http.Request) (body map[string]any, ok bool) {
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(data, &body)
	}
	if err != nil {
		c.t.Errorf("%s: %v", r.URL.Path, err)
	}
	if c.down {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	return body, !c.down
}

func (c *chatwoot) contact(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if body, ok := c.take(w, r); ok {
		c.contacts = append(c.contacts, body)
		_, _ = fmt.Fprintf(w, `{"source_id":"source-%d","pubsub_token":"x","id":%[1]d}`, len(c.contacts)) // fails only if the caller is gone
	}
}

func (c *chatwoot) conversation(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.take(w, r); ok {
		c.made++
		c.messages[fmt.Sprint(r.PathValue("source"), "/", c.made)] = []string{}
		_, _ = fmt.Fprintf(w, `{"id":%d,"inbox_id":"1","messages":[],"contact":{}}`, c.made) // as above
	}
}

func (c *chatwoot) message(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, ok := c.take(w, r)
	if !ok {
		return
	}
	at := r.PathValue("source") + "/" + r.PathValue("id")
	if _, known := c.messages[at]; !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	c.messages[at] = append(c.messages[at], body["content"].(string))
	_, _ = fmt.Fprint(w, `{"id":1}`) // as above
}

// shows waits until the conversations are as wanted.
func (c *chatwoot) shows(want map[string][]string) {
	c.t.Helper()
	eventually(c.t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		for at, messages := range want {
			if !slices.Equal(c.messages[at], messages) {
				return fmt.Errorf("%s shows %q, want %q; all: %v", at, c.messages[at], messages, c.messages)
			}
		}
		return nil
	})
}

func (c *chatwoot) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// People's messages reach the inbox once and in order, even after Chatwoot was down
// or a conversation was deleted there; agents' answers are sent once, and their
// notes are not.
func TestRecipes_Chatwoot(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	c := pairedCast(t, "WEBHOOK_ALLOW_PRIVATE=127.0.0.0/8")
	inbox, port := newChatwoot(t), freePort(t)
	var webhook struct{ Secret string }
	c.bridge.Post("/api/webhooks", object{
		"url": "http://127.0.0.1:" + port + "/bridged", "types": []string{"message.created"}, "fromMe": false,
		"chatType": "individual", "allowPrivate": true,
	}).Want(http.StatusCreated).Decode(&webhook)
	state := filepath.Join(t.TempDir(), "state.json")
	runScript(t, python, "examples/chatwoot.py", "BRIDGE=http://"+c.bridge.address, "BRIDGE_TOKEN="+testToken, "WEBHOOK_SECRET="+webhook.Secret, "CHATWOOT="+inbox.URL,
		"INBOX=the-inbox", "CALLBACK_KEY=nobody-guesses-it", "STATE="+state, "PORT="+port)

	say(t, c.ben, c.owner.PN(), "is anybody there?")
	inbox.shows(map[string][]string{"source-1/1": {"is anybody there?"}})
	if contact := inbox.contacts[0]; contact["identifier"] != c.ben.PN().String() || contact["name"] != "Ben" || contact["phone_number"] != "+"+c.ben.Number() {
		t.Errorf("made the contact %v", contact)
	}
	inbox.set(func() { inbox.down = true })
	say(t, c.ben, c.owner.PN(), "hello?")
	say(t, c.carla, c.owner.PN(), "a question")
	inbox.set(func() { inbox.down = false })
	inbox.shows(map[string][]string{"source-1/1": {"is anybody there?", "hello?"}, "source-2/2": {"a question"}})
	inbox.set(func() { delete(inbox.messages, "source-1/1") })
	say(t, c.ben, c.owner.PN(), "again")
	inbox.shows(map[string][]string{"source-3/3": {"again"}})

	callback := func(path, body string, want int) {
		t.Helper()
		resp, err := http.Post("http://127.0.0.1:"+port+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != want {
			t.Errorf("%s %s: %d, %v; want %d", path, body, resp.StatusCode, err, want)
		}
	}
	answer := func(id int, text, more string) string {
		return fmt.Sprintf(`{"event":"message_created","id":%d,"content":%q,"message_type":"outgoing","private":false,"conversation":{"id":3,"contact_inbox":{"source_id":"source-3"}}%s}`, id, text, more)
	}
	const door = "/chatwoot/nobody-guesses-it"
	callback(door, answer(7, "we are", ""), http.StatusNoContent)
	callback(door, answer(7, "we are", ""), http.StatusNoContent) // the same again
	callback(door, strings.Replace(answer(8, "a note", ""), `"private":false`, `"private":true`, 1), http.StatusNoContent)
	callback(door, strings.Replace(answer(9, "an echo", ""), "outgoing", "incoming", 1), http.StatusNoContent)
	callback(door, strings.Replace(answer(10, "to nobody", ""), "source-3", "source-9", 1), http.StatusNoContent)
	callback(door, answer(11, "", `,"attachments":[{"file_type":"image","data_url":"https://chat.example.com/a.png"}]`), http.StatusNoContent)
	callback("/chatwoot/a-guess", answer(12, "from a stranger", ""), http.StatusNotFound)
	callback("/bridged", `{"type":"message.created"}`, http.StatusUnauthorized)
	for _, text := range []string{"we are", "https://chat.example.com/a.png"} {
		if _, err := c.ben.ReceivedText(within(t), text); err != nil {
			t.Fatal(err)
		}
	}
	var sent []string
	for _, m := range must(c.bridge.api.Messages(within(t), bridge.MessageQuery{Chat: bridge.JID(c.ben.PN().String()), Order: bridge.OrderAsc}))(t).Items {
		if m.FromMe {
			sent = append(sent, m.Content)
		}
	}
	if want := []string{"we are", "https://chat.example.com/a.png"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	if left := must(os.ReadFile(state))(t); strings.Contains(string(left), "question") {
		t.Errorf("the state holds what people wrote: %s", left)
	}
	c.bridge.Do(http.MethodPost, "/api/auth/logout", "", "X-Confirm-Wipe", "yes").Want(http.StatusOK)
	callback(door, answer(13, "too late", ""), http.StatusServiceUnavailable)
}
