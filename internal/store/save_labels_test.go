package store

import (
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func label(id, name string, seconds int) bridge.LabelChange {
	return bridge.LabelChange{Label: bridge.Label{ID: id, Name: name, Color: 3}, Timestamp: at(seconds)}
}

func labels(chat bridge.JID, id string, seconds int, labelled bool) bridge.ChatLabel {
	return bridge.ChatLabel{Chat: chat, Label: id, Labelled: labelled, Timestamp: at(seconds)}
}

func marks(chat bridge.JID, message, id string, seconds int, labelled bool) bridge.MessageLabel {
	return bridge.MessageLabel{Chat: chat, Target: message, Label: id, By: me, Labelled: labelled, Timestamp: at(seconds)}
}

// chatLabels returns the labels of a chat, and checks that the list of the chats with a label agrees.
func chatLabels(t *testing.T, s *Store, jid bridge.JID) []string {
	t.Helper()
	chat, err := s.Chat(t.Context(), jid)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2"} {
		page, err := s.Chats(t.Context(), bridge.ChatQuery{Label: id})
		if err != nil {
			t.Fatal(err)
		}
		listed := slices.ContainsFunc(page.Items, func(c bridge.Chat) bool { return c.JID == chat.JID })
		if listed != slices.Contains(chat.Labels, id) {
			t.Errorf("label %s: listed %v, the chat has %v", id, listed, chat.Labels)
		}
	}
	return chat.Labels
}

func labelNames(t *testing.T, s *Store, only []bridge.JID) (names []string) {
	t.Helper()
	list, err := s.Labels(t.Context(), bridge.LabelQuery{Only: only})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		names = append(names, l.Name)
	}
	return names
}

// TestLabels_OfChats: the last change counts, in whatever order changes come, also before the chat or
// the label, and by either name of a person.
func TestLabels_OfChats(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), labels(aliceLID, "1", 2, true), labels(alice, "2", 3, true), label("1", "New", 1))
	save(t, s, says(alice, alice, "A1", 1, "hello"), bridge.Identity{PN: alice, LID: aliceLID})
	if got := chatLabels(t, s, alice); !slices.Equal(got, []string{"1"}) {
		t.Errorf("labels %v", got)
	}
	after := lastNumber(t, s)
	save(t, s, label("2", "Paid", 4)) // the chat has it already
	save(t, s, labels(alice, "1", 1, false))
	if got := chatLabels(t, s, alice); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("labels %v", got)
	}
	save(t, s, labels(aliceLID, "1", 5, false), labels(alice, "1", 4, true))
	if got := chatLabels(t, s, alice); !slices.Equal(got, []string{"2"}) {
		t.Errorf("labels %v", got)
	}
	save(t, s, bridge.LabelChange{Label: bridge.Label{ID: "2"}, Deleted: true, Timestamp: at(6)})
	save(t, s, label("2", "Paid", 5), bridge.LabelChange{Label: bridge.Label{ID: "2"}, Deleted: true, Timestamp: at(7)})
	if got := chatLabels(t, s, alice); len(got) != 0 {
		t.Errorf("labels %v", got)
	}
	want := []bridge.EventType{bridge.EventLabelUpdated, bridge.EventChatUpdated, bridge.EventChatUpdated, bridge.EventLabelUpdated}
	if got := toldSince(t, s, after); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	page := events(t, s, read.EventQuery{After: after, Limit: 100})
	if got := *page.Events[len(page.Events)-1].Label; got != (bridge.LabelUpdate{Label: bridge.Label{ID: "2", Name: "Paid", Color: 3}, Deleted: true}) {
		t.Errorf("the deletion shows %+v", got)
	}
	if next, err := s.NextLabel(t.Context()); err != nil || next != 3 {
		t.Errorf("next %d, %v", next, err)
	}
}

// TestLabels_OfMessages wait for their message, outlast edits, and go with the label.
func TestLabels_OfMessages(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), label("1", "New", 1), label("2", "Paid", 1), marks(alice, "A1", "1", 2, true), marks(alice, "A1", "2", 2, true))
	save(t, s, bridge.MessageLabel{Chat: alice, Target: "A2", Label: "1", Labelled: true, Timestamp: at(2)}) // does not wait
	save(t, s, says(alice, alice, "A1", 1, "first"), says(alice, alice, "A2", 1, "second"), rewritten(alice, alice, "A1", 3, "edited"))
	if got := message(t, s, alice, "A1").Labels; !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("labels %v", got)
	}
	if got := message(t, s, alice, "A2").Labels; got != nil {
		t.Errorf("labels %v", got)
	}
	after := lastNumber(t, s)
	save(t, s, marks(alice, "A1", "1", 4, false), marks(alice, "A1", "1", 3, true))
	save(t, s, bridge.LabelChange{Label: bridge.Label{ID: "2"}, Deleted: true, Timestamp: at(5)})
	save(t, s, marks(alice, "A1", "2", 4, true))
	if got := message(t, s, alice, "A1").Labels; got != nil {
		t.Errorf("labels %v", got)
	}
	want := []bridge.EventType{bridge.EventMessageUpdated, bridge.EventMessageUpdated, bridge.EventLabelUpdated}
	if got := toldSince(t, s, after); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestLabels_ForALimitedReader: labels that none of the chats has do not exist, and events of labels
// are not shown. A deleted chat counts for no label.
func TestLabels_ForALimitedReader(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "A1", 1, "hello"), says(bob, bob, "B1", 1, "hello"), label("1", "Alice's", 1), label("2", "Bob's", 1), label("3", "Message's", 1))
	save(t, s, labels(alice, "1", 2, true), labels(bob, "2", 2, true), marks(alice, "A1", "3", 2, true))
	if got := labelNames(t, s, nil); !slices.Equal(got, []string{"Alice's", "Bob's", "Message's"}) {
		t.Errorf("all: %v", got)
	}
	for jid, want := range map[bridge.JID][]string{alice: {"Alice's", "Message's"}, bob: {"Bob's"}, carol: nil} {
		if got := labelNames(t, s, []bridge.JID{jid}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", jid, got, want)
		}
	}
	if err := s.ClearChat(t.Context(), bridge.ChatClearing{Chat: bob, Until: at(10), Delete: true}); err != nil {
		t.Fatal(err)
	}
	if got := labelNames(t, s, []bridge.JID{bob}); got != nil {
		t.Errorf("of a deleted chat: %v", got)
	}
	all, err := s.Labels(t.Context(), bridge.LabelQuery{})
	if err != nil || all[0].Chats != 1 || all[1].Chats != 0 {
		t.Errorf("the chats of %+v, %v: a deleted one counts", all, err)
	}
	for _, e := range events(t, s, read.EventQuery{Only: []bridge.JID{alice}, Limit: 100}).Events {
		if e.Type == bridge.EventLabelUpdated || e.ChatJID != alice {
			t.Errorf("shown %+v", e)
		}
	}
}
