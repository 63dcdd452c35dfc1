package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// A searchPlan finds the first messages, by timestamp and arrival in either
// direction, whose text contains a needle. It scans what the index does not
// know (the tail of messages that are not indexed and stale packs), then looks into the
// packs that the index names, from the newest block or the oldest one on, and stops as soon
// as no block that is left can hold anything better than what it has.
type searchPlan struct {
	needle       string
	desc         bool
	limit        int   // how many are wanted
	chat, sender int64 // 0 is all
	kind         bridge.ChatType
	only         map[int64]bool // chats, nil for all
	since, until int64
	after        *position // only what comes after it, in the plan's order
}

// ends returns the time range of a search.
func ends(since, until *int64) (int64, int64) {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if since != nil {
		from = *since
	}
	if until != nil {
		to = *until
	}
	return from, to
}

// narrow makes the time range no wider than after allows.
func (w *searchPlan) narrow() {
	switch {
	case w.after == nil:
	case w.desc:
		w.until = min(w.until, w.after.timestamp)
	default:
		w.since = max(w.since, w.after.timestamp)
	}
}

// containsText is true of messages whose text contains the folded argument.
const containsText = "instr(ifnull(m.folded, m.content), ?) > 0"

// filter returns the WHERE of one message m, with its text last: that is the
// most expensive to look at.
func (w *searchPlan) filter() (string, []any, error) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if w.chat != 0 {
		add("m.chat = ?", w.chat)
	}
	if w.only != nil {
		list, err := json.Marshal(slices.Sorted(maps.Keys(w.only)))
		if err != nil {
			return "", nil, err
		}
		add("m.chat IN (SELECT value FROM json_each(?))", string(list))
	}
	if w.sender != 0 {
		add("m.sender = ?", w.sender)
	}
	if w.since != math.MinInt64 {
		add("m.timestamp >= ?", w.since)
	}
	if w.until != math.MaxInt64 {
		add("m.timestamp <= ?", w.until)
	}
	if w.after != nil {
		add("(m.timestamp, m.seq) "+behind(w.desc)+" (?, ?)", w.after.timestamp, w.after.seq)
	}
	add(containsText, w.needle)
	if group, one := w.group(); one {
		add("EXISTS (SELECT 1 FROM chats c WHERE c.id = m.chat AND c.is_group = ?)", group)
	}
	return strings.Join(where, " AND "), args, nil
}

// group reports whether only one kind of chat is searched, and whether that is
// groups.
func (w *searchPlan) group() (group, one bool) {
	return w.kind == bridge.ChatsGroup, w.kind == bridge.ChatsGroup || w.kind == bridge.ChatsIndividual
}

// wants is [searchPlan.filter] of a message in a pack, but for its kind, its
// sender and its text.
func (w *searchPlan) wants(m packed) bool {
	if w.chat != 0 && m.chat != w.chat || w.only != nil && !w.only[m.chat] || m.timestamp < w.since || m.timestamp > w.until {
		return false
	}
	switch {
	case w.after == nil:
		return true
	case w.desc:
		return m.position().before(*w.after)
	}
	return w.after.before(m.position())
}

// behind returns the comparison that is true of what comes later in an order.
func behind(desc bool) string {
	if desc {
		return "<"
	}
	return ">"
}

func direction(desc bool) string {
	if desc {
		return "DESC"
	}
	return "ASC"
}

// search returns the places of the first w.limit matches, in order.
func (r *readTx) search(ctx context.Context, w *searchPlan) ([]position, error) {
	w.narrow()
	found := &topK{desc: w.desc, limit: w.limit}
	if w.only != nil && len(w.only) == 0 {
		return nil, nil
	}
	small, err := r.isSmall(ctx, w.chat)
	if err != nil {
		return nil, err
	}
	if small || r.withoutIndex || r.s.index.broken.Load() {
		err := r.scanFrom(ctx, w, 0, w.chat != 0, found)
		return found.sorted(), err
	}
	indexed, newest := int64(0), int64(0)
	if err := r.scan(ctx, "SELECT ("+indexedQuery+"), ifnull(max(seq), 0) FROM messages", nil, &indexed, &newest); err != nil {
		return nil, err
	}
	tail := r.s.index.firstSeq(indexed + 1)
	if err := r.scanFrom(ctx, w, tail, w.chat != 0 && newest-tail > maxTail, found); err != nil {
		return nil, err
	}
	if err := r.scanStale(ctx, w, found); err != nil {
		return nil, err
	}
	if err := r.lookUp(ctx, w, indexed, found); err != nil {
		return nil, err
	}
	return found.sorted(), nil
}

