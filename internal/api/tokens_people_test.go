package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// The people outside of the chats of the token of these tests: all that a bridge
// may know of them.
const (
	stranger     = bridge.JID("4915112345678@s.whatsapp.net")
	strangerLID  = bridge.JID("236395184570399@lid")
	strangerName = "Sally Secret"
)

// insider makes a server with a chat and a group that a token may see. Somebody
// outside is mentioned and quoted in them.
func insider(t *testing.T) *server {
	s := newServer(t)
	s.account.groupAdmin.results = func(people []bridge.JID) (results []bridge.ParticipantResult) {
		for _, jid := range people { // as the account names them
			sentence := "is not a member of the group"
			results = append(results, bridge.ParticipantResult{JID: s.store.Canonical(jid), LID: s.store.LIDOf(jid), Status: bridge.ParticipantNotMember, Error: &sentence})
		}
		return results
	}
	s.account.groupAdmin.asking = func() (requests []bridge.JoinRequest) {
		for _, jid := range []bridge.JID{strangerLID, stranger, graceLID} {
			requests = append(requests, s.store.Asking(jid, nil))
		}
		return requests
	}
	mentions := say(olden, alan, "M1", "@"+strangerLID.User()+" and @"+stranger.User()+", meet @"+graceLID.User(), 1)
	mentions.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{strangerLID, stranger, graceLID}}
	quotes := say(olden, alan, "M2", "so she said", 2)
	id := "ELSEWHERE"
	quotes.ContextInfo = &bridge.ContextInfo{QuotedMsgID: &id, QuotedSenderJID: strangerLID}
	own := iSaid(olden, "M3", "ask @"+strangerLID.User())
	own.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{strangerLID}}
	s.know(bridge.Owner{PN: me}, bridge.Identity{PN: grace, LID: graceLID}, members(olden, "Readers", alan, grace, me), say(grace, grace, "G1", "hello", 0), mentions, quotes, own,
		bridge.GroupChange{JID: olden, Asked: []bridge.Participant{{JID: strangerLID}}, Timestamp: bridge.At(noon)})
	return s
}

// leveled returns an answer without what differs from server to server.
func leveled(t *testing.T, body []byte) (answer any) {
	t.Helper()
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var level func(any) any
	level = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				switch name {
				case "id", "timestamp", "updatedAt", "lastMessageAt", "nextCursor", "lastId", "now", "requestedAt":
					v[name] = "leveled"
				default:
					v[name] = level(value)
				}
			}
		case []any:
			for i := range v {
				v[i] = level(v[i])
			}
		}
		return v
	}
	return level(answer)
}

// naming is how a message that is sent names people.
type naming struct {
	To               bridge.JID
	Mentions, Unseen []bridge.JID
}

func namings(sent []bridge.Outgoing) (all []naming) {
	for _, out := range sent {
		n := naming{out.To, out.Mentions, out.Unseen}
		if edit, ok := out.Content.(bridge.TextEdit); ok {
			n = naming{out.To, edit.Mentions, edit.Unseen}
		}
		all = append(all, n)
	}
	return all
}

