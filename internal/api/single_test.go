package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

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
