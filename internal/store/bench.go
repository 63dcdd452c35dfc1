package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
)

// Yardstick answers from a store's file in the plain way, as programs without
// an index do: a LIKE scan, which folds the case of ASCII alone, newest first
// until the page is full, and OFFSET for later pages. It reads the same rows of
// the same file, and shares no code with what it is a yardstick for.
type Yardstick struct {
	db *sql.DB
	q  *session
}

// OpenYardstick opens the file of a store for reading.
func OpenYardstick(ctx context.Context, path string) (*Yardstick, error) {
	db, err := openDB(path, readerPragmas)
	if err != nil {
		return nil, err
	}
	q, err := newSession(ctx, db)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return &Yardstick{db: db, q: q}, nil
}

// Close closes the file.
func (y *Yardstick) Close() error {
	y.q.close()
	return y.db.Close()
}

// plainColumns are what a plain list shows of a message.
const plainColumns = "m.id, m.sender, m.push_name, m.content, m.timestamp"

// Search answers the ids of the newest messages that contain text.
func (y *Yardstick) Search(ctx context.Context, text string, limit int) ([]string, error) {
	return y.ids(ctx, "SELECT "+plainColumns+` FROM messages m
		WHERE m.content LIKE '%' || ? || '%' ORDER BY m.arrival DESC LIMIT ?`, text, limit)
}

// SearchIn is Search in one chat.
func (y *Yardstick) SearchIn(ctx context.Context, chat bridge.JID, text string, limit int) ([]string, error) {
	return y.ids(ctx, "SELECT "+plainColumns+` FROM messages m
		WHERE m.chat = (SELECT id FROM chats WHERE jid = ?) AND m.content LIKE '%' || ? || '%'
		ORDER BY m.timestamp DESC LIMIT ?`, string(chat), text, limit)
}

// Page answers the ids of a chat's messages from offset on, newest first.
func (y *Yardstick) Page(ctx context.Context, chat bridge.JID, limit, offset int) ([]string, error) {
	return y.ids(ctx, "SELECT "+plainColumns+` FROM messages m
		WHERE m.chat = (SELECT id FROM chats WHERE jid = ?)
		ORDER BY m.timestamp DESC LIMIT ? OFFSET ?`, string(chat), limit, offset)
}

func (y *Yardstick) ids(ctx context.Context, query string, args ...any) ([]string, error) {
	var list []string
	err := y.q.each(ctx, query, args, func(rows *sql.Rows) error {
		var id, name, content string
		var sender, timestamp int64
		if err := rows.Scan(&id, &sender, &name, &content, &timestamp); err != nil {
			return err
		}
		list = append(list, id)
		return nil
	})
	return list, err
}

// Indexed says how many messages the search index covers, of how many. What it
// does not cover yet is scanned; the last few wait until there are more.
func (s *Store) Indexed(ctx context.Context) (done, total int, err error) {
	done, total, err = s.indexed(ctx)
	if total-done < (sealEvery+2)*blockSize {
		done = total
	}
	return done, total, err
}