// TestTokens_PeopleOutsideAreNotThere: whatever a token of some chats asks, it is
// answered as by a bridge that has nothing outside of them.
func TestTokens_PeopleOutsideAreNotThere(t *testing.T) {
	t.Parallel()
	alone, crowded := insider(t), insider(t)
	name, push, username := strangerName, "sally", "sally.s"
	crowded.know(bridge.Identity{PN: stranger, LID: strangerLID}, bridge.Contact{JID: stranger, Name: &name, PushName: &push, Username: &username},
		say(stranger, stranger, "S1", "a secret", 3), members(club, "Secrets", stranger, me), say(club, stranger, "C1", "another", 4))
	scopes := `{"name":"x","scopes":["read","send","manage"],"chats":["` + string(grace) + `","` + string(olden) + `"]}`
	one, other := alone.as(alone.token(scopes)), crowded.as(crowded.token(scopes))
	type call struct{ method, path, body string }
	var calls []call
	for _, jid := range []bridge.JID{strangerLID, stranger} {
		calls = append(calls,
			call{"GET", "/api/groups/" + string(olden) + "/messages?sender=" + string(jid), ""},
			call{"GET", "/api/messages/individual/" + string(jid), ""},
			call{"GET", "/api/chats/" + string(jid), ""},
			call{"GET", "/api/contacts/" + string(jid), ""},
			call{"GET", "/api/contacts/" + string(jid) + "/picture", ""},
			call{"GET", "/api/contacts?q=" + jid.User(), ""},
			call{"GET", "/api/chats?q=" + jid.User(), ""},
			call{"POST", "/api/contacts/check", `{"phones":["` + stranger.User() + `"]}`},
			call{"POST", "/api/messages/send", fmt.Sprintf(`{"jid":%q,"text":"hello @%s","mentions":[%q]}`, olden, jid.User(), jid)},
			call{"POST", "/api/messages/send", fmt.Sprintf(`{"jid":%q,"text":"hello","mentions":[%q,%q,%q]}`, grace, strangerLID, stranger, graceLID)},
			call{"POST", "/api/messages/send", fmt.Sprintf(`{"jid":%q,"text":"x"}`, jid)},
			call{"POST", "/api/messages/send", fmt.Sprintf(`{"jid":%q,"text":"x","quotedChatJid":%q,"quotedMsgId":"S1"}`, grace, jid)},
			call{"POST", "/api/messages/forward", fmt.Sprintf(`{"sourceChatJid":%q,"sourceMsgId":"S1","destJid":%q}`, jid, grace)},
			call{"POST", "/api/webhooks", fmt.Sprintf(`{"url":"https://example.com/x","chats":[%q]}`, jid)},
			call{"POST", "/api/hooks", fmt.Sprintf(`{"name":"x","chatJid":%q,"template":"json"}`, jid)},
			call{"POST", "/api/tokens", fmt.Sprintf(`{"name":"x","scopes":["read"],"chats":[%q]}`, jid)},
		)
		for _, action := range []bridge.ParticipantAction{bridge.ParticipantAdd, bridge.ParticipantRemove, bridge.ParticipantPromote, bridge.ParticipantDemote} {
			calls = append(calls, call{
				"POST", "/api/groups/" + string(olden) + "/participants",
				fmt.Sprintf(`{"action":%q,"participants":[%q,%q]}`, action, jid, graceLID),
			})
		}
	}
	calls = append(calls,
		call{"POST", "/api/groups/" + string(olden) + "/participants", fmt.Sprintf(`{"action":"remove","participants":[%q,%q]}`, strangerLID, stranger)},
		call{"PATCH", "/api/chats/" + string(olden) + "/messages/M3", fmt.Sprintf(`{"text":"ask @%s, not @%s","mentions":[%q,%q]}`, strangerLID.User(), stranger.User(), strangerLID, stranger)},
		call{"PATCH", "/api/chats/" + string(olden) + "/messages/M3", fmt.Sprintf(`{"text":"do ask @%s"}`, strangerLID.User())},
		call{"GET", "/api/groups/" + string(olden) + "/messages", ""},
		call{"GET", "/api/groups/" + string(olden) + "/messages?q=meet", ""},
		call{"GET", "/api/chats/" + string(olden) + "/messages/M1", ""},
		call{"GET", "/api/chats/" + string(olden) + "/messages/M2", ""},
		call{"GET", "/api/messages/search?q=meet", ""},
		call{"GET", "/api/messages/search?q=secret", ""},
		call{"GET", "/api/groups/" + string(olden), ""},
		call{"GET", "/api/groups/" + string(olden) + "/requests", ""},
		call{"GET", "/api/events?limit=1000", ""},
	)
	for _, c := range calls {
		a, b := one.Do(c.method, c.path, c.body), other.Do(c.method, c.path, c.body)
		if diff := cmp.Diff(leveled(t, a.Body), leveled(t, b.Body)); a.Status != b.Status || diff != "" {
			t.Errorf("%s %s %s: %d, and beside others %d:\n%s", c.method, c.path, c.body, a.Status, b.Status, diff)
		}
	}
	if diff := cmp.Diff(namings(alone.account.sent()), namings(crowded.account.sent())); diff != "" {
		t.Errorf("what is sent names people, alone (-) and beside others (+):\n%s", diff)
	}
	if diff := cmp.Diff(alone.account.groupAdmin.made(), crowded.account.groupAdmin.made()); diff != "" {
		t.Errorf("groups are changed, alone (-) and beside others (+):\n%s", diff)
	}
	// BRIDGE_TOKEN knows them.
	var asking struct{ Requests []bridge.JoinRequest }
	crowded.Get("/api/groups/" + string(olden) + "/requests").Want(http.StatusOK).Decode(&asking)
	for _, r := range asking.Requests[:2] {
		if r.JID != stranger || r.LID != strangerLID || r.DisplayName != strangerName || r.Username == nil {
			t.Errorf("the whole bridge knows %+v", r)
		}
	}
	var whole struct{ Message bridge.Message }
	crowded.Get("/api/chats/" + string(olden) + "/messages/M1").Want(http.StatusOK).Decode(&whole)
	if m := whole.Message; len(m.ContextInfo.Mentions) != 2 || m.ContextInfo.Mentions[0].JID != stranger || m.ContextInfo.Mentions[0].Name != strangerName {
		t.Errorf("the whole bridge knows %+v", m.ContextInfo.Mentions)
	}
}

