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
	err = s.read(ctx, func(r *readTx) error {
		return r.each(ctx, `
			SELECT c.phone, ifnull(c.jid, ''), c.is_business FROM json_each(?) wanted CROSS JOIN number_checks c ON c.phone = wanted.value
			WHERE c.at > ?`, []any{string(wanted), s.now() - numberCheckLife.Milliseconds()}, func(rows *resultSet) error {
			var c bridge.NumberCheck
			err := rows.Scan(&c.Phone, &c.JID, &c.IsBusiness)
			c.JID = s.Canonical(c.JID)
			known[c.Phone] = c
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read what is known of numbers: %w", err)
	}
	return known, nil
}

// saveNumberCheck keeps what the network said about a number.
func (t *writeTx) saveNumberCheck(ctx context.Context, f bridge.NumberCheck) error {
	return t.run(ctx, `
		INSERT INTO number_checks (phone, jid, is_business, at) VALUES (?, nullif(?, ''), ?, ?)
		ON CONFLICT (phone) DO UPDATE SET jid = excluded.jid, is_business = excluded.is_business, at = excluded.at`,
		f.Phone, string(f.JID), f.IsBusiness, t.at)
}

// ReserveLookUps counts look-ups of so many numbers before the network is asked,
// or refuses them all with [bridge.CodeLookUpsLimited] where there is no room for
// as many as they may become. They count also when the network does not answer:
// it was asked.
func (s *Store) ReserveLookUps(ctx context.Context, count, room int) error {
	return s.write(ctx, func(ctx context.Context, t *writeTx) error {
		wait, err := t.untilLookUps(ctx, room)
		if err != nil {
			return err
		}
		if wait > 0 {
			refusal := bridge.Fail(bridge.CodeLookUpsLimited, "at most %d numbers an hour are looked up, because accounts that ask about many are banned: ask again in %s",
				lookUpsPerHour, inWords(wait))
			refusal.RetryAfter = wait
			return refusal
		}
		if err := t.forgetLookUps(ctx); err != nil {
			return err
		}
		return t.run(ctx, "INSERT INTO number_look_ups (at, count) VALUES (?, ?)", t.at, count)
	})
}

// untilLookUps returns how long it takes until so many look-ups are free.
func (t *writeTx) untilLookUps(ctx context.Context, count int) (wait time.Duration, err error) {
	used, hour := count, time.Hour.Milliseconds()
	err = t.each(ctx, "SELECT min(at, ?1), count FROM number_look_ups WHERE at > ?2 ORDER BY id DESC", []any{t.at, t.at - hour}, func(rows *resultSet) error {
		var at int64
		var n int
		if err := rows.Scan(&at, &n); err != nil {
			return err
		}
		if used += n; used > lookUpsPerHour && wait == 0 {
			wait = time.Duration(at+hour-t.at) * time.Millisecond
		}
		return nil
	})
	return wait, err
}

// forgetLookUps removes what counts no more.
func (t *writeTx) forgetLookUps(ctx context.Context) error {
	if err := t.run(ctx, "DELETE FROM number_look_ups WHERE at <= ?", t.at-time.Hour.Milliseconds()); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM number_checks WHERE at <= ?", t.at-numberCheckLife.Milliseconds())
}
