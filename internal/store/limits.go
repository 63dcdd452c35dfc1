package store

import (
	"context"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// newChatLife is how long the beginning of a chat counts.
const newChatLife = 24 * time.Hour

// saveNewChat counts the first message of a chat, or refuses it. A try counts, also one
// that fails: the network has seen it. Another try in the same chat does not count again.
func (t *writeTx) saveNewChat(f bridge.NewChat) {
	if !f.Limit.IsLimited() || !f.Chat.IsPerson() {
		return
	}
	c := t.ensureChat(f.Chat)
	if c.person == t.people.owner || !isNewChat(t.Conn, t.people.canonical(f.Chat)) {
		return
	}
	t.Run("DELETE FROM new_chats WHERE at <= ?", t.at-newChatLife.Milliseconds())
	mayBegin(t.Conn, f.Limit, t.at)
	t.Run("INSERT INTO new_chats (chat, at) VALUES (?, ?)", c.id, t.at)
}

// MayBegin fails with [bridge.CodeNewChatsLimited] if a first message may not be sent
// now. Any of the names may be the chat's: if one of them is not new, none is.
func (s *Store) MayBegin(ctx context.Context, limit bridge.NewChats, names ...bridge.JID) error {
	return s.read(ctx, func(r *readTx) {
		if s.areNew(r, names) {
			mayBegin(r.Conn, limit, s.now())
		}
	})
}

// IsNewChat reports whether nothing was ever sent or received in a chat that has any of
// the names. The chat with oneself is never new.
func (s *Store) IsNewChat(ctx context.Context, names ...bridge.JID) (isNew bool, err error) {
	err = s.read(ctx, func(r *readTx) { isNew = s.areNew(r, names) })
	return isNew, err
}

// areNew reports whether none of the names is that of a chat in use.
func (s *Store) areNew(r *readTx, names []bridge.JID) bool {
	for _, name := range names {
		if p, known := s.people.find(name); known && p.id == s.people.ownerID() || !isNewChat(r.Conn, s.Canonical(name)) {
			return false
		}
	}
	return true
}

// isNewChat reports whether nothing was ever sent or received in a chat. An own message
// that failed was not sent.
func isNewChat(c *db.Conn, canonical bridge.JID) bool {
	var used bool
	c.Find(`
		SELECT used OR EXISTS (SELECT 1 FROM new_chats WHERE chat = chats.id)
			OR EXISTS (SELECT 1 FROM messages WHERE chat = chats.id AND ifnull(status, -1) != ?)
		FROM chats WHERE jid = ?`, []any{statusFailed, string(canonical)}, &used)
	return !used
}

// markUsed keeps a chat from being new again without the message.
func (t *writeTx) markUsed(seq int64) {
	t.Run(`
		UPDATE chats SET used = 1 WHERE used = 0 AND id =
			(SELECT chat FROM messages WHERE seq = ? AND ifnull(status, -1) != ?)`, seq, statusFailed)
}

// mayBegin refuses a new chat beyond the limit, and says when there may be one.
func mayBegin(c *db.Conn, limit bridge.NewChats, now int64) {
	if limit.PerDay > 0 {
		if wait := sinceNewChat(c, limit.PerDay-1, newChatLife, now); wait > 0 {
			c.Fail(newChatsLimited(wait, "the new chats of a day are used up (NEW_CHATS_PER_DAY=%d)", limit.PerDay))
		}
	}
	if wait := sinceNewChat(c, 0, limit.MinGap, now); wait > 0 {
		c.Fail(newChatsLimited(wait, "two new chats are at least %s apart (NEW_CHATS_MIN_GAP)", inWords(limit.MinGap)))
	}
}

// sinceNewChat returns how much is missing from the time that must have passed since
// the last new chat but a few.
func sinceNewChat(c *db.Conn, but int, must time.Duration, now int64) time.Duration {
	var at int64
	if !c.Find("SELECT min(at, ?1) FROM new_chats WHERE at > ?2 ORDER BY at DESC LIMIT 1 OFFSET ?3",
		[]any{now, now - must.Milliseconds(), but}, &at) {
		return 0
	}
	return must - time.Duration(now-at)*time.Millisecond
}

func newChatsLimited(wait time.Duration, because string, args ...any) error {
	refusal := bridge.Fail(bridge.CodeNewChatsLimited, because+": the next may begin in %s; whoever wrote first can be answered at any time",
		append(args, inWords(wait))...)
	refusal.RetryAfter = wait
	return refusal
}

// inWords returns a duration without the parts that are zero: 21h, 1h30m, 4s.
func inWords(d time.Duration) string {
	text := max(d, time.Second).Round(time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

const (
	// numberCheckLife is how long what the network said about a number is kept.
	numberCheckLife = 24 * time.Hour
	// lookUpsPerHour bounds how many numbers the network is asked about: accounts
	// that ask about many are banned.
	lookUpsPerHour = 200
)

// NumberChecks returns what is known of some numbers.
func (s *Store) NumberChecks(ctx context.Context, phones []string) (map[string]bridge.NumberCheck, error) {
	return readAs(ctx, s, "read what is known of numbers", func(r *readTx) map[string]bridge.NumberCheck {
		known := make(map[string]bridge.NumberCheck, len(phones))
		for row := range r.Rows(`
			SELECT c.phone, ifnull(c.jid, ''), c.is_business FROM json_each(?) wanted CROSS JOIN number_checks c ON c.phone = wanted.value
			WHERE c.at > ?`, r.Encode(phones), s.now()-numberCheckLife.Milliseconds()) {
			var c bridge.NumberCheck
			row.Scan(&c.Phone, &c.JID, &c.IsBusiness)
			c.JID = s.Canonical(c.JID)
			known[c.Phone] = c
		}
		return known
	})
}

// saveNumberCheck keeps what the network said about a number.
func (t *writeTx) saveNumberCheck(f bridge.NumberCheck) {
	t.Run(`
		INSERT INTO number_checks (phone, jid, is_business, at) VALUES (?, nullif(?, ''), ?, ?)
		ON CONFLICT (phone) DO UPDATE SET jid = excluded.jid, is_business = excluded.is_business, at = excluded.at`,
		f.Phone, string(f.JID), f.IsBusiness, t.at)
}

// ReserveLookUps counts look-ups of so many numbers before the network is asked,
// or refuses them all with [bridge.CodeLookUpsLimited] where there is no room for
// as many as they may become. They count also when the network does not answer:
// it was asked.
func (s *Store) ReserveLookUps(ctx context.Context, count, room int) error {
	return s.write(ctx, func(t *writeTx) {
		wait := t.untilLookUps(room)
		if wait > 0 {
			refusal := bridge.Fail(bridge.CodeLookUpsLimited, "at most %d numbers an hour are looked up, because accounts that ask about many are banned: ask again in %s",
				lookUpsPerHour, inWords(wait))
			refusal.RetryAfter = wait
			t.Fail(refusal)
			return
		}
		t.Run("DELETE FROM number_look_ups WHERE at <= ?", t.at-time.Hour.Milliseconds())
		t.Run("DELETE FROM number_checks WHERE at <= ?", t.at-numberCheckLife.Milliseconds())
		t.Run("INSERT INTO number_look_ups (at, count) VALUES (?, ?)", t.at, count)
	})
}

// untilLookUps returns how long it takes until so many look-ups are free.
func (t *writeTx) untilLookUps(count int) (wait time.Duration) {
	used, hour := count, time.Hour.Milliseconds()
	for rows := range t.Rows("SELECT min(at, ?1), count FROM number_look_ups WHERE at > ?2 ORDER BY id DESC", t.at, t.at-hour) {
		var at int64
		var n int
		rows.Scan(&at, &n)
		if used += n; used > lookUpsPerHour && wait == 0 {
			wait = time.Duration(at+hour-t.at) * time.Millisecond
		}
	}
	return wait
}
