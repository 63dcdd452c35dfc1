package wa_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
	"bridged/internal/store"
	"bridged/internal/wa"
)

// importing returns an unpaired account that imports history, and its phone's
// friend.
func importing(t *testing.T, mode bridge.HistoryImport, wrap func(*store.Store) wa.Store) (*account, *simnet.Phone) {
	t.Helper()
	network := newNetwork(t)
	a := startAccountLogging(t, network, t.TempDir(), testLog(t), wrap, func(o *wa.Options) { o.HistoryImport = mode })
	a.phone = newPhone(t, network, accountNumber, "Alex")
	return a, newPhone(t, network, "15550100301", "Anna")
}

func plainly(s *store.Store) wa.Store { return s }

// longAgo is the beginning of the past.
var longAgo = time.Now().Add(-30 * 24 * time.Hour).Truncate(time.Second)

func pastText(friend *simnet.Phone, id string, minute int, text string) *simnet.PastInfo {
	return simnet.PastText(friend.PN(), friend.PN(), id, longAgo.Add(time.Duration(minute)*time.Minute), text)
}

// TestImport_AsMuchAsTheOperatorWants: the history's messages become rows like any
// others, without events.
func TestImport_AsMuchAsTheOperatorWants(t *testing.T) {
	t.Parallel()
	for mode, want := range map[bridge.HistoryImport][]string{
		bridge.HistoryOff: nil, bridge.HistoryRecent: {"RECENT1", "RECENT2"}, bridge.HistoryFull: {"OLD", "RECENT1", "RECENT2"},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			a, anna := importing(t, mode, plainly)
			a.phone.SetPast(simnet.Past{
				With: anna.PN(), ByLID: true, Older: []*simnet.PastInfo{pastText(anna, "OLD", 0, "the oldest of all")},
				Recent: []*simnet.PastInfo{pastText(anna, "RECENT2", 2, "two swallows"), pastText(anna, "RECENT1", 1, "one swallow")},
			})
			before, err := a.store.LastEvent(ctx)
			if err != nil {
				t.Fatal(err)
			}
			a.pair()
			var ids []string
			for _, m := range a.messages(jidOf(anna)) {
				ids = append(ids, m.ID)
				if !m.Imported || m.FromMe || m.SenderJID != jidOf(anna) || m.MessageType != "conversation" {
					t.Errorf("message %+v", m)
				}
			}
			if !slices.Equal(ids, want) {
				t.Errorf("imported %v, want %v", ids, want)
			}
			page, err := a.store.Events(ctx, store.EventQuery{After: before, EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated, bridge.EventMessageUpdated, bridge.EventChatUpdated}}})
			if err != nil || len(page.Events) != 0 {
				t.Errorf("the log has %+v, %v", page.Events, err)
			}
			found, err := a.store.Search(ctx, bridge.SearchQuery{Q: "SWALLOW", Limit: 10})
			if err != nil || len(found.Items) != len(want)-len(want)/3 {
				t.Errorf("found %+v, %v", found.Items, err)
			}
			if chat, err := a.store.Chat(ctx, jidOf(anna)); want != nil && (err != nil || chat.UnreadCount != 0 || chat.Name != "Anna") {
				t.Errorf("chat %+v, %v", chat, err)
			}
		})
	}
}

