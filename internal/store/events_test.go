package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func events(t *testing.T, s *Store, q read.EventQuery) read.EventPage {
	t.Helper()
	page, err := s.Events(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// lines shows events as "number type content".
func lines(list []bridge.Event) []string {
	all := []string{}
	for _, e := range list {
		what := ""
		switch {
		case e.Message != nil:
			what = e.Message.ID + " " + e.Message.Content
		case e.Chat != nil:
			what = e.Chat.Name
		case e.Group != nil:
			what = e.Group.Name
		case e.Status != nil:
			what = string(e.Status.Status)
		}
		all = append(all, fmt.Sprintf("%d %s %s", e.ID, e.Type, what))
	}
	return all
}

func TestEvents_ShowEveryKindOfChangeAsItIsNow(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), bridge.Status{Status: bridge.StateOpen, HasSession: true})
	save(t, s, says(club, alice, "A1", 1, "first"))
	save(t, s, bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{{JID: alice}}})
	save(t, s, bridge.Edit{Chat: club, Target: "A1", Editor: alice, Timestamp: at(2), New: says(club, alice, "A1", 2, "edited")})
	save(t, s, iSay(club, "M1", 3, "mine"))
	save(t, s, bridge.Receipt{Chat: club, IDs: []string{"M1"}, From: alice, Status: bridge.DeliveryRead})
	save(t, s, bridge.ReactionChange{Chat: club, Target: "M1", Sender: alice, Emoji: "👍", Timestamp: at(4)})

	page := events(t, s, read.EventQuery{})
	sameList(t, "events", lines(page.Events), []string{
		"1 account.status open", "2 chat.updated Club", "3 message.created A1 edited",
		"4 chat.updated Club", "5 group.updated Club", "6 message.updated A1 edited",
		"7 message.created M1 mine", "8 message.status M1 mine", "9 message.updated M1 mine",
	})
	if page.Next != 9 || page.More || page.Reset {
		t.Errorf("page: %+v", page)
	}
	for _, e := range page.Events[1:] {
		if e.ChatJID != club {
			t.Errorf("event %d of chat %q", e.ID, e.ChatJID)
		}
	}
	m := page.Events[6].Message
	if *m.Status != bridge.DeliveryRead || len(m.Reactions) != 1 {
		t.Errorf("message: %+v", m)
	}
	last, err := s.LastEvent(context.Background())
	if err != nil || last != 9 {
		t.Errorf("last event: %d, %v", last, err)
	}
}

// What could not be decrypted has its type once it can, also where an edit came first, and
// once only.
func TestEvents_SayWhenAMessageIsDecrypted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), placeholder(club, alice, "A1", 1), placeholder(club, alice, "A2", 2))
	save(t, s, says(club, alice, "A1", 1, "at last"))
	save(t, s, bridge.Edit{Chat: club, Target: "A2", Editor: alice, Timestamp: at(4), New: says(club, alice, "A2", 4, "edited")})
	save(t, s, says(club, alice, "A2", 2, "before"))
	var got []string
	for _, e := range events(t, s, read.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageUpdated}}}).Events {
		got = append(got, fmt.Sprint(e.Message.ID, e.Changes.Fields))
	}
	sameList(t, "changes", got, []string{"A1[content messageType]", "A2[content editedAt messageType]", "A2[content editedAt]"})
}

// An event says what of a message has changed, a reaction that was removed too, and all
// that one transaction changes is one event.
func TestEvents_SayWhatChanged(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(club, alice, "A1", 1, "first"))
	react := func(emoji string, second int) bridge.ReactionChange {
		return bridge.ReactionChange{Chat: club, Target: "A1", Sender: bob, Emoji: emoji, Timestamp: at(second)}
	}
	save(t, s, react("👍", 2))
	save(t, s, react("", 3))
	save(t, s, bridge.Edit{Chat: club, Target: "A1", Editor: alice, Timestamp: at(4), New: says(club, alice, "A1", 4, "edited")}, react("🎉", 5), react("🎈", 6))
	save(t, s, bridge.PollVote{Chat: club, Target: "A1", Voter: bob, Hashes: [][]byte{make([]byte, 32)}, Timestamp: at(7)})
	save(t, s, bridge.Deletion{Chat: club, Target: "A1", By: alice, Timestamp: at(8)})

	var got []string
	for _, e := range events(t, s, read.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageUpdated}}}).Events {
		line := fmt.Sprint(e.Changes.Fields)
		for _, reaction := range e.Reactions {
			line += fmt.Sprintf(" %s %q", reaction.SenderJID.User(), reaction.Emoji)
		}
		for _, voter := range e.Voters {
			line += fmt.Sprintf(" by %s", voter.User())
		}
		got = append(got, line)
	}
	sameList(t, "changes", got, []string{
		fmt.Sprintf(`[reactions] %s "👍"`, bob.User()), fmt.Sprintf(`[reactions] %s ""`, bob.User()),
		fmt.Sprintf(`[content editedAt reactions] %s "🎉" %s "🎈"`, bob.User(), bob.User()), "[poll] by " + bob.User(), "[content deletedAt]",
	})
}

