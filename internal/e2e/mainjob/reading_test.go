package mainjob

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// readsEverything calls every read endpoint with every parameter.
func readsEverything(t *testing.T, c *Cast, annas, bens, hike, club *Conversation) {
	t.Helper()
	for _, conversation := range []*Conversation{annas, bens, hike, club} {
		readsHistory(t, c, conversation)
	}
	readsChats(t, c, hike, club)
	readsGroup(t, c, hike, Member(c.Anna, "Anna Amsel"), Object{"topic": "Samstag, neun Uhr"})
	readsGroup(t, c, club, Member(c.Ben, "Ben"), Object{"isLocked": true})
	searches(t, c, annas, bens, hike, club)
}

// readsHistory reads one chat in every way. A person is found under both
// identities.
func readsHistory(t *testing.T, c *Cast, chat *Conversation) {
	t.Helper()
	b, shown := c.Bridge, chat.Shown
	newest := Reversed(shown)
	ask := func(messages []Object, next any, params ...string) {
		t.Helper()
		query, applied := url.Values{}, Object{}
		for i := 0; i+1 < len(params); i += 2 {
			query.Set(params[i], params[i+1])
			applied[params[i]] = echo(params[i], params[i+1])
		}
		want := History(chat.In, messages, applied)
		if next != nil {
			want["hasMore"], want["nextCursor"] = true, cursor(b, chat.List()+"?"+query.Encode())
		}
		b.Answers(chat.List()+"?"+query.Encode(), want)
	}
	more := "there is more"
	ask(newest, nil)
	ask(shown, nil, "order", "asc")
	ask(newest, nil, "order", "desc", "limit", "1000")
	ask(newest[:3], more, "limit", "3")
	ask(newest[3:5], more, "limit", "2", "offset", "3")
	ask(nil, nil, "offset", "1000")
	ask(shown[:1], nil, "q", "straße", "order", "asc")
	ask(nil, nil, "q", "50%")
	ask(newest, nil, "since", c.Bridge.Began.UTC().Add(-time.Hour).Format("2006-01-02T15:04:05.000Z"))
	ask(nil, nil, "since", "2099-01-01T00:00:00.000Z")
	ask(nil, nil, "until", "2020-02-03T04:05:06.000Z")
	ask(nil, nil, "since", "2099-01-01T00:00:00.000Z", "until", "2020-02-03T04:05:06.000Z")
	readsByCursor(t, c, chat)

	if chat.In.Server != bridge.ServerGroup {
		b.Answers(Path("/api/messages/individual/%s", chat.By.LID()), History(chat.In, newest))
		b.Answers(Path("/api/messages/individual/%s", chat.By.PN()), History(chat.In, newest))
		return
	}
	byThem := slices.DeleteFunc(slices.Clone(newest), func(m Object) bool { return m["fromMe"] == true })
	for _, sender := range []simnet.JID{chat.By.PN(), chat.By.LID()} {
		b.Answers(chat.List()+"?sender="+url.QueryEscape(sender.String()), History(chat.In, byThem, Object{"sender": chat.By.PN().String()}))
	}
	ask(nil, nil, "sender", "999999999999@s.whatsapp.net")
}

// echo returns a parameter as filters show it.
func echo(name, value string) any {
	if name == "limit" || name == "offset" {
		var n int
		_, _ = fmt.Sscan(value, &n) // the tests' own number
		return n
	}
	return value
}

// cursor returns the cursor of a list's next page.
func cursor(p *Process, path string) string {
	p.T.Helper()
	var page struct{ NextCursor *string }
	p.Get(path).Want(http.StatusOK).Decode(&page)
	return OrNone(page.NextCursor)
}

// readsByCursor reads the whole history in small pages.
func readsByCursor(t *testing.T, c *Cast, chat *Conversation) {
	t.Helper()
	ids := Pages(t, c.Bridge, chat.List()+"?limit=4", "messages", "msgId")
	if want := column(Reversed(chat.Shown), "msgId"); !slices.Equal(ids, want) {
		t.Errorf("by cursor: %v, want %v", ids, want)
	}
}

// column returns one field of all objects.
func column(objects []Object, name string) []string {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = fmt.Sprint(o[name])
	}
	return all
}

