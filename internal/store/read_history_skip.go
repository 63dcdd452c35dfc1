package store

import (
	"context"
)

// Deep offsets are skipped by whole days, whose messages are counted when they
// are stored; only the rest is skipped one by one.

// skipDays shortens h's offset by moving its start over whole days. It leaves
// histories of one sender alone: days are not counted by sender.
func (r *readTx) skipDays(ctx context.Context, h *history) error {
	if h.offset < r.s.tuning.skip || h.sender != 0 {
		return nil
	}
	from, ended, err := r.skipFirstDay(ctx, h)
	if err != nil || ended {
		return err
	}
	return r.skipWholeDays(ctx, h, from)
}

// start returns where h begins: its bound in the order of the search, nil when it has none.
func (h *history) start() *int64 {
	bound := h.since
	if h.desc {
		bound = h.until
	}
	if h.after == nil {
		return bound
	}
	at := h.after.timestamp
	if bound != nil && (h.desc && *bound < at || !h.desc && *bound > at) {
		at = *bound
	}
	return &at
}

// beginAfter makes h begin behind a day.
func (h *history) beginAfter(day int64) {
	if h.desc {
		until := day*dayLength - 1
		h.until = &until
		return
	}
	since := (day + 1) * dayLength
	h.since = &since
}

// skipFirstDay skips what is left of the day on which h begins. It returns from
// which day on whole days follow, nil for the very first one, or that the
// offset has ended before.
func (r *readTx) skipFirstDay(ctx context.Context, h *history) (from *int64, ended bool, err error) {
	at := h.start()
	if at == nil {
		return nil, false, nil
	}
	today := day(*at)
	part := *h
	begin, end := today*dayLength, (today+1)*dayLength-1
	if h.desc {
		part.since = later(h.since, begin)
	} else {
		part.until = earlier(h.until, end)
	}
	where, args := part.conditions()
	var n int
	if err := r.scan(ctx, "SELECT count(*) FROM messages m WHERE "+where, args, &n); err != nil {
		return nil, false, err
	}
	if n > h.offset {
		return nil, true, nil
	}
	h.offset -= n
	h.beginAfter(today)
	next := today + 1
	if h.desc {
		next = today - 1
	}
	return &next, false, nil
}

func later(bound *int64, at int64) *int64 {
	if bound != nil && *bound > at {
		return bound
	}
	return &at
}

func earlier(bound *int64, at int64) *int64 {
	if bound != nil && *bound < at {
		return bound
	}
	return &at
}

// skipWholeDays skips days for as long as the offset reaches beyond them.
func (r *readTx) skipWholeDays(ctx context.Context, h *history, from *int64) error {
	query, args := "SELECT day, messages FROM days WHERE chat = ?", []any{h.chat}
	if from != nil {
		query, args = query+" AND day "+behind(h.desc)+"= ?", append(args, *from)
	}
	rows, err := r.query(ctx, query+" ORDER BY day "+direction(h.desc), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return h.skipCounted(rows)
}

func (h *history) skipCounted(rows *resultSet) error {
	for rows.Next() {
		var day int64
		var n int
		if err := rows.Scan(&day, &n); err != nil {
			return err
		}
		if n > h.offset {
			return nil
		}
		h.offset -= n
		h.beginAfter(day)
	}
	return rows.Err()
}
