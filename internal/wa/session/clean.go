package session

import (
	"context"
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

// Cleaner deletes from session.db what whatsmeow keeps without need.
type Cleaner struct {
	DB *DB
	// OpenSince returns since when the account is open; not ok while it is not.
	OpenSince func() (since time.Time, ok bool)
	Log       zerolog.Logger
}

// Run cleans hourly until ctx ends.
func (c *Cleaner) Run(ctx context.Context) {
	ticker := time.NewTicker(cleanPause)
	defer ticker.Stop()
	for {
		if n, err := c.DB.DeleteSecrets(ctx, secretsKept); err != nil && ctx.Err() == nil {
			c.Log.Warn().Err(err).Msg("old message secrets not deleted; trying again in an hour")
		} else if n > 0 {
			c.Log.Info().Int64("secrets", n).Msg("old message secrets deleted")
		}
		if err := c.clearLeftContent(ctx, time.Now()); err != nil && ctx.Err() == nil {
			c.Log.Warn().Err(err).Msg("content that a kill left in the session database not cleared; trying again in an hour")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// clearLeftContent clears content that a killed process left (see [clearedContent]),
// once all that was not acknowledged then has come again.
func (c *Cleaner) clearLeftContent(ctx context.Context, now time.Time) error {
	since, open := c.OpenSince()
	if !open || now.Sub(since) < settledAfter {
		return nil
	}
	n, err := c.DB.clearContent(ctx, since)
	if err == nil && n > 0 {
		c.Log.Info().Int64("stanzas", n).Msg("content of stored messages cleared, which a kill had left")
	}
	return err
}
