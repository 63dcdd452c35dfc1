package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// One chat and one message are what the lists show of them.
func TestSingle_IsWhatListsShow(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID}, members(club, "Readers", grace, me), say(grace, grace, "M1", "one", 0), say(grace, grace, "a/b", "two", 1),
		bridge.ReactionChange{Chat: grace, Target: "M1", Sender: grace, Emoji: "👍", Timestamp: bridge.At(noon)})
	var listed struct{ Chats []json.RawMessage }
	s.Get("/api/chats?type=individual").Want(http.StatusOK).Decode(&listed)
	var history struct{ Messages []json.RawMessage }
	s.Get(graceHistory + "?order=asc").Want(http.StatusOK).Decode(&history)
	for _, jid := range []bridge.JID{grace, graceLID} {
		var chat json.RawMessage
		s.Get("/api/chats/" + jid.Escaped()).Want(http.StatusOK).Decode(&chat)
		if diff := cmp.Diff(string(listed.Chats[0]), string(chat)); diff != "" {
			t.Errorf("%s: %s", jid, diff)
		}
		for i, id := range []string{"M1", "a/b"} {
			var single struct {
				ChatJID bridge.JID
				Message json.RawMessage
			}
			s.Get("/api/chats/" + jid.Escaped() + "/messages/" + bridge.PathID(id)).Want(http.StatusOK).Decode(&single)
			if diff := cmp.Diff(string(history.Messages[i]), string(single.Message)); diff != "" || single.ChatJID != grace {
				t.Errorf("%s in %s: %s", id, single.ChatJID, diff)
			}
		}
	}
}

func TestSingle_OfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "M1", "one", 0))
	for path, want := range map[string]int{
		"/api/chats/" + alan.Escaped():                            http.StatusNotFound,
		"/api/chats/" + club.Escaped() + "/messages/M1":           http.StatusNotFound,
		"/api/chats/" + grace.Escaped() + "/messages/M2":          http.StatusNotFound,
		"/api/chats/" + grace.Escaped() + "/messages/~%21":        http.StatusBadRequest,
		"/api/chats/15557654321":                                  http.StatusBadRequest,
		"/api/chats/status%40broadcast":                           http.StatusBadRequest,
		"/api/chats/status%40broadcast/messages/3EB0A1B2C3D4E5F6": http.StatusBadRequest,
	} {
		s.Get(path).Want(want)
	}
}

// What has sent an own message is shown to BRIDGE_TOKEN, and to tokens with the scope manage that are it or have created
// it, also after it was revoked.
func TestSingle_NamesWhatHasSentAMessage(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	onPhone := say(grace, me, "PHONE", "on the phone", 1)
	onPhone.FromMe, onPhone.Status = true, new(bridge.DeliverySent)
	s.know(say(grace, grace, "M1", "one", 0), onPhone)
	const all = `","scopes":["read","send","manage"]}`
	parent := s.as(s.token(`{"name":"parent` + all))
	var made madeToken
	parent.Post("/api/tokens", `{"name":"n8n","scopes":["read","send"]}`).Want(http.StatusCreated).Decode(&made)
	child, other := s.as(made), s.as(s.token(`{"name":"other`+all))
	sends := func(by *server, path string, body any) string {
		var sent struct{ MsgID string }
		by.Post(path, body).Want(http.StatusOK).Decode(&sent)
		return sent.MsgID
	}
	text := object{"jid": grace, "text": "hello"}
	ofChild, ofRoot := sends(child, "/api/messages/send", text), sends(s, "/api/messages/send", text)
	hook := s.hook("name", "Grafana", "template", "json")
	ofHook := sends(s.as(madeToken{}), hook.Path, object{"text": "it is down"})
	later := sends(child, "/api/messages/send", object{"jid": grace, "text": "later", "sendAt": in(time.Hour)})
	ofOther := sends(other, "/api/scheduled/"+later+"/send", object{})
	wants := func(reader *server, want map[string]string) {
		t.Helper()
		for _, id := range []string{"M1", "PHONE", ofChild, ofRoot, ofHook, ofOther} {
			var single struct{ SentBy *bridge.CalledBy }
			reader.Get("/api/chats/" + grace.Escaped() + "/messages/" + id).Want(http.StatusOK).Decode(&single)
			got := ""
			if single.SentBy != nil {
				got = single.SentBy.String()
			}
			if got != want[id] {
				t.Errorf("%s was sent %q, want %q", id, got, want[id])
			}
		}
	}
	byAll := map[string]string{ofChild: "with the token n8n", ofRoot: "with BRIDGE_TOKEN", ofHook: "by the hook Grafana", ofOther: "later with the token other"}
	wants(s, byAll)
	wants(parent, map[string]string{ofChild: "with the token n8n"})
	wants(child, nil) // it may not manage tokens
	wants(other, map[string]string{ofOther: "later with the token other"})

	parent.Do(http.MethodDelete, "/api/tokens/"+strconv.FormatInt(made.ID, 10), "").Want(http.StatusOK)
	s.Do(http.MethodDelete, hookRoute(hook), "").Want(http.StatusOK)
	byAll[ofChild], byAll[ofHook] = "with the token n8n (revoked or expired)", "by the hook Grafana (removed)"
	wants(s, byAll)
	wants(parent, map[string]string{ofChild: byAll[ofChild]})
	if list := s.Get(graceHistory); strings.Contains(string(list.Body), "sentBy") {
		t.Errorf("a list says what has sent its messages: %s", list.Body)
	}
}
