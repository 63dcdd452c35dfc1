package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
)

// Search finds the messages of all chats whose text contains q.Q, newest
// first.
func (s *Store) Search(ctx context.Context, q bridge.SearchQuery) (bridge.Page[bridge.Match], error) {
	page := bridge.Page[bridge.Match]{Items: []bridge.Match{}}
	if blank(q.Q) {
		return page, bridge.Invalid("q must not be blank")
	}
	w, err := newSearch(q)
	if err != nil {
		return page, err
	}
	err = s.searching(ctx, func(r *readTx) error {
		if q.Only != nil {
			if w.only, err = r.chatSet(ctx, q.Only); err != nil {
				return err
			}
		}
		positions, err := r.search(ctx, &w)
		if err != nil {
			return err
		}
		page, err = r.matches(ctx, positions, w.limit-1)
		return err
	})
	if err != nil {
		return bridge.Page[bridge.Match]{}, fmt.Errorf("search: %w", err)
	}
	return page, nil
}

// newSearch asks for one more than the page, which shows whether there is
// another one.
func newSearch(q bridge.SearchQuery) (searchPlan, error) {
	w := searchPlan{needle: fold(q.Q), desc: true, limit: limitOf(q.Limit) + 1, kind: q.ChatType}
	var since, until *int64
	if q.Since != nil {
		since = ceilMillis(*q.Since)
	}
	if q.Until != nil {
		ms := q.Until.UnixMilli()
		until = &ms
	}
	w.since, w.until = ends(since, until)
	if q.Cursor != "" {
		after, err := parsePosition(q.Cursor)
		if err != nil {
			return w, err
		}
		w.after = &after
	}
	return w, nil
}

// searching reads with the index, and where that meets damage once more
// without it. Where the messages themselves can be read, the damage is the
// index's.
func (s *Store) searching(ctx context.Context, f func(*readTx) error) error {
	err := s.read(ctx, f)
	if !dbfile.IsDamage(err) || s.index.broken.Load() {
		return err
	}
	scanned := s.read(ctx, func(r *readTx) error {
		r.withoutIndex = true
		return f(r)
	})
	if scanned == nil && s.index.setBroken() {
		s.log.Error().Err(err).Msg("search index is damaged; searches scan until it is rebuilt")
	}
	return scanned
}

const matchColumns = `m.seq, c.jid, c.name, c.is_group, m.id, m.from_me, m.sender, m.push_name, m.type, m.content,
	ifnull(m.details, ''), m.timestamp`

// matches reads what is shown of the messages at positions, in their order: up to
// limit, and as many as there is room for on a page.
func (r *readTx) matches(ctx context.Context, positions []position, limit int) (bridge.Page[bridge.Match], error) {
	page := bridge.Page[bridge.Match]{Items: make([]bridge.Match, 0, min(len(positions), limit))}
	room, last := newPageRoom(r.s.tuning.page), position{}
	if len(positions) > limit {
		last = positions[limit-1] // also where it is gone
	}
	err := r.eachOf(ctx, `
		SELECT `+matchColumns+` FROM json_each(?) wanted
		CROSS JOIN messages m ON m.seq = wanted.value CROSS JOIN chats c ON c.id = m.chat`,
		seqs(positions[:min(len(positions), limit)]), func(rows *resultSet) error {
			match, at, err := r.scanMatch(rows)
			if err != nil {
				return err
			}
			if !room.takes(match.Size()) {
				return errPageFull
			}
			page.Items, last = append(page.Items, match), at
			return nil
		})
	if err != nil && !errors.Is(err, errPageFull) {
		return page, err
	}
	if len(positions) > limit || room.full {
		cursor := last.cursor()
		page.NextCursor = &cursor
	}
	return page, nil
}

func seqs(positions []position) []int64 {
	list := make([]int64, len(positions))
	for i, p := range positions {
		list[i] = p.seq
	}
	return list
}

func (r *readTx) scanMatch(rows *resultSet) (match bridge.Match, at position, err error) {
	var sender int64
	var column sql.RawBytes
	err = rows.Scan(&at.seq, &match.ChatJID, &match.ChatName, &match.IsGroup, &match.MsgID, &match.FromMe, &sender, &match.PushName,
		&match.MessageType, &match.Content, &column, &at.timestamp)
	if err != nil {
		return match, at, err
	}
	p := r.s.people.get(sender)
	match.ChatJID = r.s.Canonical(match.ChatJID)
	match.SenderJID, match.SenderLID, match.SenderUsername, match.PushName = p.jid(), p.lid, p.usernameOrNil(), cmp.Or(match.PushName, p.pushName())
	match.Timestamp = bridge.Millis(at.timestamp)
	match.Media, err = mediaIn(column, match.ChatJID, match.MsgID)
	return match, at, err
}
