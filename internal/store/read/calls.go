package read

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// Calls lists calls, the newest first.
func (s *Reader) Calls(ctx context.Context, q bridge.CallQuery) (bridge.Page[bridge.Call], error) {
	return As(ctx, s, "list calls", func(r *Snapshot) bridge.Page[bridge.Call] {
		query, args := r.CallsQuery(q)
		return sqlite.Page(r.Conn, ListCalls, sqlite.LimitOf(q.Limit), query, args, r.scanCall)
	})
}

const selectCalls = `
	SELECT k.seq, k.id, k.wire_id, k.caller, ifnull(c.jid, ''), k.is_group, k.is_video, k.state, k.started_at, k.ended_at
	FROM calls k LEFT JOIN chats c ON c.id = k.chat WHERE `

func (r *Snapshot) CallsQuery(q bridge.CallQuery) (string, []any) {
	var f sqlite.Filter
	if q.Only != nil {
		f.Add("k.chat IN (SELECT value FROM json_each(?))", r.chatIDs(q.Only))
	}
	if q.Chat != "" {
		f.Add("k.chat = ?", r.FindChat(q.Chat))
	}
	if q.Since != nil {
		f.Add("k.started_at >= ?", q.Since)
	}
	var startedAt, seq int64
	if r.After(ListCalls, q.Cursor, &startedAt, &seq) {
		f.Add("(k.started_at, k.seq) < (?, ?)", startedAt, seq)
	}
	return selectCalls + f.Where() + " ORDER BY k.started_at DESC, k.seq DESC" + sqlite.Limited, append(f.Args, sqlite.LimitOf(q.Limit)+1)
}

// scanCall reads a row of selectCalls, and the call's place in the list.
func (r *Snapshot) scanCall(row *sqlite.Row) (call bridge.Call, place []any) {
	var seq, caller int64
	row.Scan(&seq, &call.ID, &call.WireID, &caller, &call.ChatJID, &call.IsGroup, &call.IsVideo, &call.State, &call.StartedAt, &call.EndedAt)
	p := r.s.o.People.Get(caller)
	call.FromJID, call.FromLID = p.JID(), p.LID
	return call, []any{call.StartedAt.UnixMilli(), seq}
}

// Call returns one call: [bridge.CodeNotFound] when it is not stored.
func (s *Reader) Call(ctx context.Context, id string) (bridge.Call, error) {
	return As(ctx, s, "read a call", func(r *Snapshot) bridge.Call {
		call, found := r.call("k.id = ?", id)
		if !found {
			r.Fail(bridge.NoCall(id))
		}
		return call
	})
}

func (r *Snapshot) call(where string, arg any) (call bridge.Call, found bool) {
	for row := range r.Rows(selectCalls+where, arg) {
		call, _ = r.scanCall(row)
		return call, true
	}
	return call, false
}
