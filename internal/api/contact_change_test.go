package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// Either name of a person is the same contact, who is then among the saved ones.
func TestSaveName_ShowsInTheContact(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID})
	for _, step := range []struct {
		jid        bridge.JID
		body, name string
		page       string
	}{
		{graceLID, `{"name":" Grace Hopper "}`, "Grace Hopper", "saved=true"},
		{grace, `{"name":"Amazing Grace","firstName":"Grace"}`, "Amazing Grace", "saved=true&blocked=false"},
		{grace, `{"name":""}`, "", "saved=false"},
	} {
		var answer struct {
			OK, IsSaved bool
			JID         bridge.JID
			Name        string
		}
		s.Do("PATCH", "/api/contacts/"+string(step.jid), step.body).Want(http.StatusOK).Decode(&answer)
		if !answer.OK || answer.JID != grace || answer.Name != step.name || answer.IsSaved != (step.name != "") {
			t.Errorf("%s: %+v", step.body, answer)
		}
		var page struct{ Contacts []bridge.KnownContact }
		s.Get("/api/contacts?" + step.page).Want(http.StatusOK).Decode(&page)
		is := func(c bridge.KnownContact) bool { return c.JID == grace && c.Name == step.name }
		if !slices.ContainsFunc(page.Contacts, is) {
			t.Errorf("%s lists %+v", step.page, page.Contacts)
		}
		s.Get("/api/contacts?blocked=true").Want(http.StatusOK).Decode(&page)
		if len(page.Contacts) != 0 {
			t.Errorf("blocked: %+v", page.Contacts)
		}
	}
	want := []string{`name ` + string(grace) + ` "Grace Hopper" "Grace"`, `name ` + string(grace) + ` "Amazing Grace" "Grace"`, `name ` + string(grace) + ` "" ""`}
	if done := s.account.done(); !slices.Equal(done, want) {
		t.Errorf("done %v", done)
	}
}

// A number that is not stored is looked up before it is saved.
func TestSaveName_OfNewNumbers(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.Do("PATCH", "/api/contacts/15550100991@s.whatsapp.net", `{"name":"Kim"}`).Want(http.StatusOK)
	if got := s.Do("PATCH", "/api/contacts/15550100992@s.whatsapp.net", `{"name":"Kim"}`).Want(http.StatusBadRequest); !strings.Contains(got.Error(), "not on WhatsApp") {
		t.Errorf("%s", got.Body)
	}
	s.Do("PATCH", "/api/contacts/15550100993@s.whatsapp.net", `{"name":""}`).Want(http.StatusNotFound)
	if want := []string{`name 15550100991@s.whatsapp.net "Kim" "Kim"`}; !slices.Equal(s.account.done(), want) {
		t.Errorf("done %v", s.account.done())
	}
}

func TestSaveName_RefusesWhatNoAppSaves(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for _, body := range []string{
		`{}`, `{"name":null}`, `{"firstName":"Grace"}`, `{"name":"","firstName":"Grace"}`, `{"name":"two\nlines"}`,
		`{"name":"` + strings.Repeat("é", 101) + `"}`, `{"name":"x","lastName":"y"}`,
	} {
		s.Do("PATCH", "/api/contacts/"+string(grace), body).Want(http.StatusBadRequest)
	}
	s.Do("PATCH", "/api/contacts/"+string(club), `{"name":"x"}`).Want(http.StatusBadRequest)
	if done := s.account.done(); len(done) != 0 {
		t.Errorf("done %v", done)
	}
}
