package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"bridged/internal/bridge"
)

// Messages returns a page of a chat's history: [bridge.CodeNotFound] when the chat
// is not stored. Raw is not read.
func (s *Store) Messages(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	var page bridge.Page[bridge.Message]
	read := s.read
	if !blank(q.Q) {
		read = s.searching
	}
	err := read(ctx, func(r *readTx) (err error) {
		if err := r.limitTo(ctx, q.Only); err != nil {
			return err
		}
		page, err = r.history(ctx, q)
		return err
	})
	if err != nil {
		return bridge.Page[bridge.Message]{}, fmt.Errorf("read a history: %w", err)
	}
	return page, nil
}

// messageColumns are what a list shows of a message.
const messageColumns = `m.seq, m.id, m.from_me, m.sender, m.push_name, m.type, m.content, m.details,
	m.timestamp, m.reactions, m.edited_at, m.deleted_at, m.status, m.imported`

// messagesOf reads a query of messageColumns, and of the chat's JID unless all are
// of one chat, reactions and answers included. Most is how many there may be; it
// reads no further than there is room.
func (r *readTx) messagesOf(ctx context.Context, chat bridge.JID, most int, room *pageRoom, query string, args ...any) ([]bridge.Message, []position, error) {
	first := min(most, rowsExpected)
	messages, positions := make([]bridge.Message, 0, first), make([]position, 0, first)
	var reacted []int64
	row := messageRow{chat: r.s.Canonical(chat)}
	err := r.each(ctx, query, args, func(rows *resultSet) error {
		if len(messages) == cap(messages) { // once: a page is rarely half full
			messages = slices.Grow(messages, max(0, most-len(messages))+1)
		}
		messages = append(messages, bridge.Message{})
		m := &messages[len(messages)-1]
		if err := r.scanMessage(rows, &row, m); err != nil {
			return err
		}
		if fits, err := r.fits(ctx, room, m, row); err != nil || !fits {
			messages = messages[:len(messages)-1]
			return cmp.Or(err, errPageFull)
		}
		positions = append(positions, row.at)
		if row.reactions > 0 {
			reacted = append(reacted, row.at.seq)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errPageFull) {
		return nil, nil, err
	}
	if err := r.conceal(ctx, messages, positions); err != nil {
		return nil, nil, err
	}
	if err := r.addQuoted(ctx, messages, positions); err != nil {
		return nil, nil, err
	}
	return messages, positions, r.addAnswersAndReactions(ctx, messages, positions, reacted)
}

// messagesAt reads the messages with certain arrivals, in that order. Those that are
// gone are left out, and those for which there is no room.
func (r *readTx) messagesAt(ctx context.Context, seqs []int64, room *pageRoom) ([]bridge.Message, []position, error) {
	if len(seqs) == 0 {
		return []bridge.Message{}, nil, nil
	}
	list, err := json.Marshal(seqs)
	if err != nil {
		return nil, nil, err
	}
	return r.messagesOf(ctx, "", len(seqs), room, `
		SELECT `+messageColumns+`, c.jid FROM json_each(?) wanted
		CROSS JOIN messages m ON m.seq = wanted.value CROSS JOIN chats c ON c.id = m.chat`, string(list))
}

// messageRow is what messageColumns say beside what a message shows as it is.
type messageRow struct {
	chat                    bridge.JID // of all, where that is known
	at                      position
	sender                  int64
	details                 sql.RawBytes
	reactions               int // how many there are; they are in a table of their own
	edited, deleted, status sql.NullInt64
}

// scanMessage reads messageColumns, and the chat's JID unless it is known, into m,
// where it stands in its list: messages are large. Reactions is left an empty
// list, not nil.
func (r *readTx) scanMessage(rows *resultSet, row *messageRow, m *bridge.Message) error {
	into := [...]any{&row.at.seq, &m.ID, &m.FromMe, &row.sender, &m.PushName, &m.MessageType, &m.Content, &row.details,
		&row.at.timestamp, &row.reactions, &row.edited, &row.deleted, &row.status, &m.Imported, &m.Chat}
	columns := len(into)
	if row.chat != "" {
		columns--
	}
	if err := rows.Scan(into[:columns]...); err != nil {
		return err
	}
	if row.chat == "" {
		m.Chat = r.s.Canonical(m.Chat)
	} else {
		m.Chat = row.chat
	}
	p := r.s.people.get(row.sender)
	m.SenderJID, m.SenderLID, m.SenderUsername, m.PushName = p.jid(), p.lid, p.usernameOrNil(), cmp.Or(m.PushName, p.pushName())
	m.Timestamp = bridge.Millis(row.at.timestamp)
	m.Reactions = make([]bridge.MessageReaction, 0, row.reactions)
	m.EditedAt, m.DeletedAt = timeOf(row.edited), timeOf(row.deleted)
	if row.status.Valid {
		d, err := delivery(row.status.Int64)
		if err != nil {
			return err
		}
		m.Status = &d
	}
	return r.s.unpack(row.details, m)
}

// addAnswersAndReactions reads what others made of messages: the reactions to those
// that have some, the answers to polls and events, and the parts of albums.
func (r *readTx) addAnswersAndReactions(ctx context.Context, messages []bridge.Message, positions []position, reacted []int64) error {
	bySeq := make(map[int64]*bridge.Message)
	var polls, events, albums []int64
	for i := range messages {
		m, seq := &messages[i], positions[i].seq
		bySeq[seq] = m
		if m.Poll != nil {
			polls = append(polls, seq)
		}
		if m.Event != nil {
			events = append(events, seq)
		}
		if m.Album != nil {
			albums = append(albums, seq)
		}
	}
	if err := r.addReactions(ctx, reacted, bySeq); err != nil {
		return err
	}
	for _, seq := range reacted {
		sortReactions(bySeq[seq].Reactions)
	}
	if err := r.addVotes(ctx, polls, bySeq); err != nil {
		return err
	}
	if err := r.addEventResponses(ctx, events, bySeq); err != nil {
		return err
	}
	return r.countArrived(ctx, albums, bySeq)
}

func (r *readTx) addReactions(ctx context.Context, seqs []int64, messages map[int64]*bridge.Message) error {
	return r.eachOf(ctx, `
		SELECT r.message, r.person, r.emoji, r.timestamp
		FROM json_each(?) wanted CROSS JOIN reactions r ON r.message = wanted.value
		WHERE r.emoji != ''`, seqs, func(rows *resultSet) error {
		var seq, person, timestamp int64
		var reaction bridge.MessageReaction
		if err := rows.Scan(&seq, &person, &reaction.Emoji, &timestamp); err != nil {
			return err
		}
		reaction.SenderJID = r.s.people.get(person).jid()
		reaction.Timestamp = bridge.Millis(timestamp)
		m := messages[seq]
		m.Reactions = append(m.Reactions, reaction)
		return nil
	})
}

// sortReactions puts the oldest first.
func sortReactions(reactions []bridge.MessageReaction) {
	slices.SortFunc(reactions, func(a, b bridge.MessageReaction) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp.Time), cmp.Compare(a.SenderJID, b.SenderJID))
	})
}

