package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

func addWebhook(t testing.TB, s *Store, w bridge.Webhook) bridge.Webhook {
	t.Helper()
	if w.URL == "" {
		w.URL = "http://receiver.example/hook"
	}
	w.Secret, w.Enabled, w.Source = "whsec_c2VjcmV0", true, bridge.WebhookFromAPI
	w, err := s.AddWebhook(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func posting(event int64, chat bridge.JID, status bridge.DeliveryState) bridge.WebhookDelivery {
	d := bridge.WebhookDelivery{
		EventID: event, EventAt: at(int(event)), EventType: bridge.EventMessageCreated, ChatJID: chat,
		Status: status, Attempts: 1, FirstAttemptAt: ptr(at(10)), LastAttemptAt: ptr(at(20)),
	}
	if status == bridge.WebhookPending {
		d.NextAttemptAt, d.LastError, d.ResponseStatus = ptr(at(30)), ptr("answered 500"), ptr(500)
	}
	return d
}

func saveDeliveries(t testing.TB, s *Store, w bridge.Webhook, cursor int64, list ...bridge.WebhookDelivery) {
	t.Helper()
	if err := s.SaveDeliveries(context.Background(), w.ID, settings.DeliveryProgress{Cursor: cursor, Deliveries: list}); err != nil {
		t.Fatal(err)
	}
}

func listed(t testing.TB, s *Store, q bridge.DeliveryQuery) ([]string, *string) {
	t.Helper()
	page, err := s.Deliveries(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, d := range page.Items {
		lines = append(lines, fmt.Sprint(d.EventID, " ", d.Status))
	}
	return lines, page.NextCursor
}

func TestWebhook_IsKeptAsItIs(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	last, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := addWebhook(t, s, bridge.Webhook{
		URL: "https://receiver.example/x", EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}, Chats: []bridge.JID{alice}}, AllowPrivate: true, Cursor: -1,
	})
	if w.Cursor != last {
		t.Errorf("it begins behind %d, want %d: with the next event", w.Cursor, last)
	}
	got, err := s.Webhook(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Secret != w.Secret || got.URL != w.URL || !got.AllowPrivate || !got.Enabled || len(got.Chats) != 1 || got.Chats[0] != alice || len(got.Types) != 1 || got.CreatedAt.IsZero() {
		t.Errorf("got %+v", got)
	}
	all, err := s.Webhooks(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != w.ID {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestWebhook_ChangesAndGoes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	refusal := errors.New("no")
	if _, err := s.ChangeWebhook(t.Context(), w.ID, func(w *bridge.Webhook) error {
		w.URL = "http://elsewhere.example/"
		return refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("got %v, want the refusal", err)
	}
	if got, _ := s.Webhook(t.Context(), w.ID); got.URL != w.URL {
		t.Errorf("a refused change was made: %s", got.URL)
	}
	changed, err := s.ChangeWebhook(t.Context(), w.ID, func(w *bridge.Webhook) error {
		w.Enabled = false
		return nil
	})
	if err != nil || changed.Enabled {
		t.Errorf("got %+v, %v", changed, err)
	}
	saveDeliveries(t, s, w, 5, posting(5, alice, bridge.WebhookDead))
	allow := func(bridge.Webhook) error { return nil }
	if err := s.RemoveWebhook(t.Context(), w.ID, allow); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.RemoveWebhook(t.Context(), w.ID, allow), bridge.CodeNotFound)
	wantCode(t, s.SaveDeliveries(t.Context(), w.ID, settings.DeliveryProgress{Cursor: 6}), bridge.CodeNotFound)
	_, err = s.Delivery(t.Context(), w.ID, 1)
	wantCode(t, err, bridge.CodeNotFound)
}

// due returns the work of a webhook while deliveries are under way, with the events of the due
// deliveries.
func due(t *testing.T, s *Store, w bridge.Webhook, underWay ...int64) (WebhookWork, []int64) {
	t.Helper()
	q := settings.DueQuery{Webhook: w.ID, UnderWay: underWay, New: 10, Failed: 10, Latest: at(100)}
	work, err := s.WebhookWork(context.Background(), q, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	events := []int64{}
	for _, d := range work.Due {
		events = append(events, d.EventID)
	}
	return work, events
}

func TestDeliveries_OfAChatStayInOrder(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "hi"), says(alice, alice, "A2", 2, "hi")) // 1 to 3
	save(t, s, says(bob, bob, "B1", 3, "hi"), says(bob, bob, "B2", 4, "hi"))         // 4 to 6
	w := addWebhook(t, s, bridge.Webhook{})
	other := addWebhook(t, s, bridge.Webhook{})
	saveDeliveries(t, s, w, 9,
		posting(3, alice, bridge.WebhookPending), posting(2, alice, bridge.WebhookPending),
		posting(5, bob, bridge.WebhookPending), posting(6, bob, bridge.WebhookDelivered), posting(4, bob, bridge.WebhookDead))
	saveDeliveries(t, s, other, 9, posting(1, alice, bridge.WebhookPending))
	work, events := due(t, s, w)
	sameList(t, "due", events, []int64{2, 5})
	first := work.Due[0]
	if next := first.NextAttemptAt; next == nil || !next.Equal(at(30).Time) || *first.LastError != "answered 500" {
		t.Errorf("the first one of the chat is %+v", first)
	}
	_, events = due(t, s, w, first.ID)
	sameList(t, "due while one is under way", events, []int64{5})
	got, err := s.Webhook(t.Context(), w.ID)
	if err != nil || got.Cursor != 9 || got.Pending != 3 || got.Dead != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	first.Status = bridge.WebhookDelivered
	saveDeliveries(t, s, w, 0, first) // does not move the cursor
	if got, _ := s.Webhook(t.Context(), w.ID); got.Cursor != 9 {
		t.Errorf("cursor %d", got.Cursor)
	}
	_, events = due(t, s, w)
	sameList(t, "due after it was delivered", events, []int64{3, 5})
}

// Deliveries that have failed come first, the earliest next try before the others. If the clock was set
// back, a next try that is too far away is due.
func TestDeliveries_ThatFailedAreDueInTheOrderOfTheirPauses(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	chats := []bridge.JID{alice, bob, club, "15550000001@s.whatsapp.net"}
	for i, chat := range chats {
		save(t, s, says(chat, alice, fmt.Sprint("M", i), i, "hi")) // 2, 4, 6, 8
	}
	w := addWebhook(t, s, bridge.Webhook{})
	failed := func(event int64, chat bridge.JID, next int) bridge.WebhookDelivery {
		d := posting(event, chat, bridge.WebhookPending)
		d.NextAttemptAt = ptr(at(next))
		return d
	}
	saveDeliveries(t, s, w, 8,
		bridge.WebhookDelivery{EventID: 2, EventAt: at(1), EventType: bridge.EventMessageCreated, Status: bridge.WebhookPending, NextAttemptAt: ptr(at(1))},
		failed(4, bob, 50), failed(6, club, 40), failed(8, chats[3], 101))
	_, events := due(t, s, w)
	sameList(t, "due", events, []int64{8, 6, 4, 2})
	if err := s.SaveDeliveries(t.Context(), w.ID, settings.DeliveryProgress{DueAt: ptr(at(45))}); err != nil {
		t.Fatal(err)
	}
	work, events := due(t, s, w)
	sameList(t, "due now", events, []int64{6, 4, 8, 2})
	for i, next := range []int{40, 45, 45, 1} {
		if got := work.Due[i].NextAttemptAt; !got.Equal(at(next).Time) {
			t.Errorf("%d is tried at %v", events[i], got)
		}
	}
}

// When two chats become one, so do their queues, also for a delivery that is saved with the old chat.
func TestDeliveries_GoWithTheirChat(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(aliceLID, aliceLID, "A1", 1, "hi"), says(alice, alice, "A2", 2, "hi"), says(aliceLID, aliceLID, "A3", 3, "hi"))
	w := addWebhook(t, s, bridge.Webhook{})
	saveDeliveries(t, s, w, 3, posting(2, aliceLID, bridge.WebhookPending), posting(4, alice, bridge.WebhookPending))
	before, events := due(t, s, w)
	sameList(t, "due", events, []int64{2, 4})
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	saveDeliveries(t, s, w, 5, posting(5, aliceLID, bridge.WebhookPending))
	after, events := due(t, s, w)
	sameList(t, "due of one chat", events, []int64{2})
	if after.Log.Merges != before.Log.Merges+1 {
		t.Errorf("the log is %+v, was %+v", after.Log, before.Log)
	}
	_, events = due(t, s, w, before.Due[1].ID)
	sameList(t, "due while the later one is under way", events, []int64{})
}

func TestLoseDeliveries_LeavesOneReset(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 8 {
		save(t, s, says(alice, alice, fmt.Sprint("A", i), i, "hi")) // 2 to 9
	}
	w := addWebhook(t, s, bridge.Webhook{Cursor: 9})
	saveDeliveries(t, s, w, 9, posting(2, alice, bridge.WebhookPending), posting(4, alice, bridge.WebhookPending), posting(9, alice, bridge.WebhookPending))
	lose := func(w bridge.Webhook, want bool) {
		t.Helper()
		work, _ := due(t, s, w)
		if work.Lost != want {
			t.Fatalf("lost %v", work.Lost)
		}
		if !work.Lost {
			return
		}
		if err := s.LoseDeliveries(t.Context(), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	lose(w, false)
	for _, keep := range []int{5, 3} {
		if _, err := s.PruneEvents(t.Context(), time.Time{}, keep); err != nil {
			t.Fatal(err)
		}
		lose(w, keep == 5) // the second time only the reset is behind
		lose(w, false)
	}
	left, _ := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID})
	sameList(t, "left", left, []string{"4 pending", "9 pending"})
	work, _ := due(t, s, w)
	if reset := work.Due[1]; reset.EventType != bridge.EventReset || reset.Queue != bridge.QueueReset || reset.Attempts != 0 {
		t.Errorf("in place of the lost ones is %+v", reset)
	}
	lose(addWebhook(t, s, bridge.Webhook{Cursor: 1}), true)
	if fresh := addWebhook(t, s, bridge.Webhook{Cursor: 0}); fresh.Cursor != 6 {
		t.Errorf("one that begins with the log begins behind %d", fresh.Cursor)
	}
}

// What a webhook reads for one try is one moment.
func TestPost_IsAsTheReadRoutesShowIt(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "first"), says(bob, bob, "B1", 2, "hi"))
	w := addWebhook(t, s, bridge.Webhook{EventFilter: bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageCreated}, Chats: []bridge.JID{alice}}})
	post := func(event int64) read.Post {
		t.Helper()
		p, err := s.Post(t.Context(), w.ID, event)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := post(2); !p.Shown || p.Event.Message.Content != "first" || p.Webhook.Secret != w.Secret {
		t.Errorf("got %+v", p)
	}
	for event, why := range map[int64]string{1: "its type is not wanted", 4: "its chat is not wanted", 99: "it is not there", 0: "none is"} {
		if post(event).Shown {
			t.Errorf("%d is shown, though %s", event, why)
		}
	}
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(3)})
	if p := post(2); p.Event.Message.Content != "" || p.Event.Message.DeletedAt == nil {
		t.Errorf("a deleted message is posted as %+v", p.Event.Message)
	}
	_, err := s.Post(t.Context(), 99, 2)
	wantCode(t, err, bridge.CodeNotFound)
}

