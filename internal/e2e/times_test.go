package e2e

import (
	"testing"
	"time"

	"bridged/internal/simnet"
)

// TestHistory_FiltersByTime: times in any zone, and plain dates, both ends
// included.
func TestHistory_FiltersByTime(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	at := func(moment string) time.Time { return must(time.Parse(time.RFC3339, moment))(t) }
	var all []object
	for _, moment := range []string{"2026-03-01T00:00:00Z", "2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z", "2026-03-02T12:00:00Z"} {
		id := say(t, c.anna, c.owner.PN(), "at "+moment, simnet.At(at(moment)))
		all = append(all, message(id, c.anna, "conversation", "at "+moment, object{"timestamp": at(moment).Format("2006-01-02T15:04:05.000Z")}))
	}
	list := path("/api/messages/individual/%s?order=asc&", c.anna.PN())
	for _, x := range []struct {
		query        string
		since, until any
		want         []object
	}{
		{"since=2026-03-01", "2026-03-01T00:00:00.000Z", nil, all},
		{"since=2026-03-02", "2026-03-02T00:00:00.000Z", nil, all[2:]},
		{"until=2026-03-01", nil, "2026-03-01T23:59:59.999Z", all[:2]},
		{"until=2026-03-02", nil, "2026-03-02T23:59:59.999Z", all},
		{"since=2026-03-01&until=2026-03-01", "2026-03-01T00:00:00.000Z", "2026-03-01T23:59:59.999Z", all[:2]},
		{"since=2026-03-01T23:59:59Z&until=2026-03-02T00:00:00Z", "2026-03-01T23:59:59.000Z", "2026-03-02T00:00:00.000Z", all[1:3]},
		{"since=2026-03-02T13:00:00%2B01:00", "2026-03-02T12:00:00.000Z", nil, all[3:]},
		{"since=2026-03-02T13:00:00+01:00", "2026-03-02T12:00:00.000Z", nil, all[3:]},
		{"until=2026-03-01T18:59:59-05:00", nil, "2026-03-01T23:59:59.000Z", all[:2]},
		{"since=2026-03-02T12:00:00.001Z", "2026-03-02T12:00:00.001Z", nil, nil},
		{"since=2026-03-02&until=2026-03-01", "2026-03-02T00:00:00.000Z", "2026-03-01T23:59:59.999Z", nil},
	} {
		b.answers(list+x.query, history(c.anna.PN(), x.want, object{"order": "asc", "since": x.since, "until": x.until}))
		var found []object
		for _, m := range reversed(x.want) {
			found = append(found, with(match(c.anna.PN(), m), object{"timestamp": m["timestamp"]}))
		}
		b.answers("/api/messages/search?q=at+2026&"+x.query, matches("at 2026", found...))
	}
	b.answers("/api/chats", chats(with(privateChat(c.anna, "Anna Amsel"), object{"lastMessageAt": "2026-03-02T12:00:00.000Z"})))
}

// TestChats_StatusUpdatesAreNone: notes to oneself are a chat with one person; status updates
// and mere changes of a chat are not messages.
func TestChats_StatusUpdatesAreNone(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	note := say(t, c.owner, c.owner.PN(), "buy milk")
	myself := with(privateChat(c.owner, "Olga"), object{"participants": 1})
	b.answers("/api/chats", chats(myself))
	eventually(t, func() error { return firstIs(b, path("/api/messages/individual/%s", c.owner.LID()), note, "Olga") })

	must(c.anna.SendText(within(t), simnet.JID{User: "status", Server: "broadcast"}, "on holiday"))(t)
	if err := c.anna.SetDisappearing(within(t), c.owner.PN(), chatTimer); err != nil {
		t.Fatal(err)
	}
	if err := c.anna.Typing(within(t), c.owner.PN(), true); err != nil {
		t.Fatal(err)
	}
	hello := say(t, c.anna, c.owner.PN(), "hello") // comes after all of these
	b.answers(path("/api/messages/individual/%s", c.anna.PN()), history(c.anna.PN(), []object{message(hello, c.anna, "conversation", "hello")}))
	b.answers("/api/messages/search?q=holiday", matches("holiday"))
	b.answers("/api/chats", chats(inOrder(t, b, myself, privateChat(c.anna, "Anna Amsel"))...))
}
