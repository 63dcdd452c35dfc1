package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// manyChats returns n JIDs as elements of a JSON array.
func manyChats(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"%d@s.whatsapp.net"`, 15550100000+i)
	}
	return strings.Join(list, ",")
}

// filterOf is what the API shows of a webhook's filter.
type filterOf struct {
	Types, Chats, ExcludeChats []string
	ChatType                   string
	FromMe                     *bool
	Chat                       *string
}

func (h hooked) filter(method, path, body string, status int) (f filterOf) {
	h.t.Helper()
	h.Do(method, path, body).Want(status).Decode(&f)
	return f
}

// Each part of a filter is set, changed and cleared by itself; what is left out
// or null stays, but for fromMe, where null is any.
func TestWebhooks_FiltersAreSetAndCleared(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.know(bridge.Identity{PN: grace, LID: graceLID})
	number, group, yes, no := string(grace), string(club), true, false
	want := func(what string, got, want filterOf) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", what, diff)
		}
	}
	none := filterOf{Types: []string{}, Chats: []string{}, ExcludeChats: []string{}, ChatType: "all"}
	want("nothing given", h.filter(http.MethodPost, "/api/webhooks", `{"url":"`+public+`"}`, http.StatusCreated), none)
	want("nothing but null", h.filter(http.MethodPost, "/api/webhooks",
		`{"url":"`+public+`","types":null,"chats":null,"excludeChats":null,"chatType":null,"fromMe":null,"chat":null}`, http.StatusCreated), none)

	w := h.create(object{"url": public, "chats": []string{string(graceLID), string(club), string(grace)}, "excludeChats": []bridge.JID{alan}, "chatType": "individual", "fromMe": false})
	path := fmt.Sprint("/api/webhooks/", w.ID)
	all := filterOf{Types: []string{}, Chats: []string{number, group}, ExcludeChats: []string{string(alan)}, ChatType: "individual", FromMe: &no}
	want("all given, a person by both names", h.filter(http.MethodGet, path, "", http.StatusOK), all)
	want("null stays", h.filter(http.MethodPatch, path, `{"types":null,"chats":null,"excludeChats":null,"chatType":null}`, http.StatusOK), all)
	all.FromMe = &yes
	want("fromMe", h.filter(http.MethodPatch, path, `{"fromMe":true}`, http.StatusOK), all)
	all.FromMe = nil
	want("fromMe null", h.filter(http.MethodPatch, path, `{"fromMe":null}`, http.StatusOK), all)
	all.Chats, all.Chat = []string{number}, &number
	want("one chat", h.filter(http.MethodPatch, path, `{"chat":"`+string(graceLID)+`"}`, http.StatusOK), all)
	all.Chats, all.Chat = []string{}, nil
	want("no chat", h.filter(http.MethodPatch, path, `{"chat":""}`, http.StatusOK), all)
	want("cleared", h.filter(http.MethodPatch, path, `{"excludeChats":[],"chatType":"","chats":[]}`, http.StatusOK), none)
}

// What is posted follows the filter, and the filter's parts are one condition.
func TestWebhooks_PostWhatTheFilterWants(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.create(object{"url": public, "types": []string{"message.created"}, "chats": []bridge.JID{grace, club}, "chatType": "group", "fromMe": true})
	h.know(members(club, "Readers", grace, alan), say(grace, grace, "A1", "one", 1), say(club, grace, "A2", "two", 2), mine(alan, "A3"), mine(grace, "A4"), mine(club, "A5"))
	if posted := <-h.receiver.got; !strings.Contains(posted, `"A5"`) {
		t.Errorf("first came %s", posted)
	}
}

// A token names no chats that it does not see, and learns nothing of them: not
// whether they are stored, and of nobody a second name.
func TestWebhooks_ATokenFiltersByItsOwnChats(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.know(bridge.Identity{PN: grace, LID: graceLID}, say(club, grace, "G1", "to all", 0), say(grace, grace, "M1", "to me", 0))
	limited := hooked{h.as(h.server.token(`{"name":"x","scopes":["read","manage"],"chats":["` + string(club) + `"]}`)), h.receiver}
	w := limited.create(object{"url": public, "chats": []bridge.JID{club}, "excludeChats": []bridge.JID{}})
	path := fmt.Sprint("/api/webhooks/", w.ID)
	for _, outside := range []bridge.JID{grace, graceLID, alan} {
		for _, field := range []string{`"chats":["%s"]`, `"excludeChats":["%s"]`, `"chat":"%s"`} {
			body := fmt.Sprintf(field, outside)
			made := limited.Post("/api/webhooks", `{"url":"`+public+`",`+body+`}`).Want(http.StatusNotFound)
			changed := limited.Do(http.MethodPatch, path, "{"+body+"}").Want(http.StatusNotFound)
			if sentence := bridge.NoChat(outside).Msg; made.Error() != sentence || changed.Error() != sentence {
				t.Errorf("%s: %q and %q, want %q", body, made.Error(), changed.Error(), sentence)
			}
		}
	}
}

func TestWebhooks_ListDeliveriesByStatus(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	w := h.create(object{"url": public, "types": []string{"message.created"}})
	h.know(say(grace, grace, "A1", "one", 1), say(grace, grace, "A2", "two", 2))
	h.until(w.ID, "the deliveries", func(shown) bool { return h.deliveries(w.ID, "?status=delivered").Count == 2 })
	for query, want := range map[string]int{"": 2, "?status=any": 2, "?status=delivered&limit=1": 1, "?status=pending": 0, "?status=dead": 0} {
		if page := h.deliveries(w.ID, query); page.Count != want || (page.NextCursor != nil) != strings.Contains(query, "limit") {
			t.Errorf("%s: %+v, want %d", query, page, want)
		}
	}
}
