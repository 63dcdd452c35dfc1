package settings

import (
	"context"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

const (
	numberCheckLife = 24 * time.Hour
	lookUpsPerHour  = 200 // numbers; accounts that ask about many are banned
	// lookUpsOfTokens limits the look-ups of all tokens together, so that BRIDGE_TOKEN always has some.
	lookUpsOfTokens = lookUpsPerHour - lookUpsPerHour/4
)

// NumberChecks returns the results of the last day's look-ups of some numbers.
func (t *Tables) NumberChecks(ctx context.Context, phones []string) (map[string]bridge.NumberCheck, error) {
	return view(ctx, t, "read what is known of numbers", func(c *sqlite.Conn) map[string]bridge.NumberCheck {
		known := make(map[string]bridge.NumberCheck, len(phones))
		for row := range c.Rows(`
			SELECT c.phone, ifnull(c.jid, ''), c.is_business FROM json_each(?) wanted CROSS JOIN number_checks c ON c.phone = wanted.value
			WHERE c.at > ?`, c.Encode(phones), t.now()-numberCheckLife.Milliseconds()) {
			var check bridge.NumberCheck
			row.Scan(&check.Phone, &check.JID, &check.IsBusiness)
			check.JID = t.db.Canonical(check.JID)
			known[check.Phone] = check
		}
		return known
	})
}

// SaveNumberCheck stores the result of the look-up of a number.
func SaveNumberCheck(c *sqlite.Conn, at int64, f bridge.NumberCheck) {
	c.Run("DELETE FROM number_checks WHERE at <= ?", at-numberCheckLife.Milliseconds())
	c.Run(`
		INSERT INTO number_checks (phone, jid, is_business, at) VALUES (?, nullif(?, ''), ?, ?)
		ON CONFLICT (phone) DO UPDATE SET jid = excluded.jid, is_business = excluded.is_business, at = excluded.at`,
		f.Phone, string(f.JID), f.IsBusiness, at)
}

// ReserveLookUps counts look-ups of numbers before the network is asked, for the token tree of
// the context (see [bridge.TreeOf]). They count even if the network does not answer. It fails with
// [bridge.CodeLookUpsLimited] if fewer than total are left.
func (t *Tables) ReserveLookUps(ctx context.Context, count, total int) error {
	return t.db.Update(ctx, func(c *sqlite.Conn) {
		now := t.now()
		if wait := UntilFewer(c, "number_look_ups", lookUpsPerHour-total+1, time.Hour, now); wait > 0 {
			Refuse(c, bridge.CodeLookUpsLimited, wait,
				"at most %d people an hour are looked up, because accounts that ask about many are banned: ask again in %s", lookUpsPerHour, InWords(wait))
		}
		const ofTokens = "(SELECT at FROM number_look_ups WHERE family != 0)"
		if wait := UntilFewer(c, ofTokens, lookUpsOfTokens-total+1, time.Hour, now); wait > 0 && bridge.TreeOf(ctx) != 0 {
			Refuse(c, bridge.CodeLookUpsLimited, wait,
				"at most %d people an hour are looked up for tokens, and the others for BRIDGE_TOKEN: ask again in %s", lookUpsOfTokens, InWords(wait))
		}
		c.Run("DELETE FROM number_look_ups WHERE at <= ?", now-time.Hour.Milliseconds())
		for range count {
			c.Run("INSERT INTO number_look_ups (at, family) VALUES (?, ?)", now, bridge.TreeOf(ctx))
		}
	})
}

// UntilFewer returns the time until a table has fewer than many rows of the last hours or days.
func UntilFewer(c *sqlite.Conn, table string, many int, last time.Duration, now int64) (wait time.Duration) {
	var at int64
	if c.Find("SELECT min(at, ?1) FROM "+table+" WHERE at > ?2 ORDER BY at DESC LIMIT 1 OFFSET ?3", []any{now, now - last.Milliseconds(), many - 1}, &at) {
		wait = last - time.Duration(now-at)*time.Millisecond
	}
	return wait
}

// Refuse fails the transaction with an error that contains the time to wait before trying again.
func Refuse(c *sqlite.Conn, code bridge.Code, wait time.Duration, sentence string, args ...any) {
	refusal := bridge.Fail(code, sentence, args...)
	refusal.RetryAfter = wait
	c.Fail(refusal)
}

// InWords returns a duration without the parts that are zero: 21h, 1h30m, 4s.
func InWords(d time.Duration) string {
	text := max(d, time.Second).Round(time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
