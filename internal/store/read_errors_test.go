package store

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// reading lists every exported method that reads.
func reading(s *Store) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Chats":     func(ctx context.Context) error { _, err := s.Chats(ctx, bridge.ChatQuery{Limit: 10}); return err },
		"Chat":      func(ctx context.Context) error { _, err := s.Chat(ctx, alice); return err },
		"ChatTimer": func(ctx context.Context) error { _, err := s.ChatTimer(ctx, alice); return err },
		"Messages": func(ctx context.Context) error {
			_, err := s.Messages(ctx, bridge.MessageQuery{Chat: alice, Limit: 10})
			return err
		},
		"Message": func(ctx context.Context) error { _, err := s.Message(ctx, alice, "A1"); return err },
		"Search": func(ctx context.Context) error {
			_, err := s.Search(ctx, bridge.SearchQuery{Q: "hi", Limit: 10})
			return err
		},
		"Group":             func(ctx context.Context) error { _, err := s.Group(ctx, club); return err },
		"GroupsWithoutInfo": func(ctx context.Context) error { _, err := s.GroupsWithoutInfo(ctx); return err },
		"Events":            func(ctx context.Context) error { _, err := s.Events(ctx, read.EventQuery{Limit: 10}); return err },
		"LastEvent":         func(ctx context.Context) error { _, err := s.LastEvent(ctx); return err },
		"SendKey":           func(ctx context.Context) error { _, _, err := s.SendKey(ctx, "key"); return err },
		"Setting":           func(ctx context.Context) error { _, err := s.Setting(ctx, "a setting"); return err },
		"NextHistoryPart":   func(ctx context.Context) error { _, _, err := s.NextHistoryPart(ctx); return err },
		"HistoryKinds":      func(ctx context.Context) error { _, err := s.HistoryKinds(ctx); return err },
		"HistoryCount":      func(ctx context.Context) error { _, err := s.HistoryCount(ctx); return err },
		"OwnerOf":           func(ctx context.Context) error { _, _, err := s.OwnerOf(ctx); return err },
		"Webhooks":          func(ctx context.Context) error { _, err := s.Webhooks(ctx); return err },
		"Hooks":             func(ctx context.Context) error { _, err := s.Hooks(ctx); return err },
		"Hook":              func(ctx context.Context) error { _, err := s.Hook(ctx, 1); return err },
		"Webhook":           func(ctx context.Context) error { _, err := s.Webhook(ctx, 1); return err },
		"Delivery":          func(ctx context.Context) error { _, err := s.Delivery(ctx, 1, 1); return err },
		"Deliveries": func(ctx context.Context) error {
			_, err := s.Deliveries(ctx, bridge.DeliveryQuery{Webhook: 1, Limit: 10})
			return err
		},
		"Post": func(ctx context.Context) error { _, err := s.Post(ctx, 1, 1); return err },
		"WebhookWork": func(ctx context.Context) error {
			_, err := s.WebhookWork(ctx, settings.DueQuery{Webhook: 1}, 0, 10)
			return err
		},
	}
}

// TestRead_ErrorsOfTheStoreHaveASentence holds that no read passes SQLite's own
// error on: whatever the file suffers, callers are told storage_unavailable
// and what to do.
func TestRead_ErrorsOfTheStoreHaveASentence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm func(t *testing.T, s *Store)
		want string
	}{
		"damaged": {ruin, "bridged restore"},
		"closed": {func(t *testing.T, s *Store) {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}, "is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "bridged.db")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			save(t, s, says(alice, alice, "A1", 1, "hi"), bridge.Group{JID: club, Name: "Club"})
			test.harm(t, s)
			for method, read := range reading(s) {
				err := read(t.Context())
				if bridge.CodeOf(err) != bridge.CodeStorageUnavailable || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: got %v, want storage_unavailable with %q", method, err, test.want)
				}
			}
		})
	}
}

// ruin overwrites every page of an open store, and makes its connections
// forget what they have read. They have to find the first page sound, or they
// would notice before they read what they are asked for.
func ruin(t *testing.T, s *Store) {
	t.Helper()
	settle(t, s) // nothing is read meanwhile
	onWriter(t, s, "PRAGMA wal_checkpoint(TRUNCATE)")
	held := allReaders(t, s)
	overwrite(t, s.o.Path)
	for _, r := range held {
		for _, pragma := range []string{"PRAGMA cache_size = 0", "PRAGMA shrink_memory"} {
			if err := r.Script(pragma); err != nil {
				t.Error(err)
			}
		}
		s.readers.idle <- r // in any case: the store waits for it when it is closed
	}
	s.DropPages()
}

// TestRead_RowsThatCannotBeDecodedAreDamage is for damage that SQLite does not
// see.
func TestRead_RowsThatCannotBeDecodedAreDamage(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"details":         `UPDATE messages SET details = '{"m": 7'`,
		"kind of details": `UPDATE messages SET details = '{"m": 7}'`,
		"status":          `UPDATE messages SET status = 200`,
		"negative status": `UPDATE messages SET status = -3`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, says(alice, alice, "A1", 1, "hi"))
			if err := s.write(t.Context(), func(tx *writeTx) { tx.Run(spoil) }); err != nil {
				t.Fatal(err)
			}
			_, err := s.Message(t.Context(), alice, "A1")
			wantCode(t, err, bridge.CodeStorageUnavailable)
		})
	}
}
