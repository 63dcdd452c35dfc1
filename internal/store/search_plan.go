package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
)

// A searchPlan finds the first messages, by timestamp and arrival in either
// direction, whose text contains a needle. It scans what the index does not
// know (the tail of messages that are not indexed and stale blocks), then looks into the
// blocks that the index names, newest first or oldest first, and stops as soon
// as no block that is left can hold anything better than what it has.
type searchPlan struct {
	needle       string
	desc         bool
	limit        int    // how many are wanted
	chat, sender int64  // 0 is all
	kind         string // a condition on the chat c, empty for none
	only         string // ids of chats as json_each takes them, empty for all
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

// filter returns the WHERE of one message m, with its text last: that is the
// most expensive to look at.
func (w *searchPlan) filter() (string, []any) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if w.chat != 0 {
		add("m.chat = ?", w.chat)
	}
	if w.only != "" {
		add("m.chat IN (SELECT value FROM json_each(?))", w.only)
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
		add("(m.timestamp, m.arrival) "+behind(w.desc)+" (?, ?)", w.after.timestamp, w.after.seq)
	}
	add(containsText, w.needle)
	if w.kind != "" {
		add("EXISTS (SELECT 1 FROM chats c WHERE c.id = m.chat AND " + w.kind + ")")
	}
	return strings.Join(where, " AND "), args
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
	if r.withoutIndex || r.s.index.broken.Load() {
		err := r.scanFrom(ctx, w, 0, found)
		return found.sorted(), err
	}
	var indexed int64
	if err := r.scan(ctx, indexedQuery, nil, &indexed); err != nil {
		return nil, err
	}
	if err := r.scanFrom(ctx, w, (indexed+1)<<blockBits, found); err != nil {
		return nil, err
	}
	stale, err := r.scanStale(ctx, w, found)
	if err != nil {
		return nil, err
	}
	if err := r.lookUp(ctx, w, indexed, stale, found); err != nil {
		return nil, err
	}
	return found.sorted(), nil
}

// scanFrom looks at every message from an arrival on.
func (r *readTx) scanFrom(ctx context.Context, w *searchPlan, seq int64, found *topK) error {
	query, args := w.scanQuery(seq)
	return r.collect(ctx, query, args, found)
}

func (w *searchPlan) scanQuery(seq int64) (string, []any) {
	where, args := w.filter()
	return "SELECT m.arrival, m.timestamp FROM messages m NOT INDEXED WHERE m.arrival >= ? AND " + where,
		append([]any{seq}, args...)
}

func (r *readTx) collect(ctx context.Context, query string, args []any, found *topK) error {
	return r.each(ctx, query, args, func(rows *sql.Rows) error {
		var p position
		err := rows.Scan(&p.seq, &p.timestamp)
		found.add(p)
		return err
	})
}

// scanStale looks at every message of the blocks that have changed since they
// were indexed, and returns which those are.
func (r *readTx) scanStale(ctx context.Context, w *searchPlan, found *topK) (map[int64]bool, error) {
	stale := make(map[int64]bool)
	err := r.each(ctx, staleQuery, nil, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		stale[id] = true
		return err
	})
	if err != nil || len(stale) == 0 {
		return stale, err
	}
	where, args := w.filter()
	return stale, r.collect(ctx, fmt.Sprintf(`
		SELECT m.arrival, m.timestamp FROM (%s) s CROSS JOIN messages m NOT INDEXED
			ON m.arrival BETWEEN s.block << %d AND (s.block << %[2]d) + %d
		WHERE %s`, staleQuery, blockBits, blockSize-1, where), args, found)
}

// lookUp looks into the blocks that the index names.
func (r *readTx) lookUp(ctx context.Context, w *searchPlan, indexed int64, stale map[int64]bool, found *topK) error {
	first, last, err := r.blockRange(ctx, w, indexed)
	if err != nil || first > last {
		return err
	}
	query, args := w.lookUpQuery(first, last)
	rows, err := r.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, bound int64
		var p position
		if err := rows.Scan(&id, &bound, &p.seq, &p.timestamp); err != nil {
			return err
		}
		if found.settled(w.boundary(id, bound)) {
			return nil
		}
		if !stale[id] {
			found.add(p)
		}
	}
	return rows.Err()
}

// boundary returns a position that nothing in a block or behind it comes before: bound
// is the block's upto or downto.
func (w *searchPlan) boundary(id, bound int64) position {
	if w.desc {
		return position{bound, id<<blockBits + blockSize - 1}
	}
	return position{bound, id << blockBits}
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

// lookUpQuery looks the blocks up in the order of the search. A block's messages are read
// by arrival, or, when only one chat is wanted, by the chat's own index within
// the block's time.
func (w *searchPlan) lookUpQuery(first, last int64) (string, []any) {
	limit := "b.downto"
	if w.desc {
		limit = "b.upto"
	}
	source := "messages m NOT INDEXED"
	within := ""
	if w.chat != 0 {
		source = "messages m INDEXED BY messages_by_time"
		if w.sender != 0 {
			source = "messages m INDEXED BY messages_by_sender"
		}
		within = " AND m.timestamp BETWEEN b.oldest AND b.newest"
	}
	where, args := w.filter()
	query := fmt.Sprintf(`
		SELECT g.rowid, %s, m.arrival, m.timestamp
		FROM grams g CROSS JOIN blocks b ON b.id = g.rowid CROSS JOIN %s
			ON m.arrival BETWEEN g.rowid << %d AND (g.rowid << %[3]d) + %d%s
		WHERE g.grams MATCH ? AND g.rowid BETWEEN ? AND ? AND %s
		ORDER BY g.rowid %s`, limit, source, blockBits, blockSize-1, within, where, direction(w.desc))
	return query, append([]any{gramQuery(w.needle), first, last}, args...)
}