// TestImport_WhatBecameOfAMessage: the history's messages have their reactions,
// edits, deletions, votes, files and delivery, like received ones.
func TestImport_WhatBecameOfAMessage(t *testing.T) {
	t.Parallel()
	a, anna := importing(t, bridge.HistoryRecent, plainly)
	chat := anna.PN()
	reacted := pastText(anna, "REACTED", 0, "look")
	reacted.Reactions = []*waWeb.Reaction{
		{Key: &waCommon.MessageKey{FromMe: proto.Bool(true)}, Text: proto.String("👍"), SenderTimestampMS: proto.Int64(longAgo.UnixMilli())},
		{Key: &waCommon.MessageKey{FromMe: proto.Bool(false)}, Text: proto.String("🙂")},
	}
	own := simnet.PastText(chat, simnet.JID{}, "OWN", longAgo.Add(time.Minute), "mine")
	edit := func(text string) *waE2E.Message {
		return &waE2E.Message{EditedMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: proto.String("EDITED")},
			TimestampMS: proto.Int64(longAgo.Add(time.Hour).UnixMilli()), EditedMessage: &waE2E.Message{Conversation: &text},
		}}}}
	}
	edited := simnet.PastMessage(chat, chat, "EDITED", longAgo.Add(2*time.Minute), edit("as it is now"))
	deleted := pastText(anna, "DELETED", 3, "not for your eyes")
	deletion := simnet.PastMessage(chat, chat, "DELETION", longAgo.Add(4*time.Minute), &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: &waCommon.MessageKey{ID: proto.String("DELETED")},
	}})
	yes := sha256.Sum256([]byte("yes"))
	poll := simnet.PastMessage(chat, chat, "POLL", longAgo.Add(5*time.Minute), &waE2E.Message{PollCreationMessage: &waE2E.PollCreationMessage{
		Name: proto.String("Shall we?"), Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("yes")}, {OptionName: proto.String("no")}},
	}})
	poll.PollUpdates = []*waWeb.PollUpdate{{PollUpdateMessageKey: &waCommon.MessageKey{FromMe: proto.Bool(true)}, Vote: &waE2E.PollVoteMessage{SelectedOptions: [][]byte{yes[:]}}}}
	picture := simnet.PastMessage(chat, chat, "PICTURE", longAgo.Add(6*time.Minute), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
		Caption: proto.String("us"), Mimetype: proto.String("image/jpeg"), DirectPath: proto.String("/v/x?y=z"), MediaKey: make([]byte, 32), FileEncSHA256: make([]byte, 32),
	}})
	nothing := simnet.PastMessage(chat, chat, "CALL", longAgo.Add(7*time.Minute), nil)
	nothing.MessageStubType = waWeb.WebMessageInfo_CALL_MISSED_VOICE.Enum()
	a.phone.SetPast(simnet.Past{With: chat, Recent: []*simnet.PastInfo{reacted, own, edited, deleted, deletion, poll, picture, nothing}})
	a.pair()

	stored := map[string]bridge.Message{}
	for _, m := range a.messages(jidOf(anna)) {
		stored[m.ID] = m
	}
	if len(stored) != 6 {
		t.Errorf("%d messages: %v", len(stored), stored)
	}
	if r := stored["REACTED"].Reactions; len(r) != 2 || r[0].SenderJID == r[1].SenderJID {
		t.Errorf("reactions %+v", r)
	}
	if m := stored["OWN"]; !m.FromMe || m.Status == nil || *m.Status != bridge.DeliveryRead || m.SenderJID != jidOf(a.phone) {
		t.Errorf("own %+v", m)
	}
	if m := stored["EDITED"]; m.Content != "as it is now" || m.EditedAt == nil || m.SenderJID != jidOf(anna) || !m.Timestamp.Equal(longAgo.Add(2*time.Minute)) {
		t.Errorf("edited %+v", m)
	}
	if m := stored["DELETED"]; m.Content != "" || m.DeletedAt == nil {
		t.Errorf("deleted %+v", m)
	}
	if m := stored["POLL"]; m.Poll == nil || m.Poll.Options[0].Votes != 1 {
		t.Errorf("poll %+v", m.Poll)
	}
	if m := stored["PICTURE"]; m.Media == nil || m.Content != "us" {
		t.Errorf("picture %+v", m)
	}
}

