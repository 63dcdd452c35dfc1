package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"bridged/internal/bridge"
)

// The limits that apply where a query names none.
const defaultLimit = 100

// Chats lists chats, the latest message first; chats without messages come
// last, by JID.
func (s *Store) Chats(ctx context.Context, q bridge.ChatQuery) (bridge.Page[bridge.Chat], error) {
	page := bridge.Page[bridge.Chat]{Items: []bridge.Chat{}}
	err := s.read(ctx, func(r *readTx) error {
		only, err := r.chatIDs(ctx, q.Only)
		if err != nil {
			return err
		}
		query, args, limit, err := chatsQuery(q, only)
		if err != nil {
			return err
		}
		var last chatPosition
		return r.each(ctx, query, args, func(rows *sql.Rows) error {
			if len(page.Items) == limit {
				cursor := last.cursor()
				page.NextCursor = &cursor
				return nil
			}
			chat, recency, err := r.scanChat(rows)
			last = chatPosition{recency, chat.JID}
			page.Items = append(page.Items, chat)
			return err
		})
	})
	if err != nil {
		return bridge.Page[bridge.Chat]{}, fmt.Errorf("list chats: %w", err)
	}
	return page, nil
}

const chatColumns = "c.jid, ifnull(c.person, 0), c.is_group, c.name, c.last_message_at, c.participants, c.recency"

// chatsQuery asks for one more than the page, which shows whether there is
// another one. only are the ids of the chats that q.Only names.
func chatsQuery(q bridge.ChatQuery, only string) (query string, args []any, limit int, err error) {
	where := []string{"1"}
	switch q.Type {
	case bridge.ChatsGroup:
		where = append(where, "c.is_group = 1")
	case bridge.ChatsIndividual:
		where = append(where, "c.is_group = 0")
	}
	if q.Only != nil {
		where = append(where, "c.id IN (SELECT value FROM json_each(?))")
		args = append(args, only)
	}
	if q.Cursor != "" {
		after, err := parseChatPosition(q.Cursor)
		if err != nil {
			return "", nil, 0, err
		}
		where = append(where, "(c.recency, c.jid) > (?, ?)")
		args = append(args, after.recency, string(after.jid))
	}
	if !blank(q.Q) {
		where = append(where, "(instr(c.folded_name, ?) > 0 OR instr(c.jid, ?) > 0)")
		needle := fold(q.Q)
		args = append(args, needle, needle)
	}
	limit = limitOf(q.Limit)
	query = "SELECT " + chatColumns + " FROM chats c WHERE " + strings.Join(where, " AND ") +
		" ORDER BY c.recency, c.jid LIMIT ? OFFSET ?"
	return query, append(args, limit+1, max(q.Offset, 0)), limit, nil
}

func limitOf(limit int) int {
	if limit <= 0 {
		return defaultLimit
	}
	return limit
}

func (r *readTx) scanChat(rows *sql.Rows) (bridge.Chat, int64, error) {
	var chat bridge.Chat
	var person, recency int64
	var last sql.NullInt64
	err := rows.Scan(&chat.JID, &person, &chat.IsGroup, &chat.Name, &last, &chat.Participants, &recency)
	if person != 0 {
		chat.LID = r.s.people.get(person).lid
	}
	chat.LastMessageAt = timeOf(last)
	return chat, recency, err
}

func timeOf(ms sql.NullInt64) *bridge.Time {
	if !ms.Valid {
		return nil
	}
	at := bridge.Millis(ms.Int64)
	return &at
}

// Chat returns one chat: [bridge.CodeNotFound] when it is not stored.
func (s *Store) Chat(ctx context.Context, jid bridge.JID) (bridge.Chat, error) {
	var chat bridge.Chat
	err := s.read(ctx, func(r *readTx) error {
		id, err := r.findChat(ctx, jid)
		if err != nil {
			return err
		}
		chat, err = r.chat(ctx, id)
		return err
	})
	if err != nil {
		return bridge.Chat{}, fmt.Errorf("read a chat: %w", err)
	}
	return chat, nil
}

// chat returns the chat with an id: [sql.ErrNoRows] when there is none.
func (r *readTx) chat(ctx context.Context, id int64) (bridge.Chat, error) {
	var chat bridge.Chat
	err := r.each(ctx, "SELECT "+chatColumns+" FROM chats c WHERE c.id = ?", []any{id}, func(rows *sql.Rows) (err error) {
		chat, _, err = r.scanChat(rows)
		return err
	})
	if err == nil && chat.JID == "" {
		err = sql.ErrNoRows
	}
	return chat, err
}

// findChat returns the id of the chat of a JID in either form. What memory knows of
// identities may be newer than the snapshot, so all of a person's names are
// looked for.
func (r *readTx) findChat(ctx context.Context, jid bridge.JID) (int64, error) {
	canonical := r.s.Canonical(jid)
	var id int64
	err := r.scan(ctx, "SELECT id FROM chats WHERE jid IN (?, ?, ?) ORDER BY jid = ? DESC LIMIT 1",
		[]any{string(canonical), string(jid), string(r.s.LIDOf(jid)), string(canonical)}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, bridge.NoChat(jid)
	}
	return id, err
}
