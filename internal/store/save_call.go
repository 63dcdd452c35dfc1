package store

import (
	"cmp"
	"context"
	"math"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
)

// callTx saves calls.
type callTx struct{ *writeTx }

// maxCallsOfOne is how many calls of one caller are retained: the newest.
const maxCallsOfOne = 1000

// saveCall stores a call that rings or was missed. It does not add a group, because any caller can name
// one.
func (t callTx) saveCall(f bridge.Call) {
	if f.ID == "" || !f.FromJID.IsPerson() {
		return
	}
	caller := t.EnsurePerson(f.FromJID)
	if caller.ID == t.People.OwnerID() {
		return
	}
	chat := t.callChat(f)
	var seq int64
	if !t.Find(`
		INSERT INTO calls (id, wire_id, caller, chat, is_group, is_video, state, started_at, noted_at)
		VALUES (?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING seq`,
		[]any{f.ID, f.WireID, caller.ID, chat, f.IsGroup, f.IsVideo, cmp.Or(f.State, bridge.CallRinging), f.StartedAt.UnixMilli(), t.at}, &seq) {
		return
	}
	t.appendCallEvent(bridge.EventCallCreated, seq, chat)
	t.Run(`
		DELETE FROM calls WHERE caller = ?1
			AND seq <= (SELECT seq FROM calls WHERE caller = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`, caller.ID, maxCallsOfOne)
}

// callChat returns the chat of a call, or 0.
func (t callTx) callChat(f bridge.Call) int64 {
	if f.ChatJID.IsGroup() {
		c, _ := t.findChat(f.ChatJID)
		return c.id
	}
	if f.IsGroup {
		return 0
	}
	return t.ensureChat(f.FromJID).id
}

// saveCallChange changes the state of a call, for its caller, the account's own devices or,
// of a group's call, for all.
func (t callTx) saveCallChange(f bridge.CallChange) {
	var seq, callerID, chat int64
	var isGroup bool
	var state bridge.CallState
	var hasEnd bool
	if !t.Find("SELECT seq, caller, ifnull(chat, 0), is_group, state, ended_at IS NOT NULL FROM calls WHERE id = ?",
		[]any{f.ID}, &seq, &callerID, &chat, &isGroup, &state, &hasEnd) {
		return
	}
	caller, _ := t.People.Find(f.Caller)
	by, known := t.People.Find(f.By)
	mayChange := caller.ID == callerID && (isGroup || known && (by.ID == callerID || by.ID == t.People.OwnerID()))
	next, changes := callAfter(state, f.State, hasEnd)
	if !mayChange || !changes {
		return
	}
	var endedAt any
	if next != bridge.CallAnsweredElsewhere {
		endedAt = f.At.UnixMilli()
	}
	t.Run("UPDATE calls SET state = ?, ended_at = ? WHERE seq = ?", string(next), endedAt, seq)
	t.appendCallEvent(bridge.EventCallUpdated, seq, chat)
}

// callAfter returns the state of a call after a notification. A missed call may turn out to
// have been answered or rejected elsewhere while the bridge was away. A call that was marked
// as missed after a restart has no end until the network reports it.
func callAfter(state, to bridge.CallState, hasEnd bool) (next bridge.CallState, changes bool) {
	switch state {
	case bridge.CallRinging:
		if to == bridge.CallEnded {
			to = bridge.CallMissed
		}
		return to, true
	case bridge.CallMissed:
		if to == bridge.CallEnded {
			return state, !hasEnd
		}
		return to, to == bridge.CallAnsweredElsewhere || to == bridge.CallRejected
	case bridge.CallAnsweredElsewhere:
		return bridge.CallEnded, to == bridge.CallEnded
	}
	return state, false
}

// saveCallsMissed marks the calls as missed that have been ringing for that long.
func (t callTx) saveCallsMissed(f bridge.CallsMissed) {
	before := t.at - f.Ringing.Milliseconds()
	if f.Ringing == 0 {
		before = math.MaxInt64 // the clock may have been set back
	}
	scan := func(row *sqlite.Row) (call [2]int64) {
		row.Scan(&call[0], &call[1])
		return call
	}
	ringing := sqlite.Collect(t.Conn, scan, "SELECT seq, ifnull(chat, 0) FROM calls WHERE state = 'ringing' AND noted_at <= ? ORDER BY noted_at, seq", before)
	for _, call := range ringing {
		t.Run("UPDATE calls SET state = 'missed' WHERE seq = ?", call[0])
		t.appendCallEvent(bridge.EventCallUpdated, call[0], call[1])
	}
}

func (t callTx) appendCallEvent(event bridge.EventType, call, chat int64) {
	t.appendEntry(read.EntryKey{Event: event, Chat: chat, Data: strconv.FormatInt(call, 10)})
}

// mergeCalls moves the calls of one chat, and their events, to another.
func mergeCalls(c *sqlite.Conn, from, into int64) {
	if c.Change("UPDATE calls SET chat = ? WHERE chat = ?", into, from) > 0 {
		c.Run("UPDATE events SET chat = ? WHERE chat = ? AND type IN (?, ?)", into, from,
			columns.EventNumber(bridge.EventCallCreated), columns.EventNumber(bridge.EventCallUpdated))
	}
}

// removeCallsBefore removes the calls from before a moment, some at a time.
func (s *Store) removeCallsBefore(ctx context.Context, before int64) error {
	_, err := s.inBatches(ctx, "remove old calls", retainBatch, func(t *writeTx) int64 {
		return t.Change("DELETE FROM calls WHERE seq IN (SELECT seq FROM calls WHERE started_at < ? ORDER BY started_at"+sqlite.Limited+")",
			before, retainBatch)
	})
	return err
}
