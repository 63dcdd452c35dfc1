package api_test

import (
	"net/http"
	"slices"
	"testing"

	"bridged/internal/bridge"
)

func (s *server) labels() (ids []string) {
	s.t.Helper()
	var list struct{ Labels []bridge.StoredLabel }
	s.Get("/api/labels").Want(http.StatusOK).Decode(&list)
	for _, label := range list.Labels {
		ids = append(ids, label.ID)
	}
	return ids
}

// A label is created, changed, put on a chat and on a message, and deleted; repeated calls with a key
// get the same answer.
func TestLabels_FromCreationToDeletion(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	var made struct{ Label bridge.Label }
	for range 2 {
		s.Do("POST", "/api/labels", `{"name":"New","color":2}`, "Idempotency-Key", "one").Want(http.StatusOK).Decode(&made)
		if made.Label != (bridge.Label{ID: "5", Name: "New", Color: 2}) {
			t.Errorf("%+v", made)
		}
	}
	s.Do("PATCH", "/api/labels/5", `{"name":"Newer"}`).Want(http.StatusOK).Decode(&made)
	if made.Label != (bridge.Label{ID: "5", Name: "Newer", Color: 2}) || !slices.Equal(s.labels(), []string{"5", "4"}) {
		t.Errorf("%+v, all %v", made, s.labels())
	}
	chat, own := "/api/chats/"+string(grace), ownPath
	s.Do("PUT", chat+"/labels/5", "").Want(http.StatusOK)
	s.Do("PUT", own+"/labels/5", "").Want(http.StatusOK)
	var of struct{ Labels []string }
	for _, path := range []string{chat, own} {
		if s.Get(path).Want(http.StatusOK).Decode(&of); !slices.Equal(of.Labels, []string{"5"}) {
			t.Errorf("%s has %v", path, of.Labels)
		}
	}
	var page struct{ Chats []bridge.Chat }
	for id, want := range map[string]int{"5": 1, "4": 0, "7": 0} {
		if s.Get("/api/chats?label=" + id).Want(http.StatusOK).Decode(&page); len(page.Chats) != want {
			t.Errorf("%d chats with label %s", len(page.Chats), id)
		}
	}
	s.Do("DELETE", chat+"/labels/5", "").Want(http.StatusOK)
	s.Do("DELETE", "/api/labels/5", "").Want(http.StatusOK).Decode(&made)
	if made.Label.Name != "Newer" || !slices.Equal(s.labels(), []string{"4"}) {
		t.Errorf("deleted %+v, left %v", made, s.labels())
	}
	s.Do("PUT", chat+"/labels/5", "").Want(http.StatusNotFound)
}

// A token for one chat sees its labels alone, and uses no others.
func TestLabels_OfALimitedToken(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(
		bridge.LabelChange{Label: bridge.Label{ID: "1", Name: "VIP"}, Timestamp: bridge.At(noon)},
		bridge.ChatLabel{Chat: grace, Label: "1", Labelled: true, Timestamp: bridge.At(noon)},
		bridge.ChatLabel{Chat: club, Label: "1", Labelled: true, Timestamp: bridge.At(noon)},
		bridge.ChatLabel{Chat: club, Label: "4", Labelled: true, Timestamp: bridge.At(noon)},
	)
	limited := s.as(s.token(`{"name":"x","scopes":["read","send","manage"],"chats":["` + string(grace) + `"]}`))
	var list struct{ Labels []bridge.StoredLabel }
	limited.Get("/api/labels").Want(http.StatusOK).Decode(&list)
	if len(list.Labels) != 1 || list.Labels[0].ID != "1" || list.Labels[0].Chats != 1 {
		t.Errorf("listed %+v", list)
	}
	limited.Do("PUT", "/api/chats/"+string(grace)+"/labels/4", "").Want(http.StatusNotFound)
	limited.Do("DELETE", "/api/chats/"+string(grace)+"/labels/1", "").Want(http.StatusOK)
	limited.Do("DELETE", "/api/labels/1", "").Want(http.StatusForbidden)
}

// On an ordinary account the routes say why there are no labels.
func TestLabels_OfAnOrdinaryAccount(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "M1", "hello", 0))
	for _, call := range [][2]string{{"GET", "/api/labels"}, {"POST", "/api/labels"}, {"PATCH", "/api/labels/1"}, {"DELETE", "/api/labels/1"}, {"PUT", "/api/chats/" + string(grace) + "/labels/1"}} {
		body := ""
		if call[0] == "POST" || call[0] == "PATCH" {
			body = `{"name":"New"}`
		}
		if got := s.Do(call[0], call[1], body).Want(http.StatusConflict); got.Code() != "no_labels" {
			t.Errorf("%v: %s", call, got.Body)
		}
	}
	business := s.account.status
	s.account.status = func() bridge.Status {
		status := business()
		status.User.Platform = "smba"
		return status
	}
	if got := s.labels(); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
}
