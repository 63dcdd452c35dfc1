package store

import (
	"cmp"
	"context"
	"math"
	"strconv"

	"bridged/internal/bridge"
)

// maxCallsOfOne is how many calls of one caller are kept: the newest.
const maxCallsOfOne = 1000

// saveCall notes a call that begins to ring, or was missed. A group that is not stored is not
// made known by a call: anybody may name one.
func (t *writeTx) saveCall(ctx context.Context, f bridge.Call) error {
	if f.ID == "" || !f.FromJID.IsPerson() {
		return nil
	}
	caller, err := t.ensurePerson(ctx, f.FromJID)
	if err != nil || caller.id == t.people.owner {
		return err
	}
	chat, err := t.callChat(ctx, f)
	if err != nil {
		return err
	}
	added, err := t.change(ctx, `
		INSERT INTO calls (id, wire_id, caller, chat, is_group, is_video, state, started_at, noted_at)
		VALUES (?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		f.ID, f.WireID, caller.id, chat, f.IsGroup, f.IsVideo, string(cmp.Or(f.State, bridge.CallRinging)), f.StartedAt.UnixMilli(), t.at)
	if err != nil || added == 0 {
		return err
	}
	if err := t.appendCallEvent(ctx, eventCallCreated, t.lastID(), chat); err != nil {
		return err
	}
	return t.run(ctx, `
		DELETE FROM calls WHERE caller = ?1
			AND seq <= (SELECT seq FROM calls WHERE caller = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`, caller.id, maxCallsOfOne)
}

// callChat returns the chat of a call; 0 where it has none.
func (t *writeTx) callChat(ctx context.Context, f bridge.Call) (int64, error) {
	if f.ChatJID.IsGroup() {
		c, _, err := t.findChat(ctx, f.ChatJID)
		return c.id, err
	}
	if f.IsGroup {
		return 0, nil
	}
	c, err := t.ensureChat(ctx, f.FromJID)
	return c.id, err
}

// callRow is what changing a call needs to know of it.
type callRow struct {
	seq, caller, chat int64
	isGroup           bool
	state             bridge.CallState
}

// saveCallChange takes over what became of a call.
func (t *writeTx) saveCallChange(ctx context.Context, f bridge.CallChange) error {
	var c callRow
	var state string
	found, err := t.find(ctx, "SELECT seq, caller, ifnull(chat, 0), is_group, state FROM calls WHERE id = ?", []any{f.ID},
		&c.seq, &c.caller, &c.chat, &c.isGroup, &state)
	if c.state = bridge.CallState(state); err != nil || !found || !t.mayTell(f, c) {
		return err
	}
	next, changes := c.after(f.State)
	if !changes {
		return nil
	}
	var endedAt any
	if next != bridge.CallAnsweredElsewhere {
		endedAt = f.At.UnixMilli()
	}
	if err := t.run(ctx, "UPDATE calls SET state = ?, ended_at = ? WHERE seq = ?", string(next), endedAt, c.seq); err != nil {
		return err
	}
	return t.appendCallEvent(ctx, eventCallUpdated, c.seq, c.chat)
}

// mayTell reports whether somebody may tell what became of a call: its caller and
// the account's own devices, and of the call of a group whoever knows it.
func (t *writeTx) mayTell(f bridge.CallChange, c callRow) bool {
	caller, ok := t.people.find(f.Caller)
	if !ok || caller.id != c.caller {
		return false
	}
	by, ok := t.people.find(f.By)
	return c.isGroup || ok && (by.id == c.caller || by.id == t.people.owner)
}

// after returns the state of a call that is told to have come to another one. One
// that counts as missed may turn out to have been taken elsewhere: the bridge was
// away meanwhile.
func (c callRow) after(told bridge.CallState) (next bridge.CallState, changes bool) {
	switch c.state {
	case bridge.CallRinging:
		if told == bridge.CallEnded {
			told = bridge.CallMissed
		}
		return told, true
	case bridge.CallMissed:
		return told, told == bridge.CallAnsweredElsewhere || told == bridge.CallRejected
	case bridge.CallAnsweredElsewhere:
		return bridge.CallEnded, told == bridge.CallEnded
	}
	return c.state, false
}

// saveCallsMissed makes missed calls of those that have been ringing for so long.
func (t *writeTx) saveCallsMissed(ctx context.Context, f bridge.CallsMissed) error {
	var ringing []callRow
	before := t.at - f.Ringing.Milliseconds()
	if f.Ringing == 0 {
		before = math.MaxInt64 // the clock may have been set back
	}
	err := t.each(ctx, "SELECT seq, ifnull(chat, 0) FROM calls WHERE state = 'ringing' AND noted_at <= ? ORDER BY noted_at, seq", []any{before},
		func(rows *resultSet) error {
			var c callRow
			err := rows.Scan(&c.seq, &c.chat)
			ringing = append(ringing, c)
			return err
		})
	if err != nil {
		return err
	}
	for _, c := range ringing {
		if err := t.run(ctx, "UPDATE calls SET state = 'missed' WHERE seq = ?", c.seq); err != nil {
			return err
		}
		if err := t.appendCallEvent(ctx, eventCallUpdated, c.seq, c.chat); err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) appendCallEvent(ctx context.Context, event int, call, chat int64) error {
	return t.appendEntry(ctx, entryKey{event: event, chat: chat, data: strconv.FormatInt(call, 10)})
}

// mergeCalls moves the calls of one chat to another, and their events with them.
func (t *writeTx) mergeCalls(ctx context.Context, from, into int64) error {
	moved, err := t.change(ctx, "UPDATE calls SET chat = ? WHERE chat = ?", into, from)
	if err != nil || moved == 0 {
		return err
	}
	return t.run(ctx, "UPDATE events SET chat = ? WHERE chat = ? AND type IN (?, ?)", into, from, eventCallCreated, eventCallUpdated)
}

// mergeCallers makes calls by one person those of another.
func (t *writeTx) mergeCallers(ctx context.Context, from, into int64) error {
	return t.run(ctx, "UPDATE calls SET caller = ? WHERE caller = ?", into, from)
}

// removeCallsBefore removes the calls from before a moment, some at a time.
func (s *Store) removeCallsBefore(ctx context.Context, before int64) error {
	for {
		var removed int64
		err := s.write(ctx, func(ctx context.Context, t *writeTx) (err error) {
			removed, err = t.change(ctx, "DELETE FROM calls WHERE seq IN (SELECT seq FROM calls WHERE started_at < ? ORDER BY started_at"+limited+")",
				before, retainBatch)
			return err
		})
		if err != nil || removed < retainBatch {
			return err
		}
	}
}
