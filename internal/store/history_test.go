package store

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/read"
)

func TestChats_AreSortedByTheLatestMessageThenJID(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 5, "five"), says(club, bob, "G1", 9, "nine"), says(carol, carol, "C1", 5, "five"),
		bridge.Group{JID: "120363000000000009@g.us", Name: "silent"}, bridge.ChatTimer{Chat: bob, Seconds: 1})
	want := []bridge.JID{club, alice, carol, "120363000000000009@g.us", bob}
	sameList(t, "all", jids(chats(t, s, bridge.ChatQuery{})), want)
	sameList(t, "groups", jids(chats(t, s, bridge.ChatQuery{Type: bridge.ChatsGroup})), []bridge.JID{club, want[3]})
	sameList(t, "individual", jids(chats(t, s, bridge.ChatQuery{Type: bridge.ChatsIndividual})), []bridge.JID{alice, carol, bob})
	sameList(t, "offset", jids(chats(t, s, bridge.ChatQuery{Limit: 2, Offset: 3})), want[3:])
	sameList(t, "by cursor", jids(allChats(t, s, bridge.ChatQuery{Limit: 1})), want)
	sameList(t, "groups by cursor", jids(allChats(t, s, bridge.ChatQuery{Limit: 1, Type: bridge.ChatsGroup})), []bridge.JID{club, want[3]})
	last := chats(t, s, bridge.ChatQuery{})[4]
	if last.LastMessageAt != nil || last.Participants != 2 {
		t.Errorf("a chat without messages: %+v", last)
	}
}

func jids(chats []bridge.Chat) []bridge.JID {
	list := make([]bridge.JID, len(chats))
	for i, c := range chats {
		list[i] = c.JID
	}
	return list
}

// allChats follows the cursors.
func allChats(t *testing.T, s *Store, q bridge.ChatQuery) []bridge.Chat {
	t.Helper()
	var all []bridge.Chat
	for {
		page, err := s.Chats(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			return all
		}
		q.Cursor = *page.NextCursor
	}
}

func TestChats_AreFoundByNameAndJID(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, bridge.Contact{JID: alice, Name: ptr("Çağla 100%")}, says(alice, alice, "A1", 4, "x"),
		bridge.Contact{JID: bob, PushName: ptr("ΝΊΚΟΣ_")}, says(bob, bob, "B1", 3, "x"),
		bridge.Group{JID: club, Name: "Straße & Co"}, says(club, bob, "G1", 2, "x"),
		says(carol, carol, "C1", 1, "x"))
	for q, want := range map[string][]bridge.JID{
		"çAĞLA":           {alice},
		"C\u0327ag\u0306": {alice}, // decomposed
		"%":               {alice},
		"_":               {bob},
		"νίκοσ":           {bob},
		"STRASSE":         {club},
		"@g.us":           {club},
		"@G.US":           {club},
		"4917000000":      {alice, bob, carol},
		"  ":              {alice, bob, club, carol},
		"nobody":          {},
	} {
		sameList(t, q, jids(chats(t, s, bridge.ChatQuery{Q: q})), want)
		if got := allChats(t, s, bridge.ChatQuery{Q: q, Limit: 1}); len(got) != len(want) {
			t.Errorf("%s by cursor: %v", q, jids(got))
		}
	}
}

func TestChats_TakeTheBestName(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	hi := says(alice, alice, "A1", 1, "hi")
	hi.PushName = "Ali"
	save(t, s, says(alice, alice, "A0", 0, "hi"))
	for _, step := range []struct {
		fact bridge.Fact
		want string
	}{
		{bridge.Contact{JID: alice}, alice.User()},
		{bridge.Contact{JID: alice, BusinessName: ptr("Alice GmbH")}, "Alice GmbH"},
		{hi, "Ali"},
		{bridge.Contact{JID: aliceLID, Name: ptr("somebody else")}, "Ali"},
		{bridge.Contact{JID: alice, Name: ptr("Alice A.")}, "Alice A."},
		{bridge.Contact{JID: alice, PushName: ptr("Alice")}, "Alice A."},
		{bridge.Contact{JID: alice, Name: ptr("")}, "Alice"},
	} {
		save(t, s, step.fact)
		if got := chats(t, s, bridge.ChatQuery{})[0].Name; got != step.want {
			t.Errorf("after %+v: %q, want %q", step.fact, got, step.want)
		}
	}
}

// longHistory is a chat of n messages, two a second, half of them Bob's, in a
// group that lives beside another chat.
func longHistory(t *testing.T, n int) *Store {
	t.Helper()
	s := newStore(t)
	facts := []bridge.Fact{bridge.Identity{PN: bob, LID: bobLID}}
	for i := range n {
		sender := alice
		if i%2 == 1 {
			sender = bob
		}
		facts = append(facts, says(club, sender, fmt.Sprintf("G%03d", i), i/2*4000, fmt.Sprintf("message %d of %s", i, sender.User())))
		facts = append(facts, says(alice, alice, fmt.Sprintf("A%03d", i), i, "elsewhere"))
	}
	save(t, s, facts...)
	return s
}

