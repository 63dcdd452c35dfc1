package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func name(s string) *string { return &s }

func TestContacts_AreListedFoundAndShown(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Contact{JID: grace, Name: name("Грейс Hopper"), PushName: name("amazing")}, bridge.Identity{PN: grace, LID: graceLID},
		bridge.Contact{JID: alan, BusinessName: name("Bletchley Ltd")}, say(grace, grace, "M1", "one", 0))
	var page struct {
		Count      int
		Contacts   []map[string]any
		NextCursor *string
	}
	shown := object{
		"jid": string(grace), "lid": string(graceLID), "phone": grace.User(), "username": nil, "name": "Грейс Hopper", "pushName": "~" + grace.User(),
		"businessName": "", "isSaved": true, "isBlocked": false, "chatJid": string(grace),
	}
	for q, want := range map[string]bridge.JID{"ГРЕЙС": grace, "LTD": alan, "+1 (555) 765-4321": grace, "~1555": grace} {
		s.Get("/api/contacts?q=" + url.QueryEscape(q)).Want(http.StatusOK).Decode(&page)
		if page.Count != 1 || page.Contacts[0]["jid"] != string(want) {
			t.Errorf("%q finds %v", q, page.Contacts)
		}
		if want == grace {
			if diff := cmp.Diff(shown, page.Contacts[0]); diff != "" {
				t.Errorf("%q (-want +got):\n%s", q, diff)
			}
		}
	}
	for jids, want := range map[string]int{string(graceLID): 1, string(grace) + "," + string(alan): 2, "99999999999@lid, " + string(grace): 1, "99999999999@lid": 0} {
		s.Get("/api/contacts?jid=" + url.QueryEscape(jids)).Want(http.StatusOK).Decode(&page)
		if page.Count != want {
			t.Errorf("of %s there are %v", jids, page.Contacts)
		}
	}
	for _, jid := range []bridge.JID{grace, graceLID} {
		var one map[string]any
		s.Get("/api/contacts/" + jid.Escaped()).Want(http.StatusOK).Decode(&one)
		if diff := cmp.Diff(shown, one); diff != "" {
			t.Errorf("%s (-want +got):\n%s", jid, diff)
		}
	}
	pages := pagesOf(s, "/api/contacts?limit=1")
	if len(pages) != 2 {
		t.Errorf("%d pages: %v", len(pages), pages)
	}
}

func TestContacts_RefuseWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(club, grace, "G1", "one", 0), bridge.Contact{JID: grace, PushName: name("Grace")})
	for path, want := range map[string]int{
		"?limit=0": 400, "?limit=501": 400, "?limit=x": 400, "?limit=1&limit=2": 400, "?cursor=x": 400, "?q=%ff": 400, "?q=a&q=b": 400, "?jid=x": 400,
		"/" + club.Escaped(): 400, "/15557654321": 400, "/x%40s.whatsapp.net": 400, "/status%40broadcast": 400,
		"/" + alan.Escaped(): 404, "/99999999999%40lid": 404, "/" + grace.Escaped(): 200,
	} {
		s.Get("/api/contacts" + path).Want(want)
	}
	for _, method := range []string{"POST", "DELETE", "PUT"} {
		if got := s.Do(method, "/api/contacts/"+grace.Escaped(), "{}"); got.Status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, got.Status)
		}
	}
}

// A token that is limited to some chats knows those whom it may write to alone,
// by either name.
func TestContacts_OfATokenWithChats(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "M1", "one", 0), say(club, alan, "G1", "two", 1), bridge.Identity{PN: grace, LID: graceLID})
	limited := s.as(s.token(fmt.Sprintf(`{"name":"x","scopes":["read"],"chats":[%q,%q]}`, graceLID, club)))
	pages := pagesOf(limited, "/api/contacts?limit=1")
	if len(pages) != 1 || pages[0]["count"] != 1.0 {
		t.Errorf("pages %v", pages)
	}
	if named := pagesOf(limited, "/api/contacts?jid="+url.QueryEscape(string(grace)+","+string(alan))); named[0]["count"] != 1.0 {
		t.Errorf("by their JIDs: %v", named)
	}
	limited.Get("/api/contacts/" + grace.Escaped()).Want(http.StatusOK)
	outside, nobody := limited.Get("/api/contacts/"+alan.Escaped()), limited.Get("/api/contacts/4912345678%40s.whatsapp.net")
	var a, b struct{ Error string }
	if err := json.Unmarshal(outside.Want(http.StatusNotFound).Body, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(nobody.Want(http.StatusNotFound).Body, &b); err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(a.Error, alan.User(), "4912345678") != b.Error {
		t.Errorf("%q gives away that %q is not the same", a.Error, b.Error)
	}
}
