package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bridged/internal/bridge"
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
	if status == bridge.DeliveryPosting {
		d.NextAttemptAt, d.LastError, d.ResponseStatus = ptr(at(30)), ptr("answered 500"), ptr(500)
	}
	return d
}

func saveDeliveries(t testing.TB, s *Store, w bridge.Webhook, cursor int64, list ...bridge.WebhookDelivery) {
	t.Helper()
	if err := s.SaveDeliveries(context.Background(), w.ID, cursor, list); err != nil {
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
	s := newStore(t)
	save(t, s, says(alice, alice, "A1", 1, "hi"))
	last, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := addWebhook(t, s, bridge.Webhook{
		URL: "https://receiver.example/x", Types: []bridge.EventType{bridge.EventMessageCreated}, Chat: alice, AllowPrivate: true, Cursor: -1,
	})
	if w.Cursor != last {
		t.Errorf("it begins behind %d, want %d: with the next event", w.Cursor, last)
	}
	got, err := s.Webhook(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Secret != w.Secret || got.URL != w.URL || !got.AllowPrivate || !got.Enabled || got.Chat != alice || len(got.Types) != 1 || got.CreatedAt.IsZero() {
		t.Errorf("got %+v", got)
	}
	all, err := s.Webhooks(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != w.ID {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestWebhook_ChangesAndGoes(t *testing.T) {
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
	saveDeliveries(t, s, w, 5, posting(5, alice, bridge.DeliveryAbandoned))
	allow := func(bridge.Webhook) error { return nil }
	if err := s.RemoveWebhook(t.Context(), w.ID, allow); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.RemoveWebhook(t.Context(), w.ID, allow), bridge.CodeNotFound)
	wantCode(t, s.SaveDeliveries(t.Context(), w.ID, 6, nil), bridge.CodeNotFound)
	_, err = s.Delivery(t.Context(), w.ID, 1)
	wantCode(t, err, bridge.CodeNotFound)
}

func TestDeliveries_OfAChatStayInOrder(t *testing.T) {
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	other := addWebhook(t, s, bridge.Webhook{})
	saveDeliveries(t, s, w, 9,
		posting(7, alice, bridge.DeliveryPosting), posting(3, alice, bridge.DeliveryPosting),
		posting(4, bob, bridge.DeliveryPosting), posting(2, carol, bridge.DeliveryDone), posting(1, bob, bridge.DeliveryAbandoned))
	saveDeliveries(t, s, other, 9, posting(1, alice, bridge.DeliveryPosting))
	heads, err := s.PendingHeads(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	byChat := map[bridge.JID]bridge.WebhookDelivery{}
	for _, head := range heads {
		byChat[head.ChatJID] = head
	}
	if len(heads) != 2 || byChat[alice].EventID != 3 || byChat[bob].EventID != 4 {
		t.Errorf("heads: %+v", heads)
	}
	if next := byChat[alice].NextAttemptAt; next == nil || !next.Equal(at(30).Time) || *byChat[alice].LastError != "answered 500" {
		t.Errorf("the head is another row: %+v", byChat[alice])
	}
	of, err := s.PendingOf(t.Context(), byChat[alice], 10)
	if err != nil || len(of) != 2 || of[0].EventID != 3 || of[1].EventID != 7 {
		t.Errorf("alice's: %+v, %v", of, err)
	}
	got, err := s.Webhook(t.Context(), w.ID)
	if err != nil || got.Cursor != 9 || got.Pending != 3 || got.Dead != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	saveDeliveries(t, s, w, -1) // moves no cursor
	if got, _ := s.Webhook(t.Context(), w.ID); got.Cursor != 9 {
		t.Errorf("cursor %d", got.Cursor)
	}
}

func TestDeliveries_AreListedInPages(t *testing.T) {
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	for i := range int64(5) {
		state := bridge.DeliveryDone
		if i%2 == 1 {
			state = bridge.DeliveryAbandoned
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
	dead, _ := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID, Status: bridge.DeliveryAbandoned})
	sameList(t, "dead", dead, []string{"4 dead", "2 dead"})
	_, err := s.Deliveries(t.Context(), bridge.DeliveryQuery{Webhook: 99})
	wantCode(t, err, bridge.CodeNotFound)
	_, err = s.Deliveries(t.Context(), bridge.DeliveryQuery{Webhook: w.ID, Cursor: "x"})
	wantCode(t, err, bridge.CodeInvalid)
}

// What went well is remembered for a while; what did not is kept.
func TestDeliveries_HistoryIsBounded(t *testing.T) {
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	saveDeliveries(t, s, w, 1, posting(1, alice, bridge.DeliveryAbandoned))
	for i := range int64(keptDeliveries + 30) {
		saveDeliveries(t, s, w, i+2, posting(i+2, alice, bridge.DeliveryDone))
	}
	all, _ := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID, Limit: 1000})
	if len(all) != keptDeliveries+1 || all[len(all)-1] != "1 dead" || all[0] != fmt.Sprint(keptDeliveries+31, " delivered") {
		t.Errorf("%d are kept: %v … %v", len(all), all[0], all[len(all)-1])
	}
}

// Dead letters go with the log that they are read from; what is pending stays
// until it is told.
func TestDeliveries_ArePrunedWithTheLog(t *testing.T) {
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	for i := range 10 {
		save(t, s, says(alice, alice, fmt.Sprint("A", i), i, "hi"))
	}
	saveDeliveries(t, s, w, 9, posting(2, alice, bridge.DeliveryAbandoned), posting(3, bob, bridge.DeliveryPosting), posting(9, alice, bridge.DeliveryAbandoned))
	if _, err := s.PruneEvents(t.Context(), time.Time{}, 4); err != nil {
		t.Fatal(err)
	}
	if err := s.PruneDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, _ := listed(t, s, bridge.DeliveryQuery{Webhook: w.ID})
	sameList(t, "left", left, []string{"9 dead", "3 pending"})
}

func TestDeliveries_CanAllBeRetriedNow(t *testing.T) {
	s := newStore(t)
	w := addWebhook(t, s, bridge.Webhook{})
	saveDeliveries(t, s, w, 1, posting(1, alice, bridge.DeliveryPosting))
	before := time.Now().Add(-time.Second)
	if err := s.RetryDeliveries(t.Context(), w.ID); err != nil {
		t.Fatal(err)
	}
	heads, err := s.PendingHeads(t.Context(), w.ID)
	if err != nil || heads[0].NextAttemptAt.Before(before) || heads[0].NextAttemptAt.After(time.Now()) {
		t.Errorf("got %+v, %v", heads, err)
	}
}

func TestPlans_OfDeliveriesAreCheap(t *testing.T) {
	s := newStore(t)
	wantCheap(t, s, pendingHeadsQuery, []any{1})
	wantCheap(t, s, pendingOfQuery, []any{1, 1, 1})
	for _, q := range []bridge.DeliveryQuery{{}, {Status: bridge.DeliveryDone}, {Cursor: packCursor("d", "9", "")}} {
		query, args, err := deliveriesQuery(q)
		if err != nil {
			t.Fatal(err)
		}
		wantCheap(t, s, query, args)
	}
}
