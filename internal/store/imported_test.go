package store

import (
	"context"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func imported(m bridge.Message, changes ...bridge.Fact) bridge.Imported {
	return bridge.Imported{Message: &m, Changes: changes}
}

// TestImported_IsSilent: what the history brings is there and found, and nothing
// tells of it; what was received stays, and placeholders are filled in.
func TestImported_IsSilent(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	live := says(alice, alice, "LIVE", 50, "as received")
	live.PushName = "ali"
	save(t, s, live, bridge.Message{Chat: alice, ID: "WAITING", SenderJID: alice, Timestamp: at(40), MessageType: bridge.TypeUndecryptable})
	before, err := s.LastEvent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	old := says(alice, alice, "OLD", 1, "the swallow of long ago")
	old.PushName = "a former name"
	newChat := says(club, bob, "G1", 2, "in a chat that is new")
	newChat.PushName, newChat.Event, newChat.Poll = "bobby", &bridge.CalendarEvent{Name: "Party"}, extensiblePoll(club, bob, "", 0).Poll
	again := []bridge.Fact{
		imported(old, bridge.ReactionChange{Chat: alice, Target: "OLD", Sender: me, Emoji: "👍", Timestamp: at(2)},
			pin(alice, alice, "OLD", 3, inHours(24)), keep(alice, alice, "OLD", 3, true)),
		imported(says(alice, alice, "LIVE", 50, "as the phone has it"), bridge.ReactionChange{Chat: alice, Target: "LIVE", Sender: me, Emoji: "👎", Timestamp: at(60)},
			bridge.Deletion{Chat: alice, Target: "LIVE", By: alice, Timestamp: at(61)}),
		imported(newChat, bridge.EventResponse{Chat: club, Target: "G1", Sender: carol, Answer: bridge.EventGoing, Timestamp: at(3)},
			option(club, carol, "G1", "maybe", 3), pin(club, bob, "G1", 3, inHours(24)), keep(club, bob, "G1", 3, true)),
		bridge.Imported{Changes: []bridge.Fact{bridge.Edit{Chat: club, Target: "NOT STORED", Editor: bob, Timestamp: at(3), New: says(club, bob, "", 3, "x")}}},
	}
	save(t, s, again...)
	save(t, s, again...)
	page, err := s.Events(ctx, read.EventQuery{After: before, Limit: 10})
	if err != nil || len(page.Events) != 0 {
		t.Errorf("the log tells %+v, %v", page.Events, err)
	}
	history := historyOf(t, s, alice)
	sameList(t, "history", ids(history), []string{"OLD", "WAITING", "LIVE"})
	if m := history[2]; m.Content != "as received" || m.Imported || len(m.Reactions) != 0 || m.DeletedAt != nil {
		t.Errorf("the received one: %+v", m)
	}
	if m := history[0]; !m.Imported || len(m.Reactions) != 1 || m.Reactions[0].SenderJID == alice {
		t.Errorf("the imported one: %+v", m)
	}
	// What the phone shows as pinned or kept it has checked: the group need not be known.
	if m := message(t, s, club, "G1"); m.PinnedUntil == nil || !m.Kept || len(m.Poll.Options) != 3 || len(m.Event.Responses.Going) != 1 {
		t.Errorf("what others made of an imported one: %+v", m)
	}
	if m := history[0]; m.PinnedUntil == nil || !m.Kept {
		t.Errorf("the imported one: %+v", m)
	}
	chat, err := s.Chat(ctx, alice)
	if err != nil || chat.Name != "ali" || chat.UnreadCount != 2 {
		t.Errorf("chat %+v, %v", chat, err)
	}
	if group, err := s.Chat(ctx, club); err != nil || group.UnreadCount != 0 {
		t.Errorf("group %+v, %v", group, err)
	}
	found, err := s.Search(ctx, bridge.SearchQuery{Q: "swallow", Limit: 10})
	if err != nil || len(found.Items) != 1 {
		t.Errorf("found %+v, %v", found.Items, err)
	}

	save(t, s, imported(says(alice, alice, "WAITING", 40, "what it said")))
	page, err = s.Events(ctx, read.EventQuery{After: before, Limit: 10})
	if err != nil || len(page.Events) != 1 || page.Events[0].Type != bridge.EventMessageUpdated {
		t.Errorf("a placeholder is filled in: %+v, %v", page.Events, err)
	}
	if m := historyOf(t, s, alice)[1]; m.Content != "what it said" || m.Imported {
		t.Errorf("the placeholder: %+v", m)
	}
	checkCounts(t, s)
}
