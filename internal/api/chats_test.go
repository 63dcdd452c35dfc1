package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// chatList is the answer of the chats list.
type chatList struct {
	Count      int
	Chats      []bridge.Chat
	NextCursor *string
}

func (s *server) chats(query string) (list chatList) {
	s.t.Helper()
	s.Get("/api/chats" + query).Want(http.StatusOK).Decode(&list)
	if list.Count != len(list.Chats) {
		s.t.Errorf("%s: count %d of %d chats", query, list.Count, len(list.Chats))
	}
	return list
}

func (l chatList) jids() (jids []bridge.JID) {
	for _, chat := range l.Chats {
		jids = append(jids, chat.JID)
	}
	return jids
}

func TestChats_EmptyIsAnEmptyList(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := s.Get("/api/chats").Want(http.StatusOK)
	if body := strings.TrimSpace(string(got.Body)); body != `{"count":0,"chats":[],"nextCursor":null,"hasMore":false}` {
		t.Errorf("body %s", body)
	}
}

// The whole answer, as it leaves.
func TestChats_ShowEveryField(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	name := "Grace Hopper"
	s.know(bridge.Owner{PN: me, LID: hidden}, bridge.Identity{PN: grace, LID: graceLID}, bridge.Contact{JID: grace, Name: &name},
		members(club, "Readers", grace, me, alan), members(olden, "Quiet", grace, me),
		say(club, grace, "G1", "to all", 0), say(grace, grace, "M1", "to one", 1),
		bridge.ChatSettings{Chat: grace, Archived: new(true)}, bridge.ChatSettings{Chat: club, Pinned: new(true), MutedUntil: new(bridge.MutedForever())},
		bridge.ChatRead{Chat: club, IDs: []string{"G1"}})
	var got map[string]any
	s.Get("/api/chats").Want(http.StatusOK).Decode(&got)
	want := map[string]any{
		"count": 3.0, "nextCursor": nil, "hasMore": false,
		"chats": []any{
			map[string]any{
				"jid": string(grace), "lid": string(graceLID), "username": nil, "isGroup": false, "name": "Grace Hopper", "participants": 2.0,
				"lastMessageAt": "2026-11-21T12:01:00.000Z", "lastMessage": lastBy(grace, "M1", "to one", "2026-11-21T12:01:00.000Z"),
				"unreadCount": 1.0, "archived": true, "pinned": false, "mutedUntil": nil, "disappearingSeconds": 0.0, "labels": []any{},
			},
			map[string]any{
				"jid": string(club), "lid": nil, "username": nil, "isGroup": true, "name": "Readers", "participants": 3.0,
				"lastMessageAt": "2026-11-21T12:00:00.000Z", "lastMessage": lastBy(grace, "G1", "to all", "2026-11-21T12:00:00.000Z"),
				"unreadCount": 0.0, "archived": false, "pinned": true, "mutedUntil": "9999-12-31T23:59:59.999Z", "disappearingSeconds": 0.0, "labels": []any{},
			},
			map[string]any{
				"jid": string(olden), "lid": nil, "username": nil, "isGroup": true, "name": "Quiet", "lastMessageAt": nil, "lastMessage": nil,
				"participants": 2.0, "unreadCount": 0.0, "archived": false, "pinned": false, "mutedUntil": nil, "disappearingSeconds": 0.0, "labels": []any{},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// lastBy is the last message of a chat, as it leaves.
func lastBy(sender bridge.JID, id, content, timestamp string) map[string]any {
	return map[string]any{
		"msgId": id, "fromMe": false, "senderJid": string(sender), "pushName": "~" + sender.User(),
		"messageType": "conversation", "content": content, "timestamp": timestamp, "deletedAt": nil, "status": nil, "viewOnce": false, "media": nil,
	}
}

func TestChats_Filters(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(members(club, "Größe 100%", grace, me), say(club, grace, "G1", "x", 0), say(grace, grace, "M1", "x", 1), say(alan, alan, "M2", "x", 2))
	for query, want := range map[string][]bridge.JID{
		"":                           {alan, grace, club},
		"?type=all":                  {alan, grace, club},
		"?type=group":                {club},
		"?type=individual":           {alan, grace},
		"?q=%20":                     {alan, grace, club},
		"?q=":                        {alan, grace, club},
		"?q=GR%C3%96SSE":             {club},
		"?q=100%25":                  {club},
		"?q=%25":                     {club},
		"?q=_":                       nil,
		"?q=4477009":                 {alan},
		"?q=WHATSAPP.net":            {alan, grace},
		"?q=g.us&type=individual":    nil,
		"?limit=1":                   {alan},
		"?limit=1&offset=1":          {grace},
		"?limit=500&offset=3":        nil,
		"?nonsense=1&nonsense=2":     {alan, grace, club},
		"?limit=2&cursor=":           {alan, grace},
		"?offset=2147483647":         nil,
		"?type=group&q=%F0%9F%91%8D": nil,
	} {
		if diff := cmp.Diff(want, s.chats(query).jids()); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestChats_UnreadUnansweredArchivedPinned(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mine := say(alan, me, "M2", "x", 2)
	mine.FromMe = true
	s.know(members(club, "Readers", grace, me), members(olden, "Quiet", grace, me), say(club, grace, "G1", "x", 0), say(grace, grace, "M1", "x", 1), mine,
		bridge.ChatRead{Chat: club, IDs: []string{"G1"}}, bridge.ChatMarkedUnread{Chat: alan}, bridge.ChatSettings{Chat: club, Archived: new(true)}, bridge.ChatSettings{Chat: alan, Pinned: new(true)})
	for query, want := range map[string][]bridge.JID{
		"?unread=true":                  {alan, grace},
		"?unread=false":                 {club, olden},
		"?unanswered=true":              {grace, club},
		"?unanswered=false":             {alan, olden},
		"?archived=true":                {club},
		"?archived=false":               {alan, grace, olden},
		"?pinned=true":                  {alan},
		"?pinned=false":                 {grace, club, olden},
		"?unanswered=true&unread=false": {club},
		"?unread=true&limit=1":          {alan},
	} {
		if diff := cmp.Diff(want, s.chats(query).jids()); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestChats_CursorWalksThemAll(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var want []bridge.JID
	for i := range 7 {
		jid := bridge.PhoneJID(fmt.Sprint(15550000000 + i))
		s.know(say(jid, jid, "M", "x", -i))
		want = append(want, jid)
	}
	var got []bridge.JID
	query := "?limit=3"
	for pages := 1; ; pages++ {
		page := s.chats(query)
		got = append(got, page.jids()...)
		if page.NextCursor == nil {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
		query = "?limit=3&cursor=" + url.QueryEscape(*page.NextCursor)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChats_RefuseBadParameters(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for query, names := range map[string]string{
		"?limit=0": "limit", "?limit=501": "limit", "?limit=-1": "limit", "?limit=ten": "limit", "?limit=": "limit", "?limit=1.5": "limit",
		"?limit=99999999999999999999": "limit", "?limit=1&limit=2": "limit", "?offset=-1": "offset", "?offset=x": "offset", "?offset=": "offset",
		"?type=channel": "type", "?type=": "type", "?type=GROUP": "type", "?q=%FF": "q", "?q=a&q=b": "q", "?cursor=garbage": "cursor", "?unread=yes": "unread", "?unanswered=": "unanswered", "?archived=1": "archived", "?pinned=": "pinned", "?q=%zz": "query", "?a;b": "query",
	} {
		got := s.Get("/api/chats" + query)
		if got.Status != http.StatusBadRequest || got.Code() != "invalid_request" || !strings.Contains(got.Error(), names) {
			t.Errorf("%s: %d %s", query, got.Status, got.Body)
		}
	}
}

func TestGroup_ShowsStoredAndLive(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	name := "Grace Hopper"
	group := members(club, "Readers", grace, me)
	group.Topic, group.IsAnnounce = "Books", true
	s.know(bridge.Identity{PN: grace, LID: graceLID}, bridge.Contact{JID: grace, Name: &name}, group, say(club, grace, "G1", "to all", 0),
		bridge.MemberLabel{Chat: club, Member: grace, Label: "Founder", SetAt: bridge.At(noon)})
	s.account.liveGroup = func(context.Context, bridge.JID) (*bridge.Group, error) {
		return &bridge.Group{
			JID: club, Name: "Readers!", OwnerJID: graceLID, IsLocked: true, JoinApproval: true, MemberAddMode: bridge.AddedByEveryone,
			Participants: []bridge.Participant{{JID: graceLID, IsAdmin: true}, {JID: alan, DisplayName: "Alan"}},
		}, nil
	}
	var got struct {
		JID    string
		Stored map[string]any
		Live   map[string]any
	}
	s.Get("/api/groups/" + url.PathEscape(string(club))).Want(http.StatusOK).Decode(&got)
	if got.JID != string(club) || got.Stored["name"] != "Readers" || got.Stored["topic"] != "Books" || got.Stored["isAnnounce"] != true ||
		got.Stored["messageCount"] != 1.0 || got.Stored["lastMessageAt"] != "2026-11-21T12:00:00.000Z" || got.Stored["createdAt"] != "2025-11-21T12:00:00.000Z" {
		t.Errorf("stored %v", got.Stored)
	}
	want := map[string]any{
		"jid": string(club), "name": "Readers!", "topic": "", "ownerJid": string(grace), "createdAt": nil, "isAnnounce": false, "isLocked": true, "joinApproval": true, "memberAddMode": "everyone", "disappearingSeconds": 0.0,
		"participants": []any{
			map[string]any{"jid": string(grace), "lid": string(graceLID), "username": nil, "displayName": "Grace Hopper", "isAdmin": true, "isSuperAdmin": false, "label": "Founder"},
			map[string]any{"jid": string(alan), "lid": nil, "username": nil, "displayName": "Alan", "isAdmin": false, "isSuperAdmin": false, "label": ""},
		},
	}
	if diff := cmp.Diff(want, got.Live); diff != "" {
		t.Error(diff)
	}
}

// TestGroup_LiveWithoutASubjectIsNamedByItsMembers, as the stored group and its chat are.
func TestGroup_LiveWithoutASubjectIsNamedByItsMembers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	name := "Grace Hopper"
	s.know(bridge.Owner{PN: me}, bridge.Contact{JID: grace, Name: &name}, members(club, "", grace, me), say(club, grace, "G1", "to all", 0))
	s.account.liveGroup = func(context.Context, bridge.JID) (*bridge.Group, error) {
		return &bridge.Group{JID: club, MemberAddMode: bridge.AddedByAdmins, Participants: []bridge.Participant{{JID: grace}, {JID: me}}}, nil
	}
	var got struct{ Stored, Live struct{ Name string } }
	s.Get("/api/groups/" + url.PathEscape(string(club))).Want(http.StatusOK).Decode(&got)
	if got.Stored.Name != name || got.Live.Name != name {
		t.Errorf("%+v", got)
	}
}

func TestGroup_LiveIsNullWhenTheNetworkCannotBeAsked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(members(club, "Readers", grace, me))
	for _, err := range []error{bridge.NotConnected("not open"), errors.New("timed out"), bridge.Fail(bridge.CodeNotInGroup, "left")} {
		s.account.liveGroup = func(context.Context, bridge.JID) (*bridge.Group, error) { return nil, err }
		var got map[string]any
		s.Get("/api/groups/" + string(club)).Want(http.StatusOK).Decode(&got)
		if live, present := got["live"]; !present || live != nil {
			t.Errorf("live %v after %v", live, err)
		}
	}
}

// The path takes a JID of the right kind, encoded once or not at all.
func TestPaths_JIDs(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(members(olden, "Old", grace, me), say(hidden, hidden, "L1", "x", 0), bridge.Identity{PN: grace, LID: graceLID})
	tests := []struct {
		path   string
		status int
	}{
		{"/api/groups/120363025246125486@g.us", 200},
		{"/api/groups/120363025246125486%40g.us", 200},
		{"/api/groups/%31%320363025246125486%40g%2Eus", 200},
		{"/api/groups//messages", 400},
		{"/api/groups/15557654321-1420070400%40g.us", 200},
		{"/api/groups/15557654321%2D1420070400%40g.us/messages", 200},
		{"/api/groups/999%40g.us", 404},
		{"/api/groups/999%40g.us/messages", 404},
		{"/api/groups/15557654321%40s.whatsapp.net", 400},
		{"/api/groups/15557654321%40s.whatsapp.net/messages", 400},
		{"/api/groups/236395184570386%40lid", 400},
		{"/api/groups/120363025246125486", 400},
		{"/api/groups/120363025246125486%2540g.us", 400},
		{"/api/groups/120363025246125486:1%40g.us", 400},
		{"/api/groups/%FF%40g.us", 400},
		{"/api/groups/..%2f120363025246125486%40g.us", 400},
		{"/api/groups/%00%40g.us", 400},
		{"/api/messages/individual/15557654321@s.whatsapp.net", 200},
		{"/api/messages/individual/15557654321%40s.whatsapp.net", 200},
		{"/api/messages/individual/81234567890123%40lid", 200},
		{"/api/messages/individual/236395184570386%40lid", 200},
		{"/api/messages/individual/999%40s.whatsapp.net", 404},
		{"/api/messages/individual/999%40lid", 404},
		{"/api/messages/individual/120363025246125486%40g.us", 400},
		{"/api/messages/individual/status%40broadcast", 400},
		{"/api/messages/individual/15557654321:7%40s.whatsapp.net", 400},
		{"/api/messages/individual/15557654321.0:7%40s.whatsapp.net", 400},
		{"/api/messages/individual/+15557654321%40s.whatsapp.net", 400},
		{"/api/messages/individual/15557654321%40c.us", 400},
		{"/api/messages/individual/15557654321%40s.whatsapp.net/", 404},
	}
	for _, test := range tests {
		if got := s.Get(test.path); got.Status != test.status {
			t.Errorf("%s: %d, want %d: %s", test.path, got.Status, test.status, got.Body)
		}
	}
}