func TestEvents_AreReadFromANumberOn(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 10 {
		save(t, s, says(alice, alice, fmt.Sprintf("A%d", i), i, "x"), says(bob, bob, fmt.Sprintf("B%d", i), i, "x"))
	}
	seen := []int64{}
	for q := (read.EventQuery{Limit: 3}); ; {
		page := events(t, s, q)
		for _, e := range page.Events {
			seen = append(seen, e.ID)
		}
		q.After = page.Next
		if !page.More {
			break
		}
	}
	want := []int64{}
	for id := range int64(22) {
		want = append(want, id+1)
	}
	sameList(t, "numbers", seen, want)

	page := events(t, s, read.EventQuery{EventFilter: bridge.EventFilter{Chats: []bridge.JID{bob}, Types: []bridge.EventType{bridge.EventMessageCreated}}, Limit: 2})
	sameList(t, "Bob's messages", lines(page.Events), []string{"4 message.created B0 x", "6 message.created B1 x"})
	page = events(t, s, read.EventQuery{EventFilter: bridge.EventFilter{Chats: []bridge.JID{carol}}, After: 3})
	if len(page.Events) != 0 || page.Next != 22 || page.More {
		t.Errorf("a chat that is not stored: %+v", page)
	}
	page = events(t, s, read.EventQuery{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventGroupUpdated}}})
	if len(page.Events) != 0 || page.Next != 22 {
		t.Errorf("a type that did not happen: %+v", page)
	}
}

func TestEvents_WakeWhoWaits(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	seen := make(chan bridge.Event)
	go func() {
		defer close(seen)
		after := int64(0)
		for after < 100 {
			changed := s.Changed()
			page, err := s.Events(context.Background(), read.EventQuery{After: after})
			if err != nil {
				return
			}
			for _, e := range page.Events {
				seen <- e
			}
			after = page.Next
			if len(page.Events) == 0 {
				<-changed
			}
		}
	}()
	save(t, s, says(alice, alice, "A0", 1, "x"))
	go func() {
		for i := range 98 {
			if err := s.Save(context.Background(), says(alice, alice, fmt.Sprintf("B%d", i), 1, "x")); err != nil {
				return
			}
		}
	}()
	next := int64(1)
	for e := range seen {
		if e.ID != next {
			t.Fatalf("event %d after %d", e.ID, next-1)
		}
		next++
	}
	if next != 101 {
		t.Errorf("%d events", next-1)
	}
}

func TestEvents_TellThatSomeAreGone(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	for i := range 5 {
		save(t, s, says(alice, alice, fmt.Sprintf("A%d", i), i, "x"))
	}
	if n, err := s.PruneEvents(ctx, time.Now().Add(-time.Hour), 2); n != 4 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	for after, want := range map[int64]bool{0: false, 1: true, 3: true, 4: false, 5: false, 6: false, 7: true} {
		page := events(t, s, read.EventQuery{After: after})
		if page.Reset != want || page.Next != 6 {
			t.Errorf("after %d: %+v", after, page)
		}
	}
	if n, err := s.PruneEvents(ctx, time.Now().Add(time.Hour), 0); n != 2 || err != nil {
		t.Fatalf("removed %d, %v", n, err)
	}
	page := events(t, s, read.EventQuery{After: 6})
	if page.Reset || page.More || page.Next != 6 {
		t.Errorf("page: %+v", page)
	}
	save(t, s, says(alice, alice, "B", 9, "x"))
	sameList(t, "what came then", lines(events(t, s, read.EventQuery{After: 6}).Events), []string{"7 message.created B x"})
}

func TestEvents_OfWhatIsGoneAreLeftOut(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "by number"), says(aliceLID, aliceLID, "A1", 1, "by LID"), says(aliceLID, aliceLID, "A2", 2, "by LID"))
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	page := events(t, s, read.EventQuery{})
	got := lines(page.Events)
	sameList(t, "events", got, []string{
		"1 chat.updated 491700000002", "2 message.created A1 by number", "5 message.created A2 by LID", "6 chat.updated 491700000002",
	})
}

func TestEvents_AreReadOnceForManyReaders(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "first"))
	first := events(t, s, read.EventQuery{After: 1})
	again := events(t, s, read.EventQuery{After: 1})
	if first.Events[0].Message != again.Events[0].Message {
		t.Error("the log was read twice")
	}
	save(t, s, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(2), New: says(alice, alice, "A1", 2, "edited")})
	sameList(t, "after an edit", lines(events(t, s, read.EventQuery{After: 1}).Events), []string{"2 message.created A1 edited", "3 message.updated A1 edited"})
	sameList(t, "of another type", lines(events(t, s, read.EventQuery{After: 1, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageUpdated}}}).Events),
		[]string{"3 message.updated A1 edited"})
}

func TestEvents_OfOneReaderDoNotFailWithAnother(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "first"))
	gone, leave := context.WithCancel(context.Background())
	leave()
	if _, err := s.Events(gone, read.EventQuery{}); err == nil {
		t.Error("a reader that has left was answered")
	}
	if got := len(events(t, s, read.EventQuery{}).Events); got != 2 {
		t.Errorf("%d events", got)
	}
}

func BenchmarkEvents_ForManyReaders(b *testing.B) {
	s := newStore(b)
	for i := range 100 {
		save(b, s, says(alice, alice, fmt.Sprintf("A%d", i), i, "text"))
	}
	last, err := s.LastEvent(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Events(context.Background(), read.EventQuery{After: last - 1}); err != nil {
			b.Fatal(err)
		}
	}
}
