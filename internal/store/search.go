package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"bridged/internal/bridge"
)

// Search finds the messages of all chats whose text contains q.Q, newest
// first.
func (s *Store) Search(ctx context.Context, q bridge.SearchQuery) (bridge.Page[bridge.Match], error) {
	if blank(q.Q) {
		return bridge.Page[bridge.Match]{}, bridge.Invalid("q must not be blank")
	}
	page := bridge.Page[bridge.Match]{Items: []bridge.Match{}}
	err := s.read(ctx, func(r *snapshot) error {
		where, args := []string{containsText}, []any{fold(q.Q)}
		if q.Since != nil {
			where, args = append(where, "m.timestamp >= ?"), append(args, *ceilMillis(*q.Since))
		}
		if q.Until != nil {
			where, args = append(where, "m.timestamp <= ?"), append(args, q.Until.UnixMilli())
		}
		switch q.ChatType {
		case bridge.ChatsGroup:
			where = append(where, "c.is_group = 1")
		case bridge.ChatsIndividual:
			where = append(where, "c.is_group = 0")
		}
		if q.Cursor != "" {
			after, err := parsePlace(q.Cursor)
			if err != nil {
				return err
			}
			where, args = append(where, "(m.timestamp, m.arrival) < (?, ?)"), append(args, after.timestamp, after.arrival)
		}
		limit := limitOf(q.Limit)
		var last place
		return r.each(ctx, "SELECT "+matchColumns+" FROM messages m JOIN chats c ON c.id = m.chat WHERE "+
			strings.Join(where, " AND ")+" ORDER BY m.timestamp DESC, m.arrival DESC LIMIT ?",
			append(args, limit+1), func(rows *sql.Rows) error {
				if len(page.Items) == limit {
					cursor := last.cursor()
					page.NextCursor = &cursor
					return nil
				}
				match, at, err := r.scanMatch(rows)
				last = at
				page.Items = append(page.Items, match)
				return err
			})
	})
	if err != nil {
		return bridge.Page[bridge.Match]{}, fmt.Errorf("search: %w", err)
	}
	return page, nil
}

const matchColumns = "m.arrival, m.timestamp, c.jid, m.id, m.sender, m.push_name, c.is_group, m.content"

func (r *snapshot) scanMatch(rows *sql.Rows) (bridge.Match, place, error) {
	var match bridge.Match
	var at place
	var sender int64
	err := rows.Scan(&at.arrival, &at.timestamp, &match.ChatJID, &match.MsgID, &sender, &match.PushName, &match.IsGroup, &match.Content)
	p := r.s.people.get(sender)
	match.ChatJID = r.s.Canonical(match.ChatJID)
	match.SenderJID, match.SenderLID, match.PushName = p.jid(), p.lid, first(match.PushName, p.pushName())
	match.Timestamp = bridge.Millis(at.timestamp)
	return match, at, err
}