// readsChats lists the four chats. Times are whole seconds, so chats with messages
// in the same second may come in any order.
func readsChats(t *testing.T, c *Cast, hike, club *Conversation) {
	t.Helper()
	b := c.Bridge
	disappearing := Object{"disappearingSeconds": ChatTimer} // as their last messages with a timer say
	anna, ben := With(PrivateChat(c.Anna, "Anna Amsel"), disappearing), With(PrivateChat(c.Ben, "Ben"), disappearing)
	walk := Chat(Object{"jid": hike.In.String(), "lid": nil, "username": nil, "isGroup": true, "name": "Wanderung 🥾", "participants": 3})
	old := With(walk, Object{"jid": club.In.String(), "name": "Old club"})
	all := InOrder(t, b, anna, ben, walk, old)
	b.Answers("/api/chats", Chats(all...))
	b.Answers("/api/chats?type=all&limit=500", Chats(all...))
	b.Answers("/api/chats?type=individual", Chats(InOrder(t, b, anna, ben)...))
	b.Answers("/api/chats?type=group", Chats(InOrder(t, b, walk, old)...))
	b.Answers("/api/chats?limit=1&offset=1", With(Chats(all[1]), Object{"hasMore": true, "nextCursor": cursor(b, "/api/chats?limit=1&offset=1")}))
	b.Answers("/api/chats?q=AMSEL", Chats(anna))
	b.Answers("/api/chats?q="+url.QueryEscape("🥾"), Chats(walk))
	b.Answers("/api/chats?q=-1600000000", Chats(old))
	b.Answers("/api/chats?q="+c.Ben.Number()+"@s.&type=individual", Chats(ben))
	b.Answers("/api/chats?q="+c.Ben.Number()+"&type=group", Chats(old)) // old group ids begin with their founder's number
	b.Answers("/api/chats?q=nobody", Chats())
	if got, want := Pages(t, b, "/api/chats?limit=1", "chats", "jid"), column(all, "jid"); !slices.Equal(got, want) {
		t.Errorf("chats by cursor: %v, want %v", got, want)
	}
}

// readsGroup compares the stored group with the live one.
func readsGroup(t *testing.T, c *Cast, chat *Conversation, other, changes Object) {
	t.Helper()
	owner, carla := Member(c.Owner, "Olga", "isAdmin", "isSuperAdmin"), Member(c.Carla, "Carla")
	group, ok := c.Network.Group(chat.In)
	if !ok {
		t.Fatal("no such group")
	}
	live := With(Object{
		"jid": chat.In.String(), "name": group.Name(), "topic": "", "ownerJid": c.Owner.PN().String(), "createdAt": Recent,
		"isAnnounce": false, "isLocked": false, "joinApproval": false, "memberAddMode": "admins", "disappearingSeconds": 0, "participants": []Object{owner, other, carla},
	}, changes)
	stored := With(live, Object{"messageCount": len(chat.Shown), "lastMessageAt": Recent, "updatedAt": Recent, "pictureId": nil})
	c.Bridge.Answers(Path("/api/groups/%s", chat.In), Object{"jid": chat.In.String(), "stored": stored, "live": live})
}

// searches searches in all chats.
func searches(t *testing.T, c *Cast, annas, bens, hike, club *Conversation) {
	t.Helper()
	b := c.Bridge
	found := func(i int, conversations ...*Conversation) (all []Object) {
		for _, chat := range conversations {
			all = append(all, Match(chat.In, chat.Shown[i]))
		}
		return all
	}
	const greeting = 0
	ask := func(q, more string, want ...Object) {
		t.Helper()
		b.Answers("/api/messages/search?q="+url.QueryEscape(q)+more, Matches(q, want...))
	}
	everywhere := found(greeting, club, hike, bens, annas)
	ask("straße", "", everywhere...)
	ask("GRÜSSE AUS", "&chatType=all&limit=500", everywhere...)
	ask("🛣", "", everywhere...)
	ask("straße", "&chatType=group", everywhere[:2]...)
	ask("straße", "&chatType=individual", everywhere[2:]...)
	ask("straße", "&since=2099-01-01")
	ask("straße", "&until=2020-01-01")
	ask("straße", "&since="+c.Bridge.Began.UTC().Format(time.DateOnly)+"&until=2099-12-31", everywhere...)
	ask("100%", "")
	b.Answers("/api/messages/search?q=straße&limit=2", With(Matches("straße", everywhere[:2]...), Object{"hasMore": true, "nextCursor": cursor(b, "/api/messages/search?q=straße&limit=2")}))
	if got, want := Pages(t, b, "/api/messages/search?q=straße&limit=1", "matches", "msgId"), column(everywhere, "msgId"); !slices.Equal(got, want) {
		t.Errorf("search by cursor: %v, want %v", got, want)
	}
	for _, text := range []string{"sunrise", "waves", "the plan", "brandenburger tor, pariser", "née ö, emil", "wohin?", "txt", "the text"} {
		want := 4
		if text == "txt" { // was edited away
			want = 0
		}
		var page struct{ Matches []bridge.Match }
		b.Get("/api/messages/search?q=" + url.QueryEscape(text)).Want(http.StatusOK).Decode(&page)
		if len(page.Matches) != want {
			t.Errorf("search for %q: %d matches, want %d", text, len(page.Matches), want)
		}
	}
	ask("I regret this", "") // was deleted
}
