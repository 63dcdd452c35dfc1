package receiving

import (
	"testing"
	"time"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestHistory_FiltersByTime: times in any zone, and plain dates, both ends
// included.
func TestHistory_FiltersByTime(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	at := func(moment string) time.Time { return Must(time.Parse(time.RFC3339, moment))(t) }
	var all []Object
	for _, moment := range []string{"2026-03-01T00:00:00Z", "2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z", "2026-03-02T12:00:00Z"} {
		id := Say(t, c.Anna, c.Owner.PN(), "at "+moment, simnet.At(at(moment)))
		all = append(all, Message(id, c.Anna, "conversation", "at "+moment, Object{"timestamp": at(moment).Format("2006-01-02T15:04:05.000Z")}))
	}
	list := Path("/api/messages/individual/%s?order=asc&", c.Anna.PN())
	for _, x := range []struct {
		query        string
		since, until any
		want         []Object
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
		b.Answers(list+x.query, History(c.Anna.PN(), x.want, Object{"order": "asc", "since": x.since, "until": x.until}))
		var found []Object
		for _, m := range Reversed(x.want) {
			found = append(found, With(Match(c.Anna.PN(), m), Object{"timestamp": m["timestamp"]}))
		}
		b.Answers("/api/messages/search?q=at+2026&"+x.query, Matches("at 2026", found...))
	}
	b.Answers("/api/chats", Chats(With(PrivateChat(c.Anna, "Anna Amsel"), Object{"lastMessageAt": "2026-03-02T12:00:00.000Z"})))
}

// TestChats_StatusUpdatesAreNone: notes to oneself are a chat with one person; status updates
// and mere changes of a chat are not messages.
func TestChats_StatusUpdatesAreNone(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	note := Say(t, c.Owner, c.Owner.PN(), "buy milk")
	myself := With(PrivateChat(c.Owner, "Olga"), Object{"participants": 1})
	b.Answers("/api/chats", Chats(myself))
	Eventually(t, func() error { return FirstIs(b, Path("/api/messages/individual/%s", c.Owner.LID()), note, "Olga") })

	Must(c.Anna.SendText(Within(t), simnet.JID{User: "status", Server: "broadcast"}, "on holiday"))(t)
	if err := c.Anna.SetDisappearing(Within(t), c.Owner.PN(), ChatTimer); err != nil {
		t.Fatal(err)
	}
	if err := c.Anna.Typing(Within(t), c.Owner.PN(), true); err != nil {
		t.Fatal(err)
	}
	hello := Say(t, c.Anna, c.Owner.PN(), "hello") // comes after all of these
	b.Answers(Path("/api/messages/individual/%s", c.Anna.PN()), History(c.Anna.PN(), []Object{Message(hello, c.Anna, "conversation", "hello")}))
	b.Answers("/api/messages/search?q=holiday", Matches("holiday"))
	b.Answers("/api/chats", Chats(InOrder(t, b, myself, With(PrivateChat(c.Anna, "Anna Amsel"), Object{"disappearingSeconds": ChatTimer}))...))
}
