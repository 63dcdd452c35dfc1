package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// Either name of a person is the same contact, whose isBlocked follows.
func TestBlock_ShowsInTheContact(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	for _, step := range []struct {
		method string
		name   bridge.JID
		want   bool
	}{{"POST", graceLID, true}, {"POST", grace, true}, {"DELETE", graceLID, false}, {"DELETE", grace, false}} {
		var answer struct {
			OK, IsBlocked bool
			JID           bridge.JID
		}
		s.Do(step.method, "/api/contacts/"+string(step.name)+"/block", "").Want(http.StatusOK).Decode(&answer)
		if !answer.OK || answer.JID != grace || answer.IsBlocked != step.want {
			t.Errorf("%s %s: %+v", step.method, step.name, answer)
		}
		var contact bridge.KnownContact
		s.Get("/api/contacts/" + string(grace)).Want(http.StatusOK).Decode(&contact)
		if contact.IsBlocked != step.want {
			t.Errorf("%s %s: shown as %+v", step.method, step.name, contact)
		}
	}
	want := []string{"block " + string(grace) + " true", "block " + string(grace) + " true", "block " + string(grace) + " false", "block " + string(grace) + " false"}
	if done := s.account.done(); !slices.Equal(done, want) {
		t.Errorf("done %v", done)
	}
}

func TestBlock_RefusesTheAccountItselfAndGroups(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	if got := s.Post("/api/contacts/"+string(me)+"/block", "").Want(http.StatusBadRequest); !strings.Contains(got.Error(), "cannot block itself") {
		t.Errorf("%s", got.Body)
	}
	s.Post("/api/contacts/"+string(club)+"/block", "").Want(http.StatusBadRequest)
	for _, method := range []string{"POST", "DELETE"} {
		s.Do(method, "/api/contacts/"+string(grace)+"/block", strings.Repeat(" ", 1<<20+1)).Want(http.StatusRequestEntityTooLarge)
	}
	if done := s.account.done(); len(done) != 0 {
		t.Errorf("done %v", done)
	}
}
