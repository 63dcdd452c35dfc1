package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"bridged/internal/bridge"
)

// Calls lists calls, the newest first.
func (s *Store) Calls(ctx context.Context, q bridge.CallQuery) (bridge.Page[bridge.Call], error) {
	page := bridge.Page[bridge.Call]{Items: []bridge.Call{}}
	err := s.read(ctx, func(r *readTx) error {
		query, args, err := r.callsQuery(ctx, q)
		if err != nil {
			return err
		}
		var last position
		return r.each(ctx, query, args, func(rows *resultSet) error {
			if len(page.Items) == limitOf(q.Limit) {
				cursor := last.in(listCalls)
				page.NextCursor = &cursor
				return nil
			}
			call, seq, err := r.scanCall(rows)
			last = position{call.StartedAt.UnixMilli(), seq}
			page.Items = append(page.Items, call)
			return err
		})
	})
	if err != nil {
		return bridge.Page[bridge.Call]{}, fmt.Errorf("list calls: %w", err)
	}
	return page, nil
}

const selectCalls = `
	SELECT k.seq, k.id, k.wire_id, k.caller, ifnull(c.jid, ''), k.is_group, k.is_video, k.state, k.started_at, k.ended_at
	FROM calls k LEFT JOIN chats c ON c.id = k.chat`

// callsQuery asks for one more than the page, which shows whether there is
// another one.
func (r *readTx) callsQuery(ctx context.Context, q bridge.CallQuery) (query string, args []any, err error) {
	where := []string{"1"}
	if q.Only != nil {
		ids, err := r.chatIDs(ctx, q.Only)
		if err != nil {
			return "", nil, err
		}
		where, args = append(where, "k.chat IN (SELECT value FROM json_each(?))"), append(args, ids)
	}
	if q.Chat != "" {
		chat, err := r.findChat(ctx, q.Chat)
		if err != nil {
			return "", nil, err
		}
		where, args = append(where, "k.chat = ?"), append(args, chat)
	}
	if q.Since != nil {
		where, args = append(where, "k.started_at >= ?"), append(args, q.Since.UnixMilli())
	}
	if q.Cursor != "" {
		after, err := parsePositionIn(listCalls, q.Cursor)
		if err != nil {
			return "", nil, err
		}
		where, args = append(where, "(k.started_at, k.seq) < (?, ?)"), append(args, after.timestamp, after.seq)
	}
	return selectCalls + " WHERE " + strings.Join(where, " AND ") + " ORDER BY k.started_at DESC, k.seq DESC" + limited,
		append(args, limitOf(q.Limit)+1), nil
}

// scanCall reads a row of selectCalls.
func (r *readTx) scanCall(rows *resultSet) (call bridge.Call, seq int64, err error) {
	var caller, started int64
	var ended sql.NullInt64
	var state string
	err = rows.Scan(&seq, &call.ID, &call.WireID, &caller, &call.ChatJID, &call.IsGroup, &call.IsVideo, &state, &started, &ended)
	p := r.s.people.get(caller)
	call.FromJID, call.FromLID, call.State = p.jid(), p.lid, bridge.CallState(state)
	call.StartedAt, call.EndedAt = bridge.Millis(started), timeOf(ended)
	return call, seq, err
}

// Call returns one call: [bridge.CodeNotFound] when it is not stored.
func (s *Store) Call(ctx context.Context, id string) (bridge.Call, error) {
	var call bridge.Call
	err := s.read(ctx, func(r *readTx) (err error) {
		call, err = r.call(ctx, " WHERE k.id = ?", id)
		if errors.Is(err, sql.ErrNoRows) {
			return bridge.NoCall(id)
		}
		return err
	})
	if err != nil {
		return bridge.Call{}, fmt.Errorf("read a call: %w", err)
	}
	return call, nil
}

// callAt returns the call that an event's data names: [sql.ErrNoRows] when it is
// gone.
func (r *readTx) callAt(ctx context.Context, seq string) (bridge.Call, error) {
	return r.call(ctx, " WHERE k.seq = CAST(? AS INTEGER)", seq)
}

func (r *readTx) call(ctx context.Context, where string, arg any) (call bridge.Call, err error) {
	found := false
	err = r.each(ctx, selectCalls+where, []any{arg}, func(rows *resultSet) (err error) {
		found = true
		call, _, err = r.scanCall(rows)
		return err
	})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return call, err
}
