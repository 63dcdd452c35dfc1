package read

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
)

// Chats lists chats, the one with the latest message first. Chats without messages come last, by JID.
func (s *Reader) Chats(ctx context.Context, q bridge.ChatQuery) (bridge.Page[bridge.Chat], error) {
	return As(ctx, s, "list chats", func(r *Snapshot) bridge.Page[bridge.Chat] {
		query, args := r.ChatsQuery(q)
		var ids []int64
		page := sqlite.Page(r.Conn, ListChats, sqlite.LimitOf(q.Limit), query, args, func(row *sqlite.Row) (bridge.Chat, []any) {
			chat, id, recency := r.scanChat(row)
			ids = append(ids, id)
			return chat, []any{recency, chat.JID}
		})
		r.addLastMessages(page.Items, ids)
		return page
	})
}

// selectChats reads chats for lists. One that is marked as unread has at least one unread
// message.
const selectChats = `SELECT c.id, c.jid, ifnull(c.person, 0), c.is_group, c.name, c.last_message_at, c.participants,
	max(c.unread, c.marked_unread), c.archived, c.pinned, c.muted_until,
	ifnull((SELECT p.timer FROM people p WHERE p.id = c.person), c.timer), ` + chatLabels + `, c.recency FROM chats c WHERE `

func (r *Snapshot) ChatsQuery(q bridge.ChatQuery) (string, []any) {
	var f sqlite.Filter
	f.Add("NOT c.hidden")
	if q.Type == bridge.ChatsGroup || q.Type == bridge.ChatsIndividual {
		f.Add("c.is_group = ?", q.Type == bridge.ChatsGroup)
	}
	r.addKind(&f, q.Kind)
	if q.Only != nil {
		f.Add("c.id IN (SELECT value FROM json_each(?))", r.chatIDs(q.Only))
	}
	if q.Unread != nil {
		f.Add("max(c.unread, c.marked_unread) > 0 = ?", *q.Unread)
	}
	if q.Unanswered != nil {
		f.Add("ifnull((SELECT from_me FROM messages WHERE chat = c.id ORDER BY timestamp DESC, seq DESC LIMIT 1), 1) <> ?", *q.Unanswered)
	}
	if q.Archived != nil {
		f.Add("c.archived = ?", *q.Archived)
	}
	if q.Pinned != nil {
		f.Add("c.pinned = ?", *q.Pinned)
	}
	if q.Label != "" {
		f.Add("EXISTS (SELECT 1 FROM chat_labels l CROSS JOIN labels k ON k.id = l.label AND k.at > 0 WHERE l.label = ? AND l.chat = c.jid AND l.at > 0)", q.Label)
	}
	var recency int64
	var jid string
	if r.After(ListChats, q.Cursor, &recency, &jid) {
		f.Add("(c.recency, c.jid) > (?, ?)", recency, jid)
	}
	if !search.IsBlank(q.Q) {
		needle := folding.FoldStripped(q.Q)
		f.Add("(instr(c.folded_name, ?) > 0 OR instr(c.jid, ?) > 0)", needle, needle)
	}
	return selectChats + f.Where() + " ORDER BY c.recency, c.jid" + sqlite.Limited + " OFFSET ?", append(f.Args, sqlite.LimitOf(q.Limit)+1, max(q.Offset, 0))
}

// addKind adds the condition for chats of a kind. Each chat has exactly one kind.
func (r *Snapshot) addKind(f *sqlite.Filter, kind bridge.ChatKind) {
	const isCommunity = "(SELECT is_community FROM groups g WHERE g.chat = c.id)"
	switch kind {
	case bridge.KindGroup:
		f.Add("c.is_group AND NOT " + isCommunity)
	case bridge.KindCommunity:
		f.Add("c.is_group AND " + isCommunity)
	case bridge.KindIndividual:
		f.Add("NOT c.is_group AND c.person != ?", r.s.o.People.OwnerID())
	case bridge.KindSelf:
		f.Add("NOT c.is_group AND c.person = ?", r.s.o.People.OwnerID())
	case bridge.KindImported:
		f.Add("NOT c.is_group AND +c.person IS NULL") // its index has all groups, too
	}
}

// scanChat reads a row of selectChats. The last message is read separately.
func (r *Snapshot) scanChat(row *sqlite.Row) (chat bridge.Chat, id, recency int64) {
	var person int64
	var labels string
	row.Scan(&id, &chat.JID, &person, &chat.IsGroup, &chat.Name, &chat.LastMessageAt, &chat.Participants,
		&chat.UnreadCount, &chat.Archived, &chat.Pinned, &chat.MutedUntil, &chat.Expiration, &labels, &recency)
	ids, err := labelIDs(labels)
	r.Fail(err)
	chat.Labels = ids
	if person != 0 {
		p := r.s.o.People.Get(person)
		chat.LID, chat.Username = p.LID, p.UsernameOrNil()
	}
	if chat.MutedUntil != nil && chat.MutedUntil.UnixMilli() <= r.s.o.Now() {
		chat.MutedUntil = nil
	}
	return chat, id, recency
}

