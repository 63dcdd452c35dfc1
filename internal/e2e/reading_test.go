package e2e

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// readsEverything calls every read endpoint with every parameter.
func readsEverything(t *testing.T, c *cast, annas, bens, hike, club *conversation) {
	t.Helper()
	for _, conversation := range []*conversation{annas, bens, hike, club} {
		readsHistory(t, c, conversation)
	}
	readsChats(t, c, hike, club)
	readsGroup(t, c, hike, member(c.anna, "Anna Amsel"), object{"topic": "Samstag, neun Uhr"})
	readsGroup(t, c, club, member(c.ben, "Ben"), object{"isLocked": true})
	searches(t, c, annas, bens, hike, club)
}

// readsHistory reads one chat in every way. A person is found under both
// identities.
func readsHistory(t *testing.T, c *cast, chat *conversation) {
	t.Helper()
	b, shown := c.bridge, chat.shown
	newest := reversed(shown)
	ask := func(messages []object, next any, params ...string) {
		t.Helper()
		query, applied := url.Values{}, object{}
		for i := 0; i+1 < len(params); i += 2 {
			query.Set(params[i], params[i+1])
			applied[params[i]] = echo(params[i], params[i+1])
		}
		want := history(chat.in, messages, applied)
		if next != nil {
			want["hasMore"], want["nextCursor"] = true, b.cursor(chat.list()+"?"+query.Encode())
		}
		b.answers(chat.list()+"?"+query.Encode(), want)
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
	ask(newest, nil, "since", c.bridge.began.UTC().Add(-time.Hour).Format("2006-01-02T15:04:05.000Z"))
	ask(nil, nil, "since", "2099-01-01T00:00:00.000Z")
	ask(nil, nil, "until", "2020-02-03T04:05:06.000Z")
	ask(nil, nil, "since", "2099-01-01T00:00:00.000Z", "until", "2020-02-03T04:05:06.000Z")
	readsByCursor(t, c, chat)

	if chat.in.Server != bridge.ServerGroup {
		b.answers(path("/api/messages/individual/%s", chat.by.LID()), history(chat.in, newest))
		b.answers(path("/api/messages/individual/%s", chat.by.PN()), history(chat.in, newest))
		return
	}
	byThem := slices.DeleteFunc(slices.Clone(newest), func(m object) bool { return m["fromMe"] == true })
	for _, sender := range []simnet.JID{chat.by.PN(), chat.by.LID()} {
		b.answers(chat.list()+"?sender="+url.QueryEscape(sender.String()), history(chat.in, byThem, object{"sender": chat.by.PN().String()}))
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
func (p *process) cursor(path string) string {
	p.t.Helper()
	var page struct{ NextCursor *string }
	p.Get(path).Want(http.StatusOK).Decode(&page)
	return orNone(page.NextCursor)
}

// readsByCursor reads the whole history in small pages.
func readsByCursor(t *testing.T, c *cast, chat *conversation) {
	t.Helper()
	ids := pages(t, c.bridge, chat.list()+"?limit=4", "messages", "msgId")
	if want := column(reversed(chat.shown), "msgId"); !slices.Equal(ids, want) {
		t.Errorf("by cursor: %v, want %v", ids, want)
	}
}

// pages reads a list to its end by its cursors and returns one of its columns.
func pages(t testing.TB, b *process, list, items, name string) (all []string) {
	t.Helper()
	for next := ""; ; {
		var page object
		b.Get(list + "&cursor=" + url.QueryEscape(next)).Want(http.StatusOK).Decode(&page)
		for _, item := range page[items].([]any) {
			all = append(all, item.(object)[name].(string))
		}
		cursor, more := page["nextCursor"].(string)
		if !more {
			return all
		}
		next = cursor
	}
}

// column returns one field of all objects.
func column(objects []object, name string) []string {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = fmt.Sprint(o[name])
	}
	return all
}

// readsChats lists the four chats. Times are whole seconds, so chats with messages
// in the same second may come in any order.
func readsChats(t *testing.T, c *cast, hike, club *conversation) {
	t.Helper()
	b := c.bridge
	anna, ben := privateChat(c.anna, "Anna Amsel"), privateChat(c.ben, "Ben")
	walk := chat(object{"jid": hike.in.String(), "lid": nil, "username": nil, "isGroup": true, "name": "Wanderung 🥾", "participants": 3})
	old := with(walk, object{"jid": club.in.String(), "name": "Old club"})
	all := inOrder(t, b, anna, ben, walk, old)
	b.answers("/api/chats", chats(all...))
	b.answers("/api/chats?type=all&limit=500", chats(all...))
	b.answers("/api/chats?type=individual", chats(inOrder(t, b, anna, ben)...))
	b.answers("/api/chats?type=group", chats(inOrder(t, b, walk, old)...))
	b.answers("/api/chats?limit=1&offset=1", with(chats(all[1]), object{"hasMore": true, "nextCursor": b.cursor("/api/chats?limit=1&offset=1")}))
	b.answers("/api/chats?q=AMSEL", chats(anna))
	b.answers("/api/chats?q="+url.QueryEscape("🥾"), chats(walk))
	b.answers("/api/chats?q=-1600000000", chats(old))
	b.answers("/api/chats?q="+c.ben.Number()+"@s.&type=individual", chats(ben))
	b.answers("/api/chats?q="+c.ben.Number()+"&type=group", chats(old)) // old group ids begin with their founder's number
	b.answers("/api/chats?q=nobody", chats())
	if got, want := pages(t, b, "/api/chats?limit=1", "chats", "jid"), column(all, "jid"); !slices.Equal(got, want) {
		t.Errorf("chats by cursor: %v, want %v", got, want)
	}
}

// inOrder sorts chats as the list promises: the latest message first, then by JID.
func inOrder(t *testing.T, b *process, listed ...object) []object {
	t.Helper()
	var page struct{ Chats []bridge.Chat }
	b.Get("/api/chats").Want(http.StatusOK).Decode(&page)
	last := map[string]time.Time{}
	for _, chat := range page.Chats {
		last[string(chat.JID)] = chat.LastMessageAt.Time
	}
	slices.SortFunc(listed, func(x, y object) int {
		a, b := x["jid"].(string), y["jid"].(string)
		return cmp.Or(last[b].Compare(last[a]), cmp.Compare(a, b))
	})
	return listed
}

// readsGroup compares the stored group with the live one.
func readsGroup(t *testing.T, c *cast, chat *conversation, other, changes object) {
	t.Helper()
	owner, carla := member(c.owner, "Olga", "isAdmin", "isSuperAdmin"), member(c.carla, "Carla")
	group, ok := c.network.Group(chat.in)
	if !ok {
		t.Fatal("no such group")
	}
	live := with(object{
		"jid": chat.in.String(), "name": group.Name(), "topic": "", "ownerJid": c.owner.PN().String(), "createdAt": recent,
		"isAnnounce": false, "isLocked": false, "joinApproval": false, "disappearingSeconds": 0, "participants": []object{owner, other, carla},
	}, changes)
	stored := with(live, object{"messageCount": len(chat.shown), "lastMessageAt": recent, "updatedAt": recent, "pictureId": nil})
	c.bridge.answers(path("/api/groups/%s", chat.in), object{"jid": chat.in.String(), "stored": stored, "live": live})
}

// searches searches in all chats.
func searches(t *testing.T, c *cast, annas, bens, hike, club *conversation) {
	t.Helper()
	b := c.bridge
	found := func(i int, conversations ...*conversation) (all []object) {
		for _, chat := range conversations {
			all = append(all, match(chat.in, chat.shown[i]))
		}
		return all
	}
	const greeting = 0
	ask := func(q, more string, want ...object) {
		t.Helper()
		b.answers("/api/messages/search?q="+url.QueryEscape(q)+more, matches(q, want...))
	}
	everywhere := found(greeting, club, hike, bens, annas)
	ask("straße", "", everywhere...)
	ask("GRÜSSE AUS", "&chatType=all&limit=500", everywhere...)
	ask("🛣", "", everywhere...)
	ask("straße", "&chatType=group", everywhere[:2]...)
	ask("straße", "&chatType=individual", everywhere[2:]...)
	ask("straße", "&since=2099-01-01")
	ask("straße", "&until=2020-01-01")
	ask("straße", "&since="+c.bridge.began.UTC().Format(time.DateOnly)+"&until=2099-12-31", everywhere...)
	ask("100%", "")
	b.answers("/api/messages/search?q=straße&limit=2", with(matches("straße", everywhere[:2]...), object{"hasMore": true, "nextCursor": b.cursor("/api/messages/search?q=straße&limit=2")}))
	if got, want := pages(t, b, "/api/messages/search?q=straße&limit=1", "matches", "msgId"), column(everywhere, "msgId"); !slices.Equal(got, want) {
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
