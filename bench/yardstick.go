package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"bridged/internal/bridge"
)

// yardstick queries a store's file in the plain way of programs without an index:
// a LIKE scan, which folds the case of ASCII only, newest first until the page is
// full, and OFFSET for later pages. It reads the same rows of the same file, and
// shares no code with the implementation that it measures.
type yardstick struct {
	db                     *sql.DB
	search, searchIn, page *sql.Stmt
}

// plainColumns are the columns that a plain list shows.
const plainColumns = "m.id, m.sender, m.push_name, m.content, m.timestamp"

// openYardstick opens a store's file for reading, with the store's driver.
func openYardstick(ctx context.Context, path string) (_ *yardstick, err error) {
	query := url.Values{"_pragma": {"busy_timeout(5000)", "query_only(1)", "temp_store(MEMORY)", "cache_size(-4096)"}, "mode": {"rw"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+query.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	y := &yardstick{db: db}
	for into, text := range map[**sql.Stmt]string{
		&y.search: "SELECT " + plainColumns + ` FROM messages m
			WHERE m.content LIKE '%' || ? || '%' ORDER BY m.seq DESC LIMIT ?`,
		&y.searchIn: "SELECT " + plainColumns + ` FROM messages m
			WHERE m.chat = (SELECT id FROM chats WHERE jid = ?) AND m.content LIKE '%' || ? || '%'
			ORDER BY m.timestamp DESC LIMIT ?`,
		&y.page: "SELECT " + plainColumns + ` FROM messages m
			WHERE m.chat = (SELECT id FROM chats WHERE jid = ?)
			ORDER BY m.timestamp DESC LIMIT ? OFFSET ?`,
	} {
		if *into, err = db.PrepareContext(ctx, text); err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), db.Close())
		}
	}
	return y, nil
}

// Close closes the file.
func (y *yardstick) Close() error { return y.db.Close() }

// Search returns the ids of the newest messages that contain text.
func (y *yardstick) Search(ctx context.Context, text string, limit int) ([]string, error) {
	return ids(ctx, y.search, text, limit)
}

// SearchIn searches like Search, in one chat.
func (y *yardstick) SearchIn(ctx context.Context, chat bridge.JID, text string, limit int) ([]string, error) {
	return ids(ctx, y.searchIn, string(chat), text, limit)
}

// Page returns the ids of a chat's messages from offset on, newest first.
func (y *yardstick) Page(ctx context.Context, chat bridge.JID, limit, offset int) ([]string, error) {
	return ids(ctx, y.page, string(chat), limit, offset)
}

// ids reads all columns, as a list shows them, and returns the first.
func ids(ctx context.Context, query *sql.Stmt, args ...any) (list []string, err error) {
	rows, err := query.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id, name, content string
		var sender, timestamp int64
		if err := rows.Scan(&id, &sender, &name, &content, &timestamp); err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, rows.Err()
}
