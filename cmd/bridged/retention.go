package main

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/store"
)

// retentionPause is how often old messages are looked for.
const retentionPause = time.Hour

// retain removes messages older than a number of days, now and hourly, until
// ctx ends. Without a number everything is kept.
func retain(ctx context.Context, s *store.Store, days int, log zerolog.Logger) {
	if days <= 0 {
		return
	}
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for {
		removed, err := s.Retain(ctx, time.Now().AddDate(0, 0, -days))
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			log.Error().Err(err).Msg("old messages not removed; trying again in an hour")
		case removed > 0:
			log.Info().Int("messages", removed).Int("older_than_days", days).Msg("old messages removed")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