func (r *readTx) addVotes(ctx context.Context, seqs []int64, messages map[int64]*bridge.Message) error {
	return r.eachOf(ctx, `
		SELECT v.message, v.person, v.hashes
		FROM json_each(?) wanted CROSS JOIN votes v ON v.message = wanted.value`, seqs, func(rows *resultSet) error {
		var seq, person int64
		var hashes []byte
		if err := rows.Scan(&seq, &person, &hashes); err != nil {
			return err
		}
		tally(messages[seq].Poll, r.s.people.get(person).jid(), hashes)
		return nil
	})
}

// eachOf runs a query over a list of ids, which is its one argument.
func (r *readTx) eachOf(ctx context.Context, query string, ids []int64, f func(*resultSet) error) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return r.each(ctx, query, []any{string(list)}, f)
}

// Message returns one message with all that the store has of it, Raw and the place
// of its file included: [bridge.CodeNotFound] when it is not stored.
func (s *Store) Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error) {
	return s.MessageFor(ctx, nil, chat, id)
}

// MessageFor is [Store.Message] for a caller who may see some chats only; nil is
// all of them.
func (s *Store) MessageFor(ctx context.Context, only []bridge.JID, chat bridge.JID, id string) (bridge.Message, error) {
	var m bridge.Message
	err := s.read(ctx, func(r *readTx) error {
		if err := r.limitTo(ctx, only); err != nil {
			return err
		}
		found, err := r.findChat(ctx, chat)
		if err != nil {
			return err
		}
		m, err = r.message(ctx, found, id)
		if errors.Is(err, sql.ErrNoRows) {
			return bridge.NotFound("there is no message %s in the chat %s in the store", id, chat)
		}
		return err
	})
	if err != nil {
		return bridge.Message{}, fmt.Errorf("read a message: %w", err)
	}
	return m, nil
}

// message returns one message of a chat: [sql.ErrNoRows] when there is none.
func (r *readTx) message(ctx context.Context, chat int64, id string) (bridge.Message, error) {
	messages, positions, err := r.messagesOf(ctx, "", 1, nil, `
		SELECT `+messageColumns+`, c.jid FROM messages m JOIN chats c ON c.id = m.chat
		WHERE m.chat = ? AND m.id = ?`, chat, id)
	if err != nil {
		return bridge.Message{}, err
	}
	if len(messages) == 0 {
		return bridge.Message{}, sql.ErrNoRows
	}
	return messages[0], r.addRaw(ctx, &messages[0], positions[0].seq)
}

func (r *readTx) addRaw(ctx context.Context, m *bridge.Message, seq int64) error {
	var ref string
	var wire []byte
	err := r.scan(ctx, "SELECT raw, ifnull(media_ref, ''), wire_id, view_once, expiration FROM message_raw WHERE seq = ?",
		[]any{seq}, &m.Raw, &ref, &wire, &m.ViewOnce, &m.Expiration)
	m.WireID = string(wire)
	if err != nil || ref == "" || m.Media == nil {
		return err
	}
	return json.Unmarshal([]byte(ref), &m.Media.Ref)
}
