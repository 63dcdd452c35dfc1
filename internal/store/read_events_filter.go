package store

import (
	"context"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// entriesQuery returns the rows of the log after a number and up to another
// that q asks for, as many as its page has. SQLite judges them: rows that are
// not asked for never come up to the program. What the row itself tells is
// judged before its message is looked up.
func (r *readTx) entriesQuery(ctx context.Context, q EventQuery, after, upTo int64) (string, []any, error) {
	where, args, err := r.eventConditions(ctx, q)
	if err != nil {
		return "", nil, err
	}
	return `
		SELECT e.id, e.type, ifnull(e.message, 0), ifnull(m.chat, ifnull(e.chat, 0)), ifnull(e.data, ''), e.at
		FROM events e LEFT JOIN messages m ON m.seq = e.message
		WHERE e.id > ? AND e.id <= ?` + where + " ORDER BY e.id" + limited,
		append(append([]any{after, upTo}, args...), limitOf(q.Limit)), nil
}

// eventConditions returns what q asks for, each condition behind an AND. A list
// of chats of which none is stored yet matches nothing.
func (r *readTx) eventConditions(ctx context.Context, q EventQuery) (where string, args []any, err error) {
	if len(q.Types) > 0 {
		where = " AND e.type IN (" + typeNumbers(q.Types) + ")"
	}
	if q.FromMe != nil {
		where += " AND CASE WHEN e.message IS NOT NULL THEN m.from_me = ? WHEN e.type = ? THEN e.data ->> 'fromMe' = ? ELSE TRUE END"
		args = append(args, *q.FromMe, eventMessageUpdated, *q.FromMe)
	}
	switch q.ChatType {
	case bridge.ChatsGroup:
		where += " AND EXISTS (SELECT 1 FROM chats c WHERE c.id = ifnull(m.chat, e.chat) AND c.is_group)"
	case bridge.ChatsIndividual:
		where += " AND EXISTS (SELECT 1 FROM chats c WHERE c.id = ifnull(m.chat, e.chat) AND NOT c.is_group)"
	}
	lists := []struct {
		isSet bool
		chats []bridge.JID
		is    string
	}{
		{q.Only != nil, q.Only, "IN"}, {len(q.Chats) > 0, q.Chats, "IN"}, {len(q.ExcludeChats) > 0, q.ExcludeChats, "NOT IN"},
	}
	for _, list := range lists {
		if !list.isSet {
			continue
		}
		ids, err := r.chatIDs(ctx, list.chats)
		if err != nil {
			return "", nil, err
		}
		where += " AND ifnull(m.chat, ifnull(e.chat, 0)) " + list.is + " (SELECT value FROM json_each(?))"
		args = append(args, ids)
	}
	return where, args, nil
}

// typeNumbers returns the numbers of types as they stand in a query.
func typeNumbers(types []bridge.EventType) string {
	numbers := make([]string, 0, len(types))
	for number, name := range eventTypes {
		for _, asked := range types {
			if name == asked && number > 0 {
				numbers = append(numbers, strconv.Itoa(number))
			}
		}
	}
	return strings.Join(numbers, ", ")
}