// TestImport_WhatWasReceivedStays: the history does not change a message that came
// over the connection.
func TestImport_WhatWasReceivedStays(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	a, anna := importing(t, bridge.HistoryRecent, plainly)
	a.pair()
	id, err := anna.SendText(ctx, a.phone.PN(), "as it was received")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message", func() bool { return len(a.messages(jidOf(anna))) == 1 })
	other := pastText(anna, id, 0, "as the phone has it")
	other.Reactions = []*waWeb.Reaction{{Key: &waCommon.MessageKey{FromMe: proto.Bool(true)}, Text: proto.String("👍")}}
	part, err := proto.Marshal(&waHistorySync.HistorySync{SyncType: waHistorySync.HistorySync_RECENT.Enum(), Conversations: []*waHistorySync.Conversation{{
		ID: proto.String(anna.PN().String()), Messages: []*waHistorySync.HistorySyncMsg{{Message: other}, {Message: pastText(anna, "NEW", 1, "only there")}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.phone.SendHistory(ctx, a.device(), waHistorySync.HistorySync_RECENT, part, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.device().WaitHistory(ctx); err != nil {
		t.Fatal(err)
	}
	list := a.messages(jidOf(anna))
	if len(list) != 2 || list[0].ID != "NEW" || !list[0].Imported {
		t.Fatalf("messages %+v", list)
	}
	if m := list[1]; m.Content != "as it was received" || m.Imported || len(m.Reactions) != 0 {
		t.Errorf("the received one: %+v", m)
	}
}

// TestImport_OnDemand: the phone is asked for messages before the oldest stored
// one.
func TestImport_OnDemand(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	a, anna := importing(t, bridge.HistoryRecent, plainly)
	past := simnet.Past{With: anna.PN()}
	for i := range 9 {
		past.Older = append(past.Older, pastText(anna, fmt.Sprintf("OLD%d", i), i, "long ago"))
	}
	a.phone.SetPast(past)
	a.pair()
	if _, err := anna.SendText(ctx, a.phone.PN(), "hello", simnet.WithID("LIVE")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message", func() bool { return len(a.messages(jidOf(anna))) == 1 })
	for _, want := range []int{6, 10} {
		oldest := a.messages(jidOf(anna))[0]
		oldest.Chat = jidOf(anna)
		if id, err := a.manager.AskHistory(ctx, oldest, 5); err != nil || id == "" {
			t.Fatalf("ask: %q, %v", id, err)
		}
		eventually(t, "older messages", func() bool { return len(a.messages(jidOf(anna))) == want })
	}
	if list := a.messages(jidOf(anna)); list[0].ID != "OLD0" || !list[0].Imported || list[9].ID != "LIVE" || list[9].Imported {
		t.Errorf("messages %+v", list)
	}
	if asked := a.phone.HistoryRequests(); len(asked) != 2 || asked[0].Before != "LIVE" || asked[1].Before != "OLD4" {
		t.Errorf("asked %+v", asked)
	}
}

// TestImport_AsksForNothingThatThePhoneDoesNotSend: the phone says in its history that it has no
// older messages of a chat, or that it sends them to no linked device. It is not asked then:
// it would not answer, and show its owner that syncing is paused. A new pairing forgets it.
func TestImport_AsksForNothingThatThePhoneDoesNotSend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		recent, older int
		phoneOnly     bool
		want          bridge.Code
	}{
		"none left":         {2, 0, false, bridge.CodeNoMoreHistory},
		"none after asking": {1, 3, false, bridge.CodeNoMoreHistory},
		"only on the phone": {1, 3, true, bridge.CodeOnlyOnPhone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			a, anna := importing(t, bridge.HistoryRecent, plainly)
			past := simnet.Past{With: anna.PN(), ByLID: true, PhoneOnly: c.phoneOnly}
			for i := range c.older {
				past.Older = append(past.Older, pastText(anna, fmt.Sprintf("OLD%d", i), i, "long ago"))
			}
			for i := range c.recent {
				past.Recent = append(past.Recent, pastText(anna, fmt.Sprintf("NEW%d", i), 10+i, "not so long ago"))
			}
			a.phone.SetPast(past)
			a.pair()
			ask := func() error {
				oldest := a.messages(jidOf(anna))[0]
				oldest.Chat = jidOf(anna)
				_, err := a.manager.AskHistory(ctx, oldest, 5)
				return err
			}
			requests := 0
			if c.older > 0 {
				if err := ask(); err != nil {
					t.Fatal(err)
				}
				requests++
				eventually(t, "the end of the history", func() bool {
					end, err := a.store.HistoryEnd(ctx, jidOf(anna))
					return err == nil && end != bridge.HistoryOpen
				})
			}
			if err := ask(); bridge.CodeOf(err) != c.want {
				t.Errorf("asked beyond the end: got %v, want %s", err, c.want)
			}
			if got := len(a.messages(jidOf(anna))); got != c.older+c.recent {
				t.Errorf("%d messages", got)
			}
			if got := len(a.phone.HistoryRequests()); got != requests {
				t.Errorf("the phone was asked %d times, want %d", got, requests)
			}
			if _, err := a.manager.Logout(ctx); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the end of the session", func() bool {
				end, err := a.store.HistoryEnd(ctx, jidOf(anna))
				return err == nil && end == bridge.HistoryOpen
			})
		})
	}
}

// TestImport_TheEndCountsIfAllWasImported: messages that were too old for HISTORY_IMPORT can be
// asked for, though the phone has said that it has sent all.
func TestImport_TheEndCountsIfAllWasImported(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	a, anna := importing(t, bridge.HistoryOfDays(60), plainly)
	ancient := simnet.PastText(anna.PN(), anna.PN(), "ANCIENT", longAgo.AddDate(0, 0, -60), "before the bound")
	a.phone.SetPast(simnet.Past{With: anna.PN(), Recent: []*simnet.PastInfo{ancient, pastText(anna, "NEW", 1, "later")}})
	a.pair()
	list := a.messages(jidOf(anna))
	if len(list) != 1 {
		t.Fatalf("messages %+v", list)
	}
	list[0].Chat = jidOf(anna)
	if _, err := a.manager.AskHistory(ctx, list[0], 5); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the older message", func() bool { return len(a.messages(jidOf(anna))) == 2 })
}

// interrupted fails one transaction of an import.
type interrupted struct {
	*store.Store
	counts *importCounts
}

type importCounts struct {
	mu       sync.Mutex
	failAt   int // the number of the transaction
	saves    int
	imported int
}

func (s interrupted) Save(ctx context.Context, facts ...bridge.Fact) error {
	n := 0
	for _, fact := range facts {
		if _, ok := fact.(bridge.Imported); ok {
			n++
		}
	}
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	if n > 0 {
		if s.counts.saves++; s.counts.saves == s.counts.failAt {
			return bridge.Fail(bridge.CodeStorageUnavailable, "the disk is full")
		}
	}
	err := s.Store.Save(ctx, facts...)
	if err == nil {
		s.counts.imported += n
	}
	return err
}

// TestImport_GoesOnWhereItWasInterrupted: after a failure halfway, the next import
// adds the rest, without duplicates.
func TestImport_GoesOnWhereItWasInterrupted(t *testing.T) {
	t.Parallel()
	counts := &importCounts{failAt: 2}
	a, anna := importing(t, bridge.HistoryRecent, func(s *store.Store) wa.Store { return interrupted{s, counts} })
	past := simnet.Past{With: anna.PN()}
	for i := range 250 {
		past.Recent = append(past.Recent, pastText(anna, fmt.Sprintf("M%03d", i), i, "one of many"))
	}
	a.phone.SetPast(past)
	a.pair()
	if list := a.messages(jidOf(anna)); len(list) != 250 || list[0].ID != "M000" || list[249].ID != "M249" {
		t.Errorf("%d messages", len(list))
	}
	counts.mu.Lock()
	defer counts.mu.Unlock()
	if counts.imported != 250 || counts.saves != 4 {
		t.Errorf("%d messages were imported in %d transactions, one of which failed", counts.imported, counts.saves)
	}
}
