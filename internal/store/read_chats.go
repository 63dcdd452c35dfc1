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
		var last chatRowRead
		var ids []int64
		err = r.each(ctx, query, args, func(rows *resultSet) (err error) {
			if len(page.Items) == limit {
				cursor := chatPosition{last.recency, last.JID}.cursor()
				page.NextCursor = &cursor
				return nil
			}
			last, err = r.scanChat(rows)
			page.Items, ids = append(page.Items, last.Chat), append(ids, last.id)
			return err
		})
		if err != nil {
			return err
		}
		return r.addLastMessages(ctx, page.Items, ids)
	})
	if err != nil {
		return bridge.Page[bridge.Chat]{}, fmt.Errorf("list chats: %w", err)
	}
	return page, nil
}

// chatColumns are what lists show of a chat. One that is marked as unread has
// an unread message at least.
const chatColumns = `c.id, c.jid, ifnull(c.person, 0), c.is_group, c.name, c.last_message_at, c.participants,
	max(c.unread, c.marked_unread), c.archived, c.pinned, c.muted_until, c.recency`

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
		" ORDER BY c.recency, c.jid" + limited + " OFFSET ?"
	return query, append(args, limit+1, max(q.Offset, 0)), limit, nil
}

func limitOf(limit int) int {
	if limit <= 0 {
		return defaultLimit
	}
	return limit
}

// chatRowRead is what chatColumns say of a chat.
type chatRowRead struct {
	bridge.Chat
	id, recency int64
}

// scanChat reads chatColumns. The last message is read separately.
func (r *readTx) scanChat(rows *resultSet) (chatRowRead, error) {
	var chat chatRowRead
	var person int64
	var last, muted sql.NullInt64
	err := rows.Scan(&chat.id, &chat.JID, &person, &chat.IsGroup, &chat.Name, &last, &chat.Participants,
		&chat.UnreadCount, &chat.Archived, &chat.Pinned, &muted, &chat.recency)
	if person != 0 {
		p := r.s.people.get(person)
		chat.LID, chat.Username = p.lid, p.usernameOrNil()
	}
	chat.LastMessageAt, chat.MutedUntil = timeOf(last), r.s.mutedUntil(muted)
	return chat, err
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
	chats := make([]bridge.Chat, 0, 1)
	err := r.each(ctx, "SELECT "+chatColumns+" FROM chats c WHERE c.id = ?", []any{id}, func(rows *resultSet) error {
		found, err := r.scanChat(rows)
		chats = append(chats, found.Chat)
		return err
	})
	if err != nil {
		return bridge.Chat{}, err
	}
	if len(chats) == 0 {
		return bridge.Chat{}, sql.ErrNoRows
	}
	err = r.addLastMessages(ctx, chats, []int64{id})
	return chats[0], err
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
