package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// newChatLife limits how long a new chat counts.
const newChatLife = 24 * time.Hour

// saveNewChat counts the first message of a chat, or refuses it. One that fails counts: the
// network has seen it. Another try in the same chat does not count again.
func (t *writeTx) saveNewChat(f bridge.NewChat) {
	if !f.Limit.IsLimited() || !f.Chat.IsPerson() {
		return
	}
	c := t.ensureChat(f.Chat)
	if c.person == t.people.ownerID() || !isNewChat(t.Conn, t.people.canonical(f.Chat)) {
		return
	}
	t.Run("DELETE FROM new_chats WHERE at <= ?", t.at-newChatLife.Milliseconds())
	mayBegin(t.Conn, f.Limit, t.at)
	t.Run("INSERT INTO new_chats (chat, at) VALUES (?, ?)", c.id, t.at)
}

// MayBegin fails with [bridge.CodeNewChatsLimited] if a chat with all of these names is new,
// and may not be begun now.
func (s *Store) MayBegin(ctx context.Context, limit bridge.NewChats, names ...bridge.JID) error {
	return s.read(ctx, func(r *readTx) {
		if s.areNew(r, names) {
			mayBegin(r.Conn, limit, s.now())
		}
	})
}

// IsNewChat reports whether no chat with any of these names was ever used. The chat with
// oneself is never new.
func (s *Store) IsNewChat(ctx context.Context, names ...bridge.JID) (isNew bool, err error) {
	err = s.read(ctx, func(r *readTx) { isNew = s.areNew(r, names) })
	return isNew, err
}

func (s *Store) areNew(r *readTx, names []bridge.JID) bool {
	for _, name := range names {
		if p, known := s.people.find(name); known && p.id == s.people.ownerID() || !isNewChat(r.Conn, s.Canonical(name)) {
			return false
		}
	}
	return true
}

// isNewChat reports whether a chat was never used. An own message that failed was not sent.
func isNewChat(c *sqlite.Conn, canonical bridge.JID) bool {
	var used bool
	c.Find(`
		SELECT used OR EXISTS (SELECT 1 FROM new_chats WHERE chat = chats.id)
			OR EXISTS (SELECT 1 FROM messages WHERE chat = chats.id AND ifnull(status, -1) != ?)
		FROM chats WHERE jid = ?`, []any{statusFailed, string(canonical)}, &used)
	return !used
}

// mayBegin refuses a new chat beyond the limit, and says when there may be one.
func mayBegin(c *sqlite.Conn, limit bridge.NewChats, now int64) {
	refuseFor := func(wait time.Duration, because string) {
		if wait > 0 {
			refuse(c, bridge.CodeNewChatsLimited, wait, "%s: the next may begin in %s; whoever wrote first can be answered at any time", because, inWords(wait))
		}
	}
	if limit.PerDay > 0 {
		refuseFor(untilFewer(c, "new_chats", limit.PerDay, newChatLife, now), fmt.Sprintf("the new chats of a day are used up (NEW_CHATS_PER_DAY=%d)", limit.PerDay))
	}
	refuseFor(untilFewer(c, "new_chats", 1, limit.MinGap, now), fmt.Sprintf("two new chats are at least %s apart (NEW_CHATS_MIN_GAP)", inWords(limit.MinGap)))
}

// untilFewer returns how long it takes until a table has fewer than so many rows of the last
// hours or days.
func untilFewer(c *sqlite.Conn, table string, many int, last time.Duration, now int64) (wait time.Duration) {
	var at int64
	if c.Find("SELECT min(at, ?1) FROM "+table+" WHERE at > ?2 ORDER BY at DESC LIMIT 1 OFFSET ?3", []any{now, now - last.Milliseconds(), many - 1}, &at) {
		wait = last - time.Duration(now-at)*time.Millisecond
	}
	return wait
}

// refuse fails with an error that says after what time to try again.
func refuse(c *sqlite.Conn, code bridge.Code, wait time.Duration, sentence string, args ...any) {
	refusal := bridge.Fail(code, sentence, args...)
	refusal.RetryAfter = wait
	c.Fail(refusal)
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
	numberCheckLife = 24 * time.Hour
	lookUpsPerHour  = 200 // numbers; accounts that ask about many are banned
	// lookUpsOfTokens is how many of them all tokens have; the others are for BRIDGE_TOKEN.
	lookUpsOfTokens = lookUpsPerHour - lookUpsPerHour/4
)

// NumberChecks returns the answers of the last day to look-ups of some numbers.
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

// saveNumberCheck keeps the network's answer to the look-up of a number.
func (t *writeTx) saveNumberCheck(f bridge.NumberCheck) {
	t.Run("DELETE FROM number_checks WHERE at <= ?", t.at-numberCheckLife.Milliseconds())
	t.Run(`
		INSERT INTO number_checks (phone, jid, is_business, at) VALUES (?, nullif(?, ''), ?, ?)
		ON CONFLICT (phone) DO UPDATE SET jid = excluded.jid, is_business = excluded.is_business, at = excluded.at`,
		f.Phone, string(f.JID), f.IsBusiness, t.at)
}

// ReserveLookUps counts look-ups of so many numbers before the network is asked, or refuses
// them with [bridge.CodeLookUpsLimited] where not even room more are free. They count also
// when the network does not answer, for the family of the context (see [bridge.TreeOf]).
func (s *Store) ReserveLookUps(ctx context.Context, count, room int) error {
	return s.write(ctx, func(t *writeTx) {
		if wait := untilFewer(t.Conn, "number_look_ups", lookUpsPerHour-room+1, time.Hour, t.at); wait > 0 {
			refuse(t.Conn, bridge.CodeLookUpsLimited, wait,
				"at most %d numbers an hour are looked up, because accounts that ask about many are banned: ask again in %s", lookUpsPerHour, inWords(wait))
		}
		const ofTokens = "(SELECT at FROM number_look_ups WHERE family != 0)"
		if wait := untilFewer(t.Conn, ofTokens, lookUpsOfTokens-room+1, time.Hour, t.at); wait > 0 && bridge.TreeOf(ctx) != 0 {
			refuse(t.Conn, bridge.CodeLookUpsLimited, wait,
				"at most %d numbers an hour are looked up for tokens, and the others for BRIDGE_TOKEN: ask again in %s", lookUpsOfTokens, inWords(wait))
		}
		t.Run("DELETE FROM number_look_ups WHERE at <= ?", t.at-time.Hour.Milliseconds())
		for range count {
			t.Run("INSERT INTO number_look_ups (at, family) VALUES (?, ?)", t.at, bridge.TreeOf(ctx))
		}
	})
}
