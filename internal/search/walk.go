package search

import (
	"container/heap"
	"math"

	"bridged/internal/sqlite"
)

// Walk finds the first messages of a query without a needle that pass a filter. It merges the
// chats in the order of the query and reads about most rows. If that was not enough, end is the
// position up to which the result is complete. end always comes after the query's After, so that
// paging makes progress.
func (q Query) Walk(c *sqlite.Conn, f Filter, most int) (found []Position, end *Position) {
	q.narrow()
	f.Sender = q.Sender
	w := walk{Query: q, topK: topK{desc: q.Desc, limit: q.Limit}}
	w.start(c, f)
	for len(w.streams) > 0 && c.Err() == nil {
		next := w.streams[0].at
		if w.settled(next) {
			break
		}
		if w.looked >= most && (q.After == nil || q.After.compare(next, q.Desc) < 0) {
			return w.upTo(next), &next
		}
		w.step(c)
	}
	return w.positions, nil
}

// walk is a heap of streams. The first stream may contain the next message.
type walk struct {
	Query
	topK
	streams []*stream
	looked  int // rows read; finding a stream's first row counts as seekCost
}

// stream is the unread rest of a path through a chat.
type stream struct {
	path
	chat int64
	at   Position // read up to here
	some int      // number of rows to read next
}

const (
	// firstRows is how many rows of a stream are read first if there are several streams. The
	// number doubles each time, up to mostRows.
	firstRows = 16
	mostRows  = 4096
	// seekCost is the number of rows that can be read in the time of finding the first one.
	seekCost = 8
)

// walkedChats selects the chats with messages since a time, latest first.
const walkedChats = "SELECT c.id, c.recency FROM chats c INDEXED BY chats_by_recency WHERE c.recency <= ?"

// start opens the streams of the chats that the query may be about.
func (w *walk) start(c *sqlite.Conn, f Filter) {
	start := Position{math.MaxInt64, math.MaxInt64}
	if !w.Desc {
		start = Position{math.MinInt64, math.MinInt64}
	}
	paths := f.paths()
	open := func(chat int64, first Position) {
		for _, bound := range []*Position{w.After, w.bound()} {
			if bound != nil && first.compare(*bound, w.Desc) < 0 {
				first = *bound
			}
		}
		for _, p := range paths {
			w.streams = append(w.streams, &stream{path: p, chat: chat, at: first, some: firstRows})
		}
	}
	switch {
	case w.Chat != 0 && w.isAmongChats(c):
		open(w.Chat, start)
		for _, s := range w.streams {
			s.some = max(firstRows, min(w.limit, mostRows))
		}
	case w.Chat == 0:
		for chat, latest := range w.chats(c) {
			if w.Desc {
				start.Timestamp = latest
			}
			open(chat, start)
		}
	}
	heap.Init(w)
}

// bound returns the position just before the time range in the query's direction, or nil.
func (w *walk) bound() *Position {
	switch {
	case w.Desc && w.Until != nil:
		return &Position{*w.Until, math.MaxInt64}
	case !w.Desc && w.Since != nil:
		return &Position{*w.Since, math.MinInt64}
	}
	return nil
}

// isAmongChats reports whether the query's chat passes its own conditions on chats.
func (w *walk) isAmongChats(c *sqlite.Conn) bool {
	group, one := w.group()
	return (w.Only == nil || w.Only[w.Chat]) && (!one || c.Find("SELECT 1 FROM chats WHERE id = ? AND is_group = ?", []any{w.Chat, group}, new(int)))
}

// chats returns the chats to read, each with the time of its latest message.
func (w *walk) chats(c *sqlite.Conn) func(yield func(chat, latest int64) bool) {
	oldest := int64(math.MaxInt64 - 1) // chats without messages sort last
	if w.Since != nil {
		oldest = -*w.Since
	}
	query, args := walkedChats, []any{oldest}
	if group, one := w.group(); one {
		query, args = query+" AND c.is_group = ?", append(args, group)
	}
	return func(yield func(chat, latest int64) bool) {
		for row := range c.Rows(query, args...) {
			var chat, recency int64
			row.Scan(&chat, &recency)
			if (w.Only == nil || w.Only[chat]) && !yield(chat, -recency) {
				return
			}
		}
	}
}

// step reads the next rows of the first stream.
func (w *walk) step(c *sqlite.Conn) {
	s := w.streams[0]
	query, args := w.rowsQuery(s)
	rows := 0
	for row := range c.Rows(query, args...) {
		var wanted bool
		if !row.Scan(&s.at.Seq, &s.at.Timestamp, &wanted) {
			return
		}
		if rows++; wanted {
			w.add(s.at)
		}
	}
	w.looked += seekCost + rows
	if rows < s.some {
		heap.Pop(w)
		return
	}
	s.some = min(2*s.some, mostRows)
	heap.Fix(w, 0)
}

// rowsQuery selects the next rows of a stream and whether each passes the filter. It leaves out
// rows that come too late for the result.
func (w *walk) rowsQuery(s *stream) (string, []any) {
	since, until := int64(math.MinInt64), int64(math.MaxInt64)
	if w.Since != nil {
		since = *w.Since
	}
	if w.Until != nil {
		until = *w.Until
	}
	than := ">"
	if w.Desc {
		than, until = "<", min(until, s.at.Timestamp)
	} else {
		since = max(since, s.at.Timestamp)
	}
	if w.full() && w.Desc {
		since = max(since, w.positions[w.limit-1].Timestamp)
	} else if w.full() {
		until = min(until, w.positions[w.limit-1].Timestamp)
	}
	wanted, args := s.rest.where()
	args = append(append(args, s.chat), s.args...)
	return "SELECT m.seq, m.timestamp, " + wanted + " FROM messages m INDEXED BY " + s.index + `
		WHERE m.chat = ? AND ` + s.where + " AND m.timestamp BETWEEN ? AND ? AND (m.timestamp, m.seq) " + than + " (?, ?)" +
		w.Order() + sqlite.Limited, append(args, since, until, s.at.Timestamp, s.at.Seq, s.some)
}

// upTo returns the results up to a position.
func (w *walk) upTo(end Position) []Position {
	found := w.positions
	for len(found) > 0 && end.compare(found[len(found)-1], w.Desc) < 0 {
		found = found[:len(found)-1]
	}
	return found
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (w *walk) Len() int           { return len(w.streams) }
func (w *walk) Less(i, j int) bool { return w.streams[i].at.compare(w.streams[j].at, w.Desc) < 0 }
func (w *walk) Swap(i, j int)      { w.streams[i], w.streams[j] = w.streams[j], w.streams[i] }
func (w *walk) Push(s any)         { w.streams = append(w.streams, s.(*stream)) }

func (w *walk) Pop() any {
	last := len(w.streams) - 1
	s := w.streams[last]
	w.streams = w.streams[:last]
	return s
}
