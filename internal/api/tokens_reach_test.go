package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// reach is who may call a route.
type reach struct {
	scope bridge.Scope // "" is anybody, with a token or without
	also  bridge.Scope // a second one
	or    bridge.Scope // one that is enough by itself; "" is none
	whole bool         // not with a token that is limited to some chats
	any   bool         // every token
}

// reaches names every route; a new one fails the test until it is named here.
var reaches = map[string]reach{
	"GET /healthz":      {},
	"GET /openapi.yaml": {},
	"GET /openapi.json": {},

	"GET /readyz":              {scope: "read", whole: true},
	"GET /metrics":             {scope: "read", whole: true},
	"GET /api/stats":           {scope: "read", whole: true},
	"GET /api/auth/status":     {scope: "read", whole: true},
	"POST /api/auth/pair":      {scope: "manage", whole: true},
	"POST /api/auth/passkey":   {scope: "manage", whole: true},
	"POST /api/auth/reconnect": {scope: "manage", whole: true},
	"POST /api/auth/logout":    {scope: "manage", whole: true},

	"GET /api/chats":                                    {scope: "read"},
	"GET /api/chats/{jid}":                              {scope: "read"},
	"GET /api/chats/{jid}/export":                       {scope: "read"},
	"GET /api/chats/{jid}/messages/{msgId}":             {scope: "read"},
	"POST /api/chats/{jid}/history":                     {scope: "manage", also: "read"},
	"POST /api/chats/{jid}/messages/{msgId}/transcript": {scope: "read", also: "send", or: "manage"},
	"GET /api/contacts":                                 {scope: "read"},
	"GET /api/contacts/{jid}":                           {scope: "read"},
	"POST /api/contacts/check":                          {scope: "read"},
	"PATCH /api/contacts/{jid}":                         {scope: "send"},
	"POST /api/contacts/{jid}/block":                    {scope: "send"},
	"DELETE /api/contacts/{jid}/block":                  {scope: "send"},
	"GET /api/contacts/{jid}/picture":                   {scope: "read"},
	"GET /api/contacts/{jid}/profile":                   {scope: "read"},
	"GET /api/groups/{jid}/picture":                     {scope: "read"},
	"GET /api/groups/{jid}":                             {scope: "read"},
	"GET /api/chats/{jid}/messages":                     {scope: "read"},
	"GET /api/groups/{jid}/messages":                    {scope: "read"},
	"GET /api/messages/individual/{jid}":                {scope: "read"},
	"GET /api/messages/search":                          {scope: "read"},
	"GET /api/messages/media/{chatJid}/{msgId}":         {scope: "read"},
	"GET /api/messages/media-info/{chatJid}/{msgId}":    {scope: "read"},
	"GET /api/events":                                   {scope: "read"},
	"GET /api/calls":                                    {scope: "read"},
	"POST /api/calls/{id}/reject":                       {scope: "send"},

	"POST /api/groups":                    {scope: "send", whole: true},
	"POST /api/groups/join":               {scope: "send", whole: true},
	"PATCH /api/groups/{jid}":             {scope: "send"},
	"POST /api/groups/{jid}/participants": {scope: "send"},
	"GET /api/groups/{jid}/requests":      {scope: "read"},
	"POST /api/groups/{jid}/requests":     {scope: "send"},
	"POST /api/groups/{jid}/leave":        {scope: "send"},
	"GET /api/groups/{jid}/invite":        {scope: "read"},
	"GET /api/groups/invites/{code}":      {scope: "read", whole: true},
	"DELETE /api/groups/{jid}/invite":     {scope: "send"},
	"PUT /api/groups/{jid}/picture":       {scope: "send"},
	"DELETE /api/groups/{jid}/picture":    {scope: "send"},

	"GET /api/labels":                                           {scope: "read"},
	"POST /api/labels":                                          {scope: "send", whole: true},
	"PATCH /api/labels/{labelId}":                               {scope: "send", whole: true},
	"DELETE /api/labels/{labelId}":                              {scope: "send", whole: true},
	"PUT /api/chats/{jid}/labels/{labelId}":                     {scope: "send"},
	"DELETE /api/chats/{jid}/labels/{labelId}":                  {scope: "send"},
	"PUT /api/chats/{jid}/messages/{msgId}/labels/{labelId}":    {scope: "send"},
	"DELETE /api/chats/{jid}/messages/{msgId}/labels/{labelId}": {scope: "send"},

	"PATCH /api/account":          {scope: "manage", whole: true},
	"PUT /api/account/picture":    {scope: "manage", whole: true},
	"DELETE /api/account/picture": {scope: "manage", whole: true},
	"GET /api/account/privacy":    {scope: "read", whole: true},
	"PATCH /api/account/privacy":  {scope: "manage", whole: true},

	"POST /api/imports":        {scope: "manage"},
	"GET /api/imports":         {scope: "manage"},
	"GET /api/imports/{id}":    {scope: "manage"},
	"DELETE /api/imports/{id}": {scope: "manage"},

	"GET /api/webhooks":                                         {scope: "manage"},
	"POST /api/webhooks":                                        {scope: "manage", also: "read"},
	"GET /api/webhooks/{id}":                                    {scope: "manage"},
	"PATCH /api/webhooks/{id}":                                  {scope: "manage"},
	"DELETE /api/webhooks/{id}":                                 {scope: "manage"},
	"POST /api/webhooks/{id}/test":                              {scope: "manage"},
	"GET /api/webhooks/{id}/deliveries":                         {scope: "manage"},
	"POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver": {scope: "manage"},

	"GET /api/hooks":               {scope: "manage"},
	"POST /api/hooks":              {scope: "manage", also: "send"},
	"GET /api/hooks/{id}":          {scope: "manage"},
	"PATCH /api/hooks/{id}":        {scope: "manage"},
	"DELETE /api/hooks/{id}":       {scope: "manage"},
	"POST /api/hooks/{id}/preview": {scope: "manage"},
	"POST /hooks/{hook}":           {},

	"GET /api/token":          {any: true},
	"GET /api/tokens":         {scope: "manage"},
	"POST /api/tokens":        {scope: "manage"},
	"GET /api/tokens/{id}":    {scope: "manage"},
	"DELETE /api/tokens/{id}": {scope: "manage"},

	"PATCH /api/chats/{jid}/messages/{msgId}":       {scope: "send"},
	"DELETE /api/chats/{jid}/messages/{msgId}":      {scope: "send"},
	"POST /api/chats/{jid}/messages/{msgId}/pin":    {scope: "send"},
	"POST /api/chats/{jid}/messages/{msgId}/vote":   {scope: "send"},
	"DELETE /api/chats/{jid}/messages/{msgId}/pin":  {scope: "send"},
	"POST /api/chats/{jid}/messages/{msgId}/star":   {scope: "send"},
	"DELETE /api/chats/{jid}/messages/{msgId}/star": {scope: "send"},
	"DELETE /api/chats/{jid}":                       {scope: "send"},
	"POST /api/chats/{jid}/clear":                   {scope: "send"},
	"PATCH /api/chats/{jid}":                        {scope: "send"},
	"POST /api/chats/{jid}/read":                    {scope: "send"},
	"POST /api/chats/{jid}/typing":                  {scope: "send"},

	"POST /api/messages/send":          {scope: "send"},
	"POST /api/messages/forward":       {scope: "send"},
	"POST /api/messages/react":         {scope: "send"},
	"POST /api/messages/send-media":    {scope: "send"},
	"POST /api/messages/send-file":     {scope: "send"},
	"POST /api/messages/send-album":    {scope: "send"},
	"POST /api/messages/send-location": {scope: "send"},
	"POST /api/messages/send-poll":     {scope: "send"},
	"POST /api/messages/send-contact":  {scope: "send"},

	"GET /api/scheduled":               {scope: "read"},
	"GET /api/scheduled/{msgId}":       {scope: "read"},
	"PATCH /api/scheduled/{msgId}":     {scope: "send"},
	"DELETE /api/scheduled/{msgId}":    {scope: "send"},
	"POST /api/scheduled/{msgId}/send": {scope: "send"},
}

