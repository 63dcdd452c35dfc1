package session

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
)

const (
	cleanPause = time.Hour
	// settledAfter is how long after a login the network has surely sent again what was
	// not acknowledged.
	settledAfter = time.Hour
	// secretsKept is how many secrets of messages, which open votes and edits,
	// session.db keeps. The store has those of stored messages.
	secretsKept = 100_000
)

// KeepClean deletes hourly what whatsmeow keeps without need, until ctx ends. openSince
// returns since when the account is open; not ok while it is not.
func (db *DB) KeepClean(ctx context.Context, openSince func() (since time.Time, ok bool), log zerolog.Logger) {
	ticker := time.NewTicker(cleanPause)
	defer ticker.Stop()
	for {
		secrets, err := db.DeleteSecrets(ctx, secretsKept)
		since, open := openSince()
		cleared, clearErr := db.clearLeftContent(ctx, since, open, time.Now())
		if err := errors.Join(err, clearErr); err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Msg("session database not cleaned; trying again in an hour")
		}
		if secrets+cleared > 0 {
			log.Info().Int64("secrets", secrets).Int64("stanzas", cleared).Msg("old message secrets deleted, and content that a kill had left")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// clearLeftContent clears content that a killed process left (see [clearedContent]),
// once all that was not acknowledged then has come again, and returns how much.
func (db *DB) clearLeftContent(ctx context.Context, since time.Time, open bool, now time.Time) (int64, error) {
	if !open || now.Sub(since) < settledAfter {
		return 0, nil
	}
	return db.clearContent(ctx, since)
}
