package session

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
)

const (
	cleanPause = time.Hour
	// settledAfter is the time after a login in which the network has certainly sent everything
	// unacknowledged again.
	settledAfter = time.Hour
	// maxSecrets is how many message secrets session.db retains. They decrypt votes and edits.
	// The store has the secrets of stored messages.
	maxSecrets = 100_000
)

// KeepClean deletes every hour what whatsmeow stores without need, until ctx ends. openSince
// returns when the connection was opened, and false while it is not open.
func (db *DB) KeepClean(ctx context.Context, openSince func() (since time.Time, ok bool), log zerolog.Logger) {
	ticker := time.NewTicker(cleanPause)
	defer ticker.Stop()
	for {
		secrets, err := db.DeleteSecrets(ctx, maxSecrets)
		since, open := openSince()
		cleared, clearErr := db.clearLeftContent(ctx, since, open, time.Now())
		if err := errors.Join(err, clearErr); err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Msg("cannot clean the session database; trying again in an hour")
		}
		if secrets+cleared > 0 {
			log.Info().Int64("secrets", secrets).Int64("stanzas", cleared).Msg("deleted old message secrets and the content that a killed process left")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// clearLeftContent clears the content that a killed process left (see [clearedContent]), after
// the network has sent all unacknowledged stanzas again. It returns the number of cleared
// stanzas.
func (db *DB) clearLeftContent(ctx context.Context, since time.Time, open bool, now time.Time) (int64, error) {
	if !open || now.Sub(since) < settledAfter {
		return 0, nil
	}
	return db.clearContent(ctx, since)
}
