package read

import (
	"cmp"
	"context"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/folding"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

// Search finds the messages whose text contains q.Q and that pass the filters, the newest first:
// [bridge.CodeNotFound] if q.Chat is not stored.
func (s *Reader) Search(ctx context.Context, q bridge.SearchQuery) (bridge.Page[bridge.Match], error) {
	limit := sqlite.LimitOf(q.Limit)
	if !q.IsNarrow() {
		return bridge.Page[bridge.Match]{}, bridge.Invalid("q must not be blank without a chat, a sender or a filter")
	}
	return As(ctx, s, "search", func(r *Snapshot) bridge.Page[bridge.Match] {
		found, end := r.filtered(r.searchQuery(q), q.MessageFilter)
		return r.matches(found, limit, end)
	})
}

// searchQuery returns the query of a page of the search. Its limit is one more than the
// page's.
func (r *Snapshot) searchQuery(q bridge.SearchQuery) search.Query {
	sq := search.Query{
		Desc: true, Limit: sqlite.LimitOf(q.Limit) + 1, Kind: q.ChatType, Only: r.chatSet(q.Only), Sender: r.senderID(q.Sender),
		Since: firstMillis(q.Since), Until: lastMillis(q.Until), After: r.positionAt(q.Cursor),
	}
	setNeedle(&sq, q.Q, q.Fold)
	if q.Chat != "" {
		sq.Chat = r.FindChat(q.Chat)
	}
	return sq
}

// setNeedle makes a query search for q, normalised by a fold.
func setNeedle(sq *search.Query, q string, by bridge.Fold) {
	if !search.IsBlank(q) {
		sq.Needle = folding.By(by)(q)
		sq.Stripped = by == bridge.FoldAccents && folding.MayHaveAccents(sq.Needle)
	}
}

// firstLook is the number of hits that are first checked against a filter. The number quadruples each
// time, up to mostLook.
const (
	firstLook = 256
	mostLook  = 4096
)

// filtered runs a query with a filter. If it ends early, because few of many messages pass the filter,
// end is the position up to which the result is complete.
func (r *Snapshot) filtered(q search.Query, filter bridge.MessageFilter) (found []Position, end *Position) {
	f := search.Filter{MessageFilter: filter}
	if filter.Pinned != nil {
		f.Now = r.s.o.Now()
	}
	if q.Chat == 0 { // the index knows senders in one chat only
		f.Sender = q.Sender
	}
	switch {
	case r.Err() != nil || q.Only != nil && len(q.Only) == 0:
		return nil, nil
	case q.Needle == "":
		return q.Walk(r.Conn, f, r.s.Tuning.Look)
	case f == search.Filter{}:
		return r.search(q), nil
	case q.Chat == 0:
		q.Sender = 0
	}
	limit, looked := q.Limit, 0
	for q.Limit = max(limit, firstLook); ; q.Limit = max(limit, min(4*q.Limit, mostLook)) {
		hits := r.search(q)
		found, looked = append(found, f.Among(r.Conn, hits)...), looked+len(hits)
		if len(found) >= limit || len(hits) < q.Limit {
			return found[:min(len(found), limit)], nil
		}
		if q.After = &hits[len(hits)-1]; looked >= r.s.Tuning.Look {
			return found, q.After
		}
	}
}

// search runs a query. It does not use the index for a chat with few messages, because each of them may
// be in another pack of it. If the index is damaged, it scans the messages.
func (r *Snapshot) search(q search.Query) (found []Position) {
	index, small := r.s.o.Index, false
	switch {
	case r.Err() != nil || q.Only != nil && len(q.Only) == 0:
		return nil
	case q.Chat != 0:
		r.Find("SELECT message_count <= ? FROM chats WHERE id = ?", []any{r.s.Tuning.Small, q.Chat}, &small)
	}
	switch {
	case r.Err() != nil: // the index is not the cause
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

// matches reads the messages at positions, in their order, until the limit is reached or the page is
// full. The next page begins after the last of them, or after end if it is not nil and all positions
// were read.
func (r *Snapshot) matches(positions []Position, limit int, end *Position) bridge.Page[bridge.Match] {
	page := bridge.Page[bridge.Match]{Items: make([]bridge.Match, 0, min(len(positions), limit))}
	budget, last := &pageBudget{most: r.s.Tuning.Page}, Position{}
	if len(positions) > limit {
		last = positions[limit-1] // also if it was removed
	}
	for row := range r.rowsOf(`
		SELECT `+matchColumns+` FROM json_each(?) wanted
		CROSS JOIN messages m ON m.seq = wanted.value CROSS JOIN chats c ON c.id = m.chat`, seqs(positions[:min(len(positions), limit)])) {
		match, at := r.scanMatch(row)
		if !budget.takes(match.Size()) {
			break
		}
		page.Items, last = append(page.Items, match), at
	}
	switch {
	case len(positions) > limit || budget.full:
		page.NextCursor = MessageCursor(last)
	case end != nil:
		page.NextCursor = MessageCursor(*end)
	}
	return page
}

func seqs(positions []Position) []int64 {
	list := make([]int64, len(positions))
	for i, p := range positions {
		list[i] = p.Seq
	}
	return list
}

func (r *Snapshot) scanMatch(row *sqlite.Row) (match bridge.Match, at Position) {
	var sender int64
	var column sqlite.Raw
	row.Scan(&at.Seq, &match.ChatJID, &match.ChatName, &match.IsGroup, &match.MsgID, &match.FromMe, &sender, &match.PushName,
		&match.MessageType, &match.Content, &column, &match.Timestamp)
	p := r.s.o.People.Get(sender)
	at.Timestamp, match.ChatJID = match.Timestamp.UnixMilli(), r.s.Canonical(match.ChatJID)
	match.SenderJID, match.SenderLID, match.SenderUsername, match.PushName = p.JID(), p.LID, p.UsernameOrNil(), cmp.Or(match.PushName, p.AuthorName())
	var d columns.Details
	r.Decode(column, &d)
	match.Media, match.Transcript = d.Media.Shown(match.ChatJID, match.MsgID), d.Transcript
	return match, at
}
