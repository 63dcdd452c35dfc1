package store

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"bridged/migrations"
)

// parkedEditsVersion is the last schema in which only edits of placeholders were
// parked, in a table of their own.
const parkedEditsVersion = 9

// storeAsOf makes the file of a store as an older version had it, and returns it
// open.
func storeAsOf(t *testing.T, path string, version int64) *sql.DB {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := openDB(path, writerPragmas)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.FS, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := steps.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestMigrations_ParkedEditsStayParked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridged.db")
	db := storeAsOf(t, path, parkedEditsVersion)
	edited := at(5).UnixMilli()
	for _, insert := range []struct {
		query string
		args  []any
	}{
		{"INSERT INTO people (id, pn) VALUES (1, ?), (2, ?)", []any{string(alice), string(bob)}},
		{"INSERT INTO chats (id, jid, person, is_group, name, folded_name, participants, message_count) VALUES (1, ?, 1, 0, '', '', 2, 1), (2, ?, NULL, 1, '', '', 0, 1)", []any{string(alice), string(club)}},
		{"INSERT INTO groups (chat) VALUES (2)", nil},
		{`INSERT INTO messages (arrival, chat, id, sender, from_me, timestamp, type, push_name, content, edited_at)
			VALUES (1, 1, 'A1', 1, 0, 1, 'undecryptable', '', 'better', ?1), (2, 2, 'B1', 2, 0, 1, 'undecryptable', '', 'better', ?1)`, []any{edited}},
		{"INSERT INTO message_raw (arrival) VALUES (1), (2)", nil},
		{`INSERT INTO parked_edits (message, editor, timestamp, type, content, details, raw, media_ref, view_once)
			VALUES (1, ?1, ?3, 'imageMessage', 'better', '{"m":{"t":"image"}}', x'0102', '{}', 0), (2, ?2, ?3, 'conversation', 'better', NULL, NULL, NULL, 0)`,
			[]any{string(alice), string(bob), edited}},
	} {
		if _, err := db.ExecContext(t.Context(), insert.query, insert.args...); err != nil {
			t.Fatalf("%s: %v", insert.query, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	save(t, s, photo("A1", 1, "first"), says(club, bob, "B1", 1, "first"))
	wantPhoto(t, message(t, s, alice, "A1"), "better", "raw of A1")
	if m := message(t, s, club, "B1"); m.Content != "better" || m.EditedAt == nil || *m.EditedAt != at(5) {
		t.Errorf("message: %+v", m)
	}
}