// LastMessagesQuery looks up the newest message of each chat in an index. It reads only the beginning
// of a long text: the preview, and a few characters for cutting it.
var LastMessagesQuery = fmt.Sprintf(`
	SELECT m.chat, m.id, m.from_me, m.sender, m.push_name, m.type, substr(m.content, 1, %d), m.timestamp, m.deleted_at, ifnull(m.status, -1),
		iif(json_valid(m.details), ifnull(m.details ->> '$."1"', 0), 0), ifnull(iif(json_valid(m.details), m.details -> '$.m', NULL), '')
	FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = (
		SELECT seq FROM messages WHERE chat = wanted.value ORDER BY timestamp DESC, seq DESC LIMIT 1)`,
	bridge.MaxPreview+32)

// addLastMessages adds the last messages of chats, whose ids are in the same order.
func (r *Snapshot) addLastMessages(chats []bridge.Chat, ids []int64) {
	byID := make(map[int64]*bridge.Chat, len(chats))
	wanted := make([]int64, 0, len(chats))
	for i := range chats {
		if chats[i].LastMessageAt != nil {
			byID[ids[i]] = &chats[i]
			wanted = append(wanted, ids[i])
		}
	}
	for row := range r.rowsOf(LastMessagesQuery, wanted) {
		var m bridge.LastMessage
		var chat, sender, status int64
		var media string
		row.Scan(&chat, &m.ID, &m.FromMe, &sender, &m.PushName, &m.MessageType, &m.Content, &m.Timestamp, &m.DeletedAt, &status, &m.ViewOnce, &media)
		if media != "" && m.DeletedAt == nil {
			m.Media = new(bridge.LastMedia)
			r.Fail(json.Unmarshal([]byte(media), m.Media))
		}
		if status != -1 {
			d, err := columns.Delivery(status)
			r.Fail(err)
			m.Status = &d
		}
		p := r.s.o.People.Get(sender)
		m.SenderJID, m.PushName = p.JID(), cmp.Or(m.PushName, p.AuthorName())
		m.Bound()
		if c := byID[chat]; c != nil {
			c.LastMessage = &m
		}
	}
}

// Chat returns one chat: [bridge.CodeNotFound] when it is not stored.
func (s *Reader) Chat(ctx context.Context, jid bridge.JID) (bridge.Chat, error) {
	return As(ctx, s, "read a chat", func(r *Snapshot) bridge.Chat {
		chat, found := r.chat(r.FindChat(jid))
		if !found {
			r.Fail(bridge.NoChat(jid))
		}
		return chat
	})
}

// chat returns the chat with an id, and reports whether there is one.
func (r *Snapshot) chat(id int64) (bridge.Chat, bool) {
	for row := range r.Rows(selectChats+"c.id = ?", id) {
		chat, _, _ := r.scanChat(row)
		chats := []bridge.Chat{chat}
		r.addLastMessages(chats, []int64{id})
		return chats[0], true
	}
	return bridge.Chat{}, false
}

// FindChat returns the id of the chat of a JID in either form. Memory may know newer
// identities than the snapshot, so it looks for all of a person's JIDs.
func (r *Snapshot) FindChat(jid bridge.JID) (id int64) {
	canonical := r.s.Canonical(jid)
	if !r.Find("SELECT id FROM chats WHERE jid IN (?, ?, ?) AND NOT hidden ORDER BY jid = ? DESC LIMIT 1",
		[]any{canonical, jid, r.s.LIDOf(jid), canonical}, &id) {
		r.Fail(bridge.NoChat(jid))
	}
	return id
}

// ChatSetQuery looks JIDs up in the snapshot, because the directory of people may be a transaction
// older or newer.
const ChatSetQuery = `
	SELECT c.id FROM json_each(?1) named CROSS JOIN chats c ON c.jid = named.value
	UNION ALL
	SELECT c.id FROM json_each(?1) named CROSS JOIN people p ON p.pn = named.value CROSS JOIN chats c ON c.person = p.id
	UNION ALL
	SELECT c.id FROM json_each(?1) named CROSS JOIN identities i ON i.lid = named.value CROSS JOIN chats c ON c.person = i.person`

// chatSet returns the ids of those chats that are stored, by any of their JIDs; nil for nil.
func (r *Snapshot) chatSet(jids []bridge.JID) map[int64]bool {
	if jids == nil {
		return nil
	}
	ids := make(map[int64]bool, len(jids))
	for _, id := range sqlite.List[int64](r.Conn, ChatSetQuery, r.Encode(jids)) {
		ids[id] = true
	}
	return ids
}

// chatIDs returns the same as an argument of json_each.
func (r *Snapshot) chatIDs(jids []bridge.JID) string { return r.Encode(keysOf(r.chatSet(jids))) }

// ChatTimer returns the timer for disappearing messages of a chat, which need not be stored:
// 0 seconds when it is off or not known.
func (s *Reader) ChatTimer(ctx context.Context, jid bridge.JID) (bridge.ChatTimer, error) {
	return As(ctx, s, "read a chat's timer", func(r *Snapshot) bridge.ChatTimer {
		timer := bridge.ChatTimer{Chat: jid}
		if jid.IsGroup() {
			r.Find("SELECT timer FROM chats WHERE jid = ?", []any{jid}, &timer.Seconds)
		} else if p, known := s.o.People.Find(jid); known {
			r.Find("SELECT timer, nullif(timer_set_at, 0) FROM people WHERE id = ?", []any{p.ID}, &timer.Seconds, &timer.SetAt)
		}
		return timer
	})
}