// permits reports whether a token may call a route.
func (r reach) permits(token bridge.Token) bool {
	return r.any || r.scope == "" || r.or != "" && token.Allows(r.or) || token.Allows(r.scope) && (r.also == "" || token.Allows(r.also)) && !(r.whole && token.Chats != nil)
}

func TestTokens_EveryRouteWithEveryScope(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	s.know(members(club, "Readers", grace, me), say(club, grace, "G1", "to all", 0))
	names := strings.NewReplacer("{jid}", string(club), "{chatJid}", string(club), "{msgId}", "G1", "{id}", "999", "{deliveryId}", "1")
	for subset := 1; subset < 1<<len(bridge.Scopes()); subset++ {
		for _, chats := range []string{"null", `["` + string(club) + `"]`} {
			var scopes []string
			for i, scope := range bridge.Scopes() {
				if subset&(1<<i) != 0 {
					scopes = append(scopes, `"`+string(scope)+`"`)
				}
			}
			made := s.server.token(`{"name":"x","scopes":[` + strings.Join(scopes, ",") + `],"chats":` + chats + `}`)
			caller := s.as(made)
			err := chi.Walk(s.handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
				route = strings.TrimSuffix(route, "/")
				who, named := reaches[method+" "+route]
				if !named {
					return fmt.Errorf("%s %s is in no scope: say in this test who may call it", method, route)
				}
				body := ""
				if method != http.MethodGet && method != http.MethodDelete {
					body = "{}"
				}
				got := caller.Do(method, names.Replace(route), body)
				if got.Status == http.StatusUnauthorized || (got.Code() != "forbidden") != who.permits(made.Token) {
					t.Errorf("%s %s with %v and chats %s: %d %s", method, route, scopes, chats, got.Status, got.Code())
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Whatever names a chat answers for one outside as for one that is not stored.
func TestTokens_WhatIsOutsideIsNotThere(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	const nowhere = bridge.JID("120363999999999999@g.us")
	limited := s.as(s.token(`{"name":"x","scopes":["read","send","manage"],"chats":["` + string(grace) + `"]}`))
	inClub := rings(alan, "call in "+string(club))
	inClub.ChatJID, inClub.IsGroup = club, true
	s.know(inClub)
	later := bridge.Scheduled{ID: "LATER" + string(club), Chat: club, Status: bridge.ScheduledWaiting, SendAt: bridge.At(noon), CreatedAt: bridge.At(noon)}
	if err := s.store.AddScheduled(t.Context(), later, 0, nil); err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, call := range []struct {
		route, path, body string
		headers           []string
	}{
		{route: "GET /api/chats/{jid}"},
		{route: "GET /api/chats/{jid}/export"},
		{route: "GET /api/chats/{jid}/messages/{msgId}"},
		{route: "POST /api/chats/{jid}/history"},
		{route: "POST /api/chats/{jid}/messages/{msgId}/transcript"},
		{route: "GET /api/contacts/{jid}"},
		{route: "PATCH /api/chats/{jid}/messages/{msgId}", body: `{"text":"x"}`},
		{route: "DELETE /api/chats/{jid}/messages/{msgId}"},
		{route: "POST /api/chats/{jid}/messages/{msgId}/pin", body: `{"duration":"7d"}`},
		{route: "DELETE /api/chats/{jid}/messages/{msgId}/pin"},
		{route: "POST /api/chats/{jid}/messages/{msgId}/star"},
		{route: "DELETE /api/chats/{jid}/messages/{msgId}/star"},
		{route: "POST /api/chats/{jid}/messages/{msgId}/vote", body: `{"options":[]}`},
		{route: "POST /api/contacts/check", body: `{"phones":["` + grace.User() + `","4912345678901"]}`},
		{route: "PATCH /api/chats/{jid}", body: `{"pinned":true}`},
		{route: "DELETE /api/chats/{jid}", headers: []string{"X-Confirm-Wipe", "yes"}},
		{route: "POST /api/chats/{jid}/clear", headers: []string{"X-Confirm-Wipe", "yes"}},
		{route: "POST /api/chats/{jid}/read"},
		{route: "POST /api/chats/{jid}/typing", body: `{"state":"typing"}`},
		{route: "PATCH /api/contacts/{jid}", path: "/api/contacts/{chat}", body: `{"name":"x"}`},
		{route: "POST /api/contacts/{jid}/block", path: "/api/contacts/{chat}/block"},
		{route: "DELETE /api/contacts/{jid}/block", path: "/api/contacts/{chat}/block"},
		{route: "GET /api/contacts/{jid}/picture"},
		{route: "GET /api/contacts/{jid}/profile"},
		{route: "PUT /api/chats/{jid}/labels/{labelId}", path: "/api/chats/{chat}/labels/4"},
		{route: "DELETE /api/chats/{jid}/labels/{labelId}", path: "/api/chats/{chat}/labels/4"},
		{route: "PUT /api/chats/{jid}/messages/{msgId}/labels/{labelId}", path: "/api/chats/{chat}/messages/G1/labels/4"},
		{route: "DELETE /api/chats/{jid}/messages/{msgId}/labels/{labelId}", path: "/api/chats/{chat}/messages/G1/labels/4"},
		{route: "GET /api/groups/{jid}/picture"},
		{route: "GET /api/groups/{jid}"},
		{route: "GET /api/chats/{jid}/messages"},
		{route: "GET /api/groups/{jid}/messages"},
		{route: "GET /api/messages/individual/{jid}"},
		{route: "PATCH /api/groups/{jid}", body: `{"name":"x"}`},
		{route: "POST /api/groups/{jid}/participants", body: `{"action":"remove","participants":["` + string(grace) + `"]}`},
		{route: "GET /api/groups/{jid}/requests"},
		{route: "POST /api/groups/{jid}/requests", body: `{"action":"reject","participants":["` + string(grace) + `"]}`},
		{route: "POST /api/groups/{jid}/leave"},
		{route: "GET /api/groups/{jid}/invite"},
		{route: "DELETE /api/groups/{jid}/invite"},
		{route: "PUT /api/groups/{jid}/picture", body: square, headers: []string{"Content-Type", "image/png"}},
		{route: "DELETE /api/groups/{jid}/picture"},
		{route: "GET /api/messages/media/{chatJid}/{msgId}"},
		{route: "GET /api/messages/media-info/{chatJid}/{msgId}"},
		{route: "GET /api/events", path: "/api/events?chat={chat}"},
		{route: "GET /api/calls", path: "/api/calls?chat={chat}"},
		{route: "GET /api/scheduled", path: "/api/scheduled?chat={chat}"},
		{route: "PATCH /api/scheduled/{msgId}", path: "/api/scheduled/LATER{chat}", body: `{"text":"x"}`},
		{route: "DELETE /api/scheduled/{msgId}", path: "/api/scheduled/LATER{chat}"},
		{route: "POST /api/scheduled/{msgId}/send", path: "/api/scheduled/LATER{chat}/send"},
		{route: "POST /api/calls/{id}/reject", path: "/api/calls/{call}/reject"},
		{route: "POST /api/hooks", body: `{"name":"x","chatJid":"{chat}","template":"json"}`},
		{route: "POST /api/messages/send", body: `{"jid":"{chat}","text":"x"}`},
		{route: "POST /api/messages/send", body: `{"jid":"` + string(grace) + `","text":"x","quotedChatJid":"{chat}","quotedMsgId":"G1"}`},
		{route: "POST /api/messages/forward", body: `{"sourceChatJid":"{chat}","sourceMsgId":"G1","destJid":"` + string(grace) + `"}`},
		{route: "POST /api/messages/forward", body: `{"sourceChatJid":"` + string(grace) + `","sourceMsgId":"M1","destJid":"{chat}"}`},
		{route: "POST /api/messages/react", body: `{"chatJid":"{chat}","msgId":"G1","emoji":"👍"}`},
		{route: "POST /api/messages/send-media", body: `{"jid":"{chat}","url":"` + web.URL + `/paper.txt","type":"document"}`},
		{route: "POST /api/messages/send-album", body: `{"jid":"{chat}","items":[{"url":"` + web.URL + `/a.png","type":"image"},{"url":"` + web.URL + `/b.png","type":"image"}]}`},
		{route: "POST /api/messages/send-file", body: formOf("jid", "{chat}", "file", "x"), headers: []string{"Content-Type", "multipart/form-data; boundary=line"}},
		{route: "POST /api/messages/send-location", body: `{"jid":"{chat}","latitude":0,"longitude":0}`},
		{route: "POST /api/messages/send-poll", body: `{"jid":"{chat}","name":"When","values":["a","b"]}`},
		{route: "POST /api/messages/send-contact", body: `{"jid":"{chat}","contacts":[{"displayName":"Alan"}]}`},
	} {
		covered[call.route] = true
		method, path, _ := strings.Cut(call.route, " ")
		if call.path != "" {
			path = call.path
		}
		answer := func(chat bridge.JID) (int, string) {
			name := strings.NewReplacer("{chat}", string(chat), "{jid}", string(chat), "{chatJid}", string(chat), "{msgId}", "G1", "{call}", bridge.PathID("call in "+string(chat))).Replace
			got := limited.Do(method, name(path), name(call.body), call.headers...)
			return got.Status, string(bytes.ReplaceAll(got.Body, []byte(chat), []byte("{chat}")))
		}
		status, body := answer(club)
		wantStatus, want := answer(nowhere)
		if status != wantStatus || body != want {
			t.Errorf("%s %s: %d %s, want %d %s", call.route, call.body, status, body, wantStatus, want)
		}
		if status == http.StatusOK && call.path == "" {
			t.Errorf("%s %s: %d %s", call.route, call.body, status, body)
		}
	}
	for route, who := range reaches {
		if !covered[route] && !who.whole && (who.scope == bridge.ScopeSend || strings.Contains(strings.ToLower(route), "jid}")) {
			t.Errorf("%s is not tried with a chat outside", route)
		}
	}
	if sent := s.account.sent(); len(sent) != 0 {
		t.Errorf("sent outside: %+v", sent)
	}
	if calls := s.account.groupAdmin.made(); len(calls) != 0 {
		t.Errorf("changed outside: %+v", calls)
	}
	for _, chat := range []bridge.JID{grace, graceLID} { // either name of the person
		s.know(bridge.Identity{PN: grace, LID: graceLID})
		limited.Get("/api/messages/individual/" + string(chat)).Want(http.StatusOK)
		limited.Post("/api/messages/send", map[string]any{"jid": chat, "text": "x"}).Want(http.StatusOK)
	}
}

// Lists, searches and the log show the same, page by page, whether there are
// chats outside or not.
func TestTokens_PagesBetrayNothingOfWhatIsOutside(t *testing.T) {
	t.Parallel()
	limits := `{"name":"x","scopes":["read"],"chats":["` + string(grace) + `","` + string(olden) + `"]}`
	inside := func(s *server, i int) {
		s.know(rings(grace, fmt.Sprint("K", i)), say(grace, grace, fmt.Sprint("M", i), fmt.Sprint("needle ", i), 2*i), say(olden, alan, fmt.Sprint("O", i), "Needle in a group", 2*i))
	}
	alone, crowded := newServer(t), newServer(t)
	for i := range 30 {
		inside(alone, i)
		inside(crowded, i)
		nowhere := rings(alan, fmt.Sprint("U", i))
		nowhere.IsGroup, nowhere.ChatJID = true, ""
		crowded.know(rings(alan, fmt.Sprint("C", i)), nowhere)
		crowded.know(say(club, grace, fmt.Sprint("G", i), "needle outside", 2*i+1), say(alan, alan, fmt.Sprint("A", i), "needle", 2*i+1))
	}
	crowded.know(bridge.Status{Status: bridge.StateOpen})
	one, other := alone.as(alone.token(limits)), crowded.as(crowded.token(limits))
	for _, list := range []string{
		"/api/chats?limit=1", "/api/contacts?limit=1", "/api/contacts?q=1555&limit=1", "/api/chats?type=group&limit=1", "/api/chats?q=7&limit=1", "/api/calls?limit=4", "/api/messages/search?q=needle&limit=7",
		"/api/messages/search?q=e&limit=7", "/api/messages/search?q=needle&chatType=group&limit=7", "/api/messages/search?q=needle&chatType=individual&limit=100",
	} {
		if diff := cmp.Diff(pagesOf(one, list), pagesOf(other, list)); diff != "" {
			t.Errorf("%s: alone (-) and beside others (+):\n%s", list, diff)
		}
	}
	if diff := cmp.Diff(eventsOf(one), eventsOf(other)); diff != "" {
		t.Errorf("events, alone (-) and beside others (+):\n%s", diff)
	}
}

// pagesOf returns all pages of a list, without their cursors.
func pagesOf(s *server, path string) (pages []map[string]any) {
	s.t.Helper()
	for next := ""; ; {
		var page map[string]any
		s.Get(path + next).Want(http.StatusOK).Decode(&page)
		cursor, more := page["nextCursor"].(string)
		page["nextCursor"] = more
		pages = append(pages, page)
		if !more {
			return pages
		}
		next = "&cursor=" + cursor
	}
}

// eventsOf returns what the log tells, without its numbers and times.
func eventsOf(s *server) (events []string) {
	s.t.Helper()
	after := "0"
	for {
		var page struct {
			Events     []bridge.Event
			NextCursor string
		}
		s.Get("/api/events?limit=10&after=" + after).Want(http.StatusOK).Decode(&page)
		for _, e := range page.Events {
			what := string(e.Type) + " " + string(e.ChatJID)
			if e.Message != nil {
				what += " " + e.Message.ID
			}
			events = append(events, what)
		}
		if page.NextCursor == after {
			return events
		}
		after = page.NextCursor
	}
}

func TestTokens_WebhooksAndStreamsShowTheirChatsAlone(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	made := s.server.token(`{"name":"x","scopes":["read","manage"],"chats":["` + string(grace) + `"]}`)
	mine := hooked{s.as(made), s.receiver}
	mine.create(object{"url": "https://example.com/x", "types": []string{"message.created"}})
	stream := mine.streamAs(made.Secret)
	s.know(say(club, grace, "G1", "outside", 0), say(grace, grace, "M1", "inside", 1))
	if got := <-s.receiver.got; !strings.Contains(got, `"M1"`) {
		t.Errorf("posted %s", got)
	}
	for {
		e := stream.event()
		if e.ChatJID != grace {
			t.Errorf("the stream tells of %s", e.ChatJID)
		}
		if e.Message != nil {
			break
		}
	}
}

// streamAs opens a stream of events with a token.
func (s *server) streamAs(secret string) *stream {
	s.t.Helper()
	st, err := s.openStreamAs(secret, "?after=0", "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(st.close)
	return st
}
