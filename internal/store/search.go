package store

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/search"
	"bridged/internal/store/db"
)

// indexed makes the store a [search.Store].
type indexed struct{ *Store }

// View runs f on one snapshot.
func (s indexed) View(ctx context.Context, f func(*db.Conn)) error {
	return s.read(ctx, func(r *readTx) { f(r.Conn) })
}

// Update runs f in one transaction.
func (s indexed) Update(ctx context.Context, f func(*db.Conn)) error {
	return s.write(ctx, func(t *writeTx) { f(t.Conn) })
}

// Reindex calls [search.Index.Rebuild].
func (s *Store) Reindex(ctx context.Context, progress func(done, total int)) error {
	return s.index.Rebuild(ctx, progress)
}

// Indexed calls [search.Index.Indexed].
func (s *Store) Indexed(ctx context.Context) (done, total int, err error) {
	return s.index.Indexed(ctx)
}

// fold and blank are those of the search.
func fold(text string) string { return search.Fold(text) }
func blank(q string) bool     { return search.IsBlank(q) }

// Search finds the messages of all chats whose text contains q.Q, newest
// first.
func (s *Store) Search(ctx context.Context, q bridge.SearchQuery) (bridge.Page[bridge.Match], error) {
	limit := limitOf(q.Limit)
	if blank(q.Q) {
		return bridge.Page[bridge.Match]{}, bridge.Invalid("q must not be blank")
	}
	return readAs(ctx, s, "search", func(r *readTx) bridge.Page[bridge.Match] {
		return r.matches(r.search(search.Query{
			Needle: fold(q.Q), Desc: true, Limit: limit + 1, Kind: q.ChatType, Only: r.chatSet(q.Only),
			Since: firstMillis(q.Since), Until: lastMillis(q.Until), After: r.positionAt(q.Cursor),
		}), limit)
	})
}

// search runs a query, without the index where the chat has few messages: these may be in
// as many packs. Where it meets damage that a scan does not meet, the index is damaged.
func (r *readTx) search(q search.Query) (found []position) {
	index, small := r.s.index, false
	switch {
	case r.Err() != nil || q.Only != nil && len(q.Only) == 0:
		return nil
	case q.Chat != 0:
		r.Find("SELECT message_count <= ? FROM chats WHERE id = ?", []any{r.s.tuning.small, q.Chat}, &small)
	}
	switch {
	case r.Err() != nil: // no damage of the index
		return nil
	case small || index.IsBroken():
		return q.Scan(r.Conn)
	}
	err := r.Try(func() { found = index.Find(r.Conn, q) })
	if !dbfile.IsDamage(err) {
		r.Fail(err)
		return found
	}
	found = q.Scan(r.Conn)
	if r.Err() == nil && index.SetBroken() {
		r.s.o.Log.Error().Err(err).Msg("search index is damaged; searches scan until it is rebuilt")
	}
	return found
}

const matchColumns = `m.seq, c.jid, c.name, c.is_group, m.id, m.from_me, m.sender, m.push_name, m.type, m.content,
	m.details, m.timestamp`

// matches reads the messages at positions, in their order: up to limit, and as many as there
// is room for on a page.
func (r *readTx) matches(positions []position, limit int) bridge.Page[bridge.Match] {
	page := bridge.Page[bridge.Match]{Items: make([]bridge.Match, 0, min(len(positions), limit))}
	room, last := &pageRoom{most: r.s.tuning.page}, position{}
	if len(positions) > limit {
		last = positions[limit-1] // also where it is gone
	}
	for row := range r.rowsOf(`
		SELECT `+matchColumns+` FROM json_each(?) wanted
		CROSS JOIN messages m ON m.seq = wanted.value CROSS JOIN chats c ON c.id = m.chat`, seqs(positions[:min(len(positions), limit)])) {
		match, at := r.scanMatch(row)
		if !room.takes(match.Size()) {
			break
		}
		page.Items, last = append(page.Items, match), at
	}
	if len(positions) > limit || room.full {
		page.NextCursor = messageCursor(last)
	}
	return page
}

func seqs(positions []position) []int64 {
	list := make([]int64, len(positions))
	for i, p := range positions {
		list[i] = p.Seq
	}
	return list
}

func (r *readTx) scanMatch(row *db.Row) (match bridge.Match, at position) {
	var sender int64
	var column db.Raw
	row.Scan(&at.Seq, &match.ChatJID, &match.ChatName, &match.IsGroup, &match.MsgID, &match.FromMe, &sender, &match.PushName,
		&match.MessageType, &match.Content, &column, &match.Timestamp)
	p := r.s.people.get(sender)
	at.Timestamp, match.ChatJID = match.Timestamp.UnixMilli(), r.s.Canonical(match.ChatJID)
	match.SenderJID, match.SenderLID, match.SenderUsername, match.PushName = p.jid(), p.lid, p.usernameOrNil(), cmp.Or(match.PushName, p.pushName())
	var d details
	r.Decode(column, &d)
	match.Media = d.Media.shown(match.ChatJID, match.MsgID)
	return match, at
}