func TestDeliveries_AreListedInPages(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	for i := range int64(5) {
		state := bridge.WebhookDelivered
		if i%2 == 1 {
			state = bridge.WebhookDead
		}
		saveDeliveries(t, s, w, i+1, posting(i+1, alice, state))
	}
	first, cursor := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID, Limit: 3})
	sameList(t, "first page", first, []string{"5 delivered", "4 dead", "3 delivered"})
	second, end := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID, Limit: 3, Cursor: *cursor})
	sameList(t, "second page", second, []string{"2 dead", "1 delivered"})
	if end != nil {
		t.Errorf("there is a third page: %s", *end)
	}
	dead, _ := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID, Status: bridge.WebhookDead})
	sameList(t, "dead", dead, []string{"4 dead", "2 dead"})
	_, err := s.Deliveries(t.Context(), bridge.DeliveryQuery{Webhook: 99})
	wantCode(t, err, bridge.CodeNotFound)
	_, err = s.Deliveries(t.Context(), bridge.DeliveryQuery{Webhook: w.ID, Cursor: "x"})
	wantCode(t, err, bridge.CodeInvalid)
}

// Successful deliveries are removed after a while, dead letters are not.
func TestDeliveries_HistoryIsBounded(t *testing.T) {
	t.Parallel()
	const storedDeliveries = 200
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	saveDeliveries(t, s, w, 1, posting(1, alice, bridge.WebhookDead))
	for i := range int64(storedDeliveries + 30) {
		saveDeliveries(t, s, w, i+2, posting(i+2, alice, bridge.WebhookDelivered))
	}
	all, _ := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID, Limit: 1000})
	if len(all) != storedDeliveries+1 || all[len(all)-1] != "1 dead" || all[0] != fmt.Sprint(storedDeliveries+31, " delivered") {
		t.Errorf("%d are kept: %v … %v", len(all), all[0], all[len(all)-1])
	}
}

// Dead letters go with the log that they are read from; what is pending stays
// until it is told.
func TestDeliveries_ArePrunedWithTheLog(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	for i := range 10 {
		save(t, s, says(alice, alice, fmt.Sprint("A", i), i, "hi"))
	}
	saveDeliveries(t, s, w, 9, posting(2, alice, bridge.WebhookDead), posting(3, bob, bridge.WebhookPending), posting(9, alice, bridge.WebhookDead))
	if _, err := s.PruneEvents(t.Context(), time.Time{}, 4); err != nil {
		t.Fatal(err)
	}
	if err := s.PruneDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, _ := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID})
	sameList(t, "left", left, []string{"9 dead", "3 pending"})
}