// isSmall reports whether a chat has so few messages that they are simply read.
func (r *readTx) isSmall(ctx context.Context, chat int64) (small bool, err error) {
	if chat == 0 {
		return false, nil
	}
	err = r.scan(ctx, "SELECT message_count <= ? FROM chats WHERE id = ?", []any{r.s.tuning.small, chat}, &small)
	return small, err
}

// scanFrom looks at every message from an arrival on.
func (r *readTx) scanFrom(ctx context.Context, w *searchPlan, seq int64, byChat bool, found *topK) error {
	query, args, err := w.scanQuery(seq, byChat)
	if err != nil {
		return err
	}
	return r.collect(ctx, query, args, found)
}

// scanQuery goes by arrival, or through one chat in the order of the search: that
// is better where many messages are not indexed.
func (w *searchPlan) scanQuery(seq int64, byChat bool) (string, []any, error) {
	where, args, err := w.filter()
	args = append([]any{seq}, args...)
	index, order := "NOT INDEXED", ""
	if byChat {
		index = "INDEXED BY messages_by_time"
		if w.sender != 0 {
			index = "INDEXED BY messages_by_sender"
		}
		order = " ORDER BY m.timestamp " + direction(w.desc) + ", m.seq " + direction(w.desc) + limited
		args = append(args, w.limit)
	}
	return "SELECT m.seq, m.timestamp FROM messages m " + index + " WHERE m.seq >= ? AND " + where + order, args, err
}

func (r *readTx) collect(ctx context.Context, query string, args []any, found *topK) error {
	return r.each(ctx, query, args, func(rows *resultSet) error {
		var p position
		err := rows.Scan(&p.seq, &p.timestamp)
		found.add(p)
		return err
	})
}

// scanStale looks at every message of the packs that have changed since they were
// indexed.
func (r *readTx) scanStale(ctx context.Context, w *searchPlan, found *topK) error {
	stale, err := stalePlans(ctx, r.conn, noLimit)
	if err != nil || len(stale) == 0 {
		return err
	}
	where, args, err := w.filter()
	if err != nil {
		return err
	}
	for _, pack := range stale {
		list, err := json.Marshal(pack.seqs)
		if err != nil {
			return err
		}
		err = r.collect(ctx, `
			SELECT m.seq, m.timestamp FROM json_each(?) wanted CROSS JOIN messages m NOT INDEXED ON m.seq = wanted.value
			WHERE `+where, append([]any{string(list)}, args...), found)
		if err != nil {
			return err
		}
	}
	return nil
}

// blockRange returns the blocks that the time range may reach into.
func (r *readTx) blockRange(ctx context.Context, w *searchPlan, indexed int64) (first, last int64, err error) {
	first, last = 0, indexed
	if w.since != math.MinInt64 {
		first, err = r.blockAt(ctx, "SELECT id FROM blocks WHERE upto >= ? ORDER BY upto, id LIMIT 1", w.since, indexed+1)
		if err != nil {
			return 0, 0, err
		}
	}
	if w.until != math.MaxInt64 {
		last, err = r.blockAt(ctx, lastDowntoQuery, w.until, noneIndexed)
	}
	return first, last, err
}

// lastDowntoQuery is the last block that may hold messages from before a
// moment.
const lastDowntoQuery = "SELECT id FROM blocks WHERE downto <= ? ORDER BY downto DESC, id DESC LIMIT 1"

// blockAt returns the one block that a query by time names.
func (r *readTx) blockAt(ctx context.Context, query string, at, none int64) (int64, error) {
	id := none
	err := r.scan(ctx, query, []any{at}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return none, nil
	}
	return id, err
}