func TestMessages_PagesNeverOverlap(t *testing.T) {
	t.Parallel()
	const n = 101
	s := longHistory(t, n)
	for name, q := range map[string]bridge.MessageQuery{
		"all":               {},
		"a sender":          {Sender: bobLID},
		"a text":            {Q: "MESSAGE 1"},
		"a range":           {Since: ptr(at(4000 * 5)), Until: ptr(at(4000 * 40))},
		"everything":        {Sender: bob, Q: "1", Since: ptr(at(4000)), Until: ptr(at(4000 * 48))},
		"nothing":           {Q: "elsewhere"},
		"an empty range":    {Since: ptr(at(9)), Until: ptr(at(5))},
		"an unknown person": {Sender: carol},
		"a blank text":      {Q: " \t"},
	} {
		for _, order := range []bridge.Order{bridge.OrderAsc, bridge.OrderDesc, ""} {
			t.Run(name+" "+string(order), func(t *testing.T) {
				q := q
				q.Chat, q.Order, q.Limit = club, order, 1000
				want := ids(messages(t, s, q))
				sameList(t, "by the naive way", want, naive(t, s, q))
				for _, limit := range []int{1, 7, 50} {
					q.Limit = limit
					sameList(t, "by cursor", ids(allMessages(t, s, q)), want)
					sameList(t, "by offset", byOffset(t, s, q), want)
				}
			})
		}
	}
}

// naive filters the whole history in Go.
func naive(t *testing.T, s *Store, q bridge.MessageQuery) []string {
	t.Helper()
	list := []string{}
	for _, m := range messages(t, s, bridge.MessageQuery{Chat: q.Chat, Order: q.Order, Limit: 100000}) {
		if q.Sender != "" && m.SenderJID != s.Canonical(q.Sender) ||
			q.Since != nil && m.Timestamp.Before(q.Since.Time) || q.Until != nil && m.Timestamp.After(q.Until.Time) ||
			!search.IsBlank(q.Q) && !contains(m.Content, q.Q, "") {
			continue
		}
		list = append(list, m.ID)
	}
	return list
}

func allMessages(t *testing.T, s *Store, q bridge.MessageQuery) []bridge.Message {
	t.Helper()
	all := []bridge.Message{}
	for {
		page, err := s.Messages(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			return all
		}
		if len(page.Items) != q.Limit {
			t.Fatalf("a page of %d before the last one", len(page.Items))
		}
		q.Cursor = *page.NextCursor
	}
}

func byOffset(t *testing.T, s *Store, q bridge.MessageQuery) []string {
	t.Helper()
	all := []string{}
	for {
		items := messages(t, s, q)
		all = append(all, ids(items)...)
		if len(items) < q.Limit {
			return all
		}
		q.Offset += q.Limit
	}
}

func TestMessages_OffsetCountsFromTheCursor(t *testing.T) {
	t.Parallel()
	s := longHistory(t, 20)
	q := bridge.MessageQuery{Chat: club, Order: bridge.OrderAsc, Limit: 5}
	page, err := s.Messages(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	q.Cursor, q.Offset, q.Limit = *page.NextCursor, 3, 2
	sameList(t, "page", ids(messages(t, s, q)), []string{"G008", "G009"})
}

func TestMessages_RefusesABadCursor(t *testing.T) {
	t.Parallel()
	s := longHistory(t, 3)
	save(t, s, says(bob, bob, "B1", 1, "x"))
	chatCursor := sqlite.Cursor(read.ListChats, 1, alice)
	for _, cursor := range []string{"x", "!!!", chatCursor, sqlite.Cursor(read.ListMessages, "z z", 1), sqlite.Cursor(read.ListMessages, 1)} {
		_, err := s.Messages(context.Background(), bridge.MessageQuery{Chat: club, Cursor: cursor})
		wantCode(t, err, bridge.CodeInvalid)
		_, err = s.Search(context.Background(), bridge.SearchQuery{Q: "x", Cursor: cursor})
		wantCode(t, err, bridge.CodeInvalid)
	}
	for _, cursor := range []string{"x", sqlite.Cursor(read.ListMessages, 1, 1), sqlite.Cursor(read.ListChats, 1)} {
		_, err := s.Chats(context.Background(), bridge.ChatQuery{Cursor: cursor})
		wantCode(t, err, bridge.CodeInvalid)
	}
}

func TestMessages_OfAChatThatIsNotStoredAreNotFound(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	_, err := s.Messages(ctx, bridge.MessageQuery{Chat: alice})
	wantCode(t, err, bridge.CodeNotFound)
	_, err = s.Chat(ctx, alice)
	wantCode(t, err, bridge.CodeNotFound)
	_, err = s.Message(ctx, alice, "A1")
	wantCode(t, err, bridge.CodeNotFound)
	save(t, s, says(alice, alice, "A1", 1, "x"))
	_, err = s.Message(ctx, alice, "A2")
	wantCode(t, err, bridge.CodeNotFound)
}

func TestMessages_EndsWithTheCaller(t *testing.T) {
	t.Parallel()
	s := longHistory(t, 10)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Messages(ctx, bridge.MessageQuery{Chat: club}); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	if err := s.Save(ctx, says(club, bob, "B9", 1, "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	messages(t, s, bridge.MessageQuery{Chat: club})
}
