package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

const (
	// numberCheckLife is how long what the network said about a number is kept.
	numberCheckLife = 24 * time.Hour
	// lookUpsPerHour bounds how many numbers the network is asked about: accounts
	// that ask about many are banned.
	lookUpsPerHour = 200
)

// NumberChecks returns what is known of some numbers.
func (s *Store) NumberChecks(ctx context.Context, phones []string) (map[string]bridge.NumberCheck, error) {
	wanted, err := json.Marshal(phones)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bridge.NumberCheck, len(phones))
	err = s.read(ctx, func(r *readTx) {
		for rows := range r.Rows(`
			SELECT c.phone, ifnull(c.jid, ''), c.is_business FROM json_each(?) wanted CROSS JOIN number_checks c ON c.phone = wanted.value
			WHERE c.at > ?`, string(wanted), s.now()-numberCheckLife.Milliseconds()) {
			var c bridge.NumberCheck
			rows.Scan(&c.Phone, &c.JID, &c.IsBusiness)
			c.JID = s.Canonical(c.JID)
			known[c.Phone] = c
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read what is known of numbers: %w", err)
	}
	return known, nil
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
		t.forgetLookUps()
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

// forgetLookUps removes what counts no more.
func (t *writeTx) forgetLookUps() {
	t.Run("DELETE FROM number_look_ups WHERE at <= ?", t.at-time.Hour.Milliseconds())
	t.Run("DELETE FROM number_checks WHERE at <= ?", t.at-numberCheckLife.Milliseconds())
}