// TestTokens_PostsAndStreamsNameNobodyOutside.
func TestTokens_PostsAndStreamsNameNobodyOutside(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	name := strangerName
	s.know(bridge.Identity{PN: stranger, LID: strangerLID}, bridge.Contact{JID: stranger, Name: &name}, say(stranger, stranger, "S1", "a secret", 0))
	made := s.server.token(`{"name":"x","scopes":["read","manage"],"chats":["` + string(grace) + `"]}`)
	mine := hooked{s.as(made), s.receiver}
	mine.create(object{"url": "https://example.com/x", "types": []string{"message.created"}})
	stream := mine.streamAs(made.Secret)
	m := say(grace, grace, "M1", "ask @"+strangerLID.User(), 1)
	m.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{strangerLID}}
	s.know(m)
	if got := <-s.receiver.got; !strings.Contains(got, string(strangerLID)) || strings.Contains(got, stranger.User()) || strings.Contains(got, strangerName) {
		t.Errorf("posted %s", got)
	}
	for {
		e := stream.event()
		if e.Message == nil {
			continue
		}
		if mention := e.Message.ContextInfo.Mentions[0]; mention.JID != strangerLID || mention.Name != "" {
			t.Errorf("the stream names %+v", mention)
		}
		return
	}
}

// TestTokens_PostsAndStreamsOfRequestsNameNobodyOutside: who asks to be let into a
// group is shown to a token of this group as the network named them.
func TestTokens_PostsAndStreamsOfRequestsNameNobodyOutside(t *testing.T) {
	t.Parallel()
	s := newHooked(t)
	name, username := strangerName, "sally.s"
	s.know(bridge.Identity{PN: stranger, LID: strangerLID}, bridge.Contact{JID: stranger, Name: &name, Username: &username},
		members(olden, "Readers", alan, grace, me))
	made := s.server.token(`{"name":"x","scopes":["read","manage"],"chats":["` + string(olden) + `"]}`)
	mine := hooked{s.as(made), s.receiver}
	mine.create(object{"url": "https://example.com/x", "types": []string{"group.updated"}})
	stream := mine.streamAs(made.Secret)
	ask := []bridge.Participant{{JID: strangerLID}}
	s.know(bridge.GroupChange{JID: olden, Asked: ask, Timestamp: bridge.At(noon)})
	if got := <-s.receiver.got; !strings.Contains(got, string(strangerLID)) || strings.Contains(got, stranger.User()) ||
		strings.Contains(got, strangerName) || strings.Contains(got, username) {
		t.Errorf("posted %s", got)
	}
	s.know(bridge.GroupChange{JID: olden, AskNoMore: ask, Timestamp: bridge.At(noon.Add(time.Minute))})
	for revoked := false; !revoked; {
		e := stream.event()
		if e.JoinRequests == nil {
			continue
		}
		for _, r := range append(e.JoinRequests.Created, e.JoinRequests.Revoked...) {
			if r.JID != strangerLID || r.LID != strangerLID || r.DisplayName != "" || r.Username != nil {
				t.Errorf("the stream names %+v", r)
			}
		}
		revoked = len(e.JoinRequests.Revoked) > 0
	}
	var page struct{ Events []bridge.Event }
	s.Get("/api/events?limit=1000").Want(http.StatusOK).Decode(&page)
	if r := page.Events[len(page.Events)-1].JoinRequests; r == nil || len(r.Revoked) != 1 || r.Revoked[0].JID != stranger || r.Revoked[0].DisplayName != strangerName {
		t.Errorf("the whole bridge is told of %+v", r)
	}
}
