package read

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

const selectScheduled = `
	SELECT seq, id, chat, status, send_at, created_at, begun, ifnull(error, ''), draft, token, tree FROM scheduled `

// Scheduled lists the scheduled messages, the next one first.
func (s *Reader) Scheduled(ctx context.Context, q bridge.ScheduledQuery) (bridge.Page[bridge.ScheduledMessage], error) {
	return As(ctx, s, "list scheduled messages", func(r *Snapshot) bridge.Page[bridge.ScheduledMessage] {
		page := bridge.Page[bridge.ScheduledMessage]{Items: []bridge.ScheduledMessage{}}
		query, args := r.scheduledQuery(q)
		budget, last := &pageBudget{most: r.s.Tuning.Page}, []any(nil)
		for row := range r.Rows(query, args...) {
			m, seq := r.scanScheduled(row)
			shown := m.Shown()
			if len(page.Items) == sqlite.LimitOf(q.Limit) || !budget.takes(jsonSizeOf(shown)) {
				page.NextCursor = new(sqlite.Cursor(ListLater, last...))
				break
			}
			page.Items, last = append(page.Items, shown), []any{m.SendAt.UnixMilli(), seq}
		}
		return page
	})
}

// jsonSizeOf returns the maximum size of a scheduled message as JSON.
func jsonSizeOf(m bridge.ScheduledMessage) int { return (&bridge.Event{Scheduled: &m}).Size() }

func (r *Snapshot) scheduledQuery(q bridge.ScheduledQuery) (string, []any) {
	var f sqlite.Filter
	f.Add("TRUE")
	if q.Only != nil {
		f.Add("chat IN (SELECT value FROM json_each(?))", r.scheduledChats(q.Only))
	}
	if q.Chat != "" {
		f.Add("chat IN (SELECT value FROM json_each(?))", r.scheduledChats([]bridge.JID{q.Chat}))
	}
	var sendAt, seq int64
	if r.After(ListLater, q.Cursor, &sendAt, &seq) {
		f.Add("(send_at, seq) > (?, ?)", sendAt, seq)
	}
	return selectScheduled + "WHERE " + f.Where() + " ORDER BY send_at, seq" + sqlite.Limited, append(f.Args, sqlite.LimitOf(q.Limit)+1)
}

// scheduledChats returns, as JSON, the chats of scheduled messages that are among others. The messages have
// the JID that their chat had when they were scheduled.
func (r *Snapshot) scheduledChats(among []bridge.JID) string {
	names := make(map[bridge.JID]bool, len(among))
	for _, jid := range among {
		names[r.s.Canonical(jid)] = true
	}
	found := []bridge.JID{}
	for _, jid := range sqlite.List[bridge.JID](r.Conn, "SELECT DISTINCT chat FROM scheduled") {
		if names[r.s.Canonical(jid)] {
			found = append(found, jid)
		}
	}
	return r.Encode(found)
}

func (r *Snapshot) scanScheduled(row *sqlite.Row) (m bridge.Scheduled, seq int64) {
	var draft, problem []byte
	row.Scan(&seq, &m.ID, &m.Chat, &m.Status, &m.SendAt, &m.CreatedAt, &m.Begun, &problem, &draft, &m.Token, &m.Tree)
	m.Chat = r.s.Canonical(m.Chat)
	r.Decode(draft, &m.Draft)
	if len(problem) > 0 {
		r.Decode(problem, &m.Error)
	}
	return m, seq
}

// FindScheduled returns a scheduled message of any chat, and reports whether there is one.
func (r *Snapshot) FindScheduled(id string) (m bridge.Scheduled, found bool) {
	for row := range r.Rows(selectScheduled+"WHERE id = ?", id) {
		m, _ = r.scanScheduled(row)
		found = true
	}
	return m, found
}

// ScheduledMessage returns a scheduled message: [bridge.CodeNotFound] if there is none.
func (s *Reader) ScheduledMessage(ctx context.Context, id string) (bridge.Scheduled, error) {
	return As(ctx, s, "read a scheduled message", func(r *Snapshot) bridge.Scheduled {
		m, found := r.FindScheduled(id)
		if !found {
			r.Fail(bridge.NoScheduled(id))
		}
		return m
	})
}

// ScheduledBefore returns the messages that are due until a time or being sent, without their content, and the
// time of the first message after that; zero if there is none.
func (s *Reader) ScheduledBefore(ctx context.Context, until bridge.Time) (due []bridge.Scheduled, next bridge.Time, err error) {
	const waits = "FROM scheduled WHERE status IN ('scheduled', 'sending') AND send_at "
	scan := func(row *sqlite.Row) (m bridge.Scheduled) {
		row.Scan(&m.ID, &m.Chat, &m.Status, &m.SendAt, &m.Token)
		m.Chat = s.Canonical(m.Chat)
		return m
	}
	err = s.Read(ctx, func(r *Snapshot) {
		due = sqlite.Collect(r.Conn, scan, "SELECT id, chat, status, send_at, token "+waits+"<= ? ORDER BY send_at, seq", until)
		r.Find("SELECT send_at "+waits+"> ? ORDER BY send_at LIMIT 1", []any{until}, &next)
	})
	return due, next, err
}

// ScheduledTokens returns the tokens of the waiting messages, except BRIDGE_TOKEN.
func (s *Reader) ScheduledTokens(ctx context.Context) ([]int64, error) {
	return As(ctx, s, "read the tokens of scheduled messages", func(r *Snapshot) []int64 {
		return sqlite.List[int64](r.Conn, "SELECT DISTINCT token FROM scheduled WHERE status = 'scheduled' AND token != 0")
	})
}

// ScheduledCounts returns how many scheduled messages there are, by their status.
func (s *Reader) ScheduledCounts(ctx context.Context) (map[bridge.ScheduledStatus]int, error) {
	return As(ctx, s, "count scheduled messages", func(r *Snapshot) map[bridge.ScheduledStatus]int {
		counts := make(map[bridge.ScheduledStatus]int)
		for row := range r.Rows("SELECT status, count(*) FROM scheduled GROUP BY status") {
			var status bridge.ScheduledStatus
			var count int
			row.Scan(&status, &count)
			counts[status] = count
		}
		return counts
	})
}

// addScheduled adds the scheduled message of an event, and reports whether it is there. A cancelled one has
// no content any more, and one that was sent is in the events of messages.
func (r *Snapshot) addScheduled(event *bridge.Event, data string) bool {
	var change columns.ScheduledChange
	r.Decode([]byte(data), &change)
	m, found := r.FindScheduled(change.ID)
	shown := m.Shown()
	if !found {
		shown = bridge.ScheduledMessage{
			ID: change.ID, Chat: r.s.Canonical(change.Chat), Status: bridge.ScheduledCancelled, SendAt: change.SendAt, CreatedAt: change.CreatedAt,
			Type: change.Type, Mentions: []bridge.JID{},
		}
	}
	event.Scheduled, event.ChatJID = &shown, shown.Chat
	return found || change.Status == bridge.ScheduledCancelled
}
