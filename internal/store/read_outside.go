package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"bridged/internal/bridge"
)

// A reader who may see some chats only knows the people of these chats: whoever is
// one of them, is a member of one, founded one, or wrote, reacted, voted or answered
// an event in one.
// Others are named to them as the messages name them, as if nothing else were
// known of them.

// limitTo has the reader see some chats only; nil is all of them.
func (r *readTx) limitTo(ctx context.Context, only []bridge.JID) error {
	if only == nil {
		return nil
	}
	ids, err := r.chatIDs(ctx, only)
	r.limit = &limit{chats: ids, known: make(map[int64]bool)}
	return err
}

// limit is what a limited reader may see.
type limit struct {
	chats string         // their ids, as an argument of json_each
	known map[int64]bool // the people who were looked for, by id
}

// insideQuery reports whether a person is one of some chats' people.
const insideQuery = `
	SELECT EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN chats c ON c.id = o.value WHERE c.person = ?2)
	OR EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN members m ON m.chat = o.value AND m.person = ?2)
	OR EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN groups g ON g.chat = o.value WHERE g.owner = ?2)
	OR EXISTS (SELECT 1 FROM json_each(?1) o CROSS JOIN messages m INDEXED BY messages_by_sender ON m.chat = o.value AND m.sender = ?2)
	OR EXISTS (SELECT 1 FROM reactions r CROSS JOIN messages m ON m.seq = r.message
		WHERE r.person = ?2 AND m.chat IN (SELECT value FROM json_each(?1)))
	OR EXISTS (SELECT 1 FROM votes v CROSS JOIN messages m ON m.seq = v.message
		WHERE v.person = ?2 AND m.chat IN (SELECT value FROM json_each(?1)))
	OR EXISTS (SELECT 1 FROM event_responses a CROSS JOIN messages m ON m.seq = a.message
		WHERE a.person = ?2 AND m.chat IN (SELECT value FROM json_each(?1)))`

// knows reports whether the reader may know a person.
func (r *readTx) knows(ctx context.Context, p person) (bool, error) {
	if r.limit == nil || p.id == r.s.people.ownerID() {
		return true, nil
	}
	if inside, looked := r.limit.known[p.id]; looked {
		return inside, nil
	}
	var inside bool
	err := r.scan(ctx, insideQuery, []any{r.limit.chats, p.id}, &inside)
	r.limit.known[p.id] = inside
	return inside, err
}

// finder finds a person by a JID in either form.
type finder func(jid bridge.JID) (person, bool)

func (f finder) canonical(jid bridge.JID) bridge.JID {
	if p, known := f(jid); known {
		return p.jid()
	}
	return jid
}

func (f finder) lid(jid bridge.JID) bridge.JID {
	if p, known := f(jid); known {
		return p.lid
	}
	if jid.IsLID() {
		return jid
	}
	return ""
}

// conceal names the people in messages to whom they refer as a limited reader may
// know them.
func (r *readTx) conceal(ctx context.Context, messages []bridge.Message, positions []position) error {
	if r.limit == nil {
		return nil
	}
	bySeq := make(map[int64]*bridge.Message)
	for i := range messages {
		if messages[i].ContextInfo != nil {
			bySeq[positions[i].seq] = &messages[i]
		}
	}
	columns := make(map[int64]details, len(bySeq))
	err := r.eachOf(ctx, "SELECT m.seq, m.details FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value",
		keysOf(bySeq), func(rows *resultSet) error {
			var seq int64
			var column []byte
			if err := rows.Scan(&seq, &column); err != nil {
				return err
			}
			var d details
			err := json.Unmarshal(column, &d)
			columns[seq] = d
			return err
		})
	if err != nil {
		return err
	}
	for seq, d := range columns {
		if err := r.concealOne(ctx, bySeq[seq], d.Context); err != nil {
			return err
		}
	}
	return nil
}

func (r *readTx) concealOne(ctx context.Context, m *bridge.Message, told *contextDetails) error {
	if told == nil {
		return nil
	}
	var failed error
	find := finder(func(jid bridge.JID) (person, bool) {
		p, known := r.s.people.find(jid)
		if !known {
			return person{}, false
		}
		inside, err := r.knows(ctx, p)
		if err != nil {
			failed = err
		}
		if !inside {
			return person{}, false
		}
		return p, true
	})
	m.ContextInfo.QuotedSenderJID = find.canonical(told.QuotedSender)
	m.ContextInfo.Mentions = mentions(find, told.Mentioned, m.Content)
	m.ContextInfo.MentionedJID = mentionedJIDs(m.ContextInfo.Mentions)
	m.Bound()
	return failed
}

func keysOf[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Outsiders returns those of some people whom a caller who may see some chats only
// does not know: people of no such chat, and people of whom nothing is known. Only
// nil is a caller who may see all, and knows everybody.
func (s *Store) Outsiders(ctx context.Context, only, people []bridge.JID) (outside []bridge.JID, err error) {
	if only == nil || len(people) == 0 {
		return nil, nil
	}
	err = s.read(ctx, func(r *readTx) error {
		if err := r.limitTo(ctx, only); err != nil {
			return err
		}
		for _, jid := range people {
			p, known := s.people.find(jid)
			if known {
				if known, err = r.knows(ctx, p); err != nil {
					return err
				}
			}
			if !known {
				outside = append(outside, jid)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for people outside: %w", err)
	}
	return outside, nil
}
