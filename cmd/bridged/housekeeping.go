package main

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/store"
	"bridged/internal/webhook"
)

// housekeepingPause is the time between two rounds of chores.
const housekeepingPause = time.Hour

// chore removes what is old, and returns how much that was.
type chore struct {
	what string // is removed
	do   func(ctx context.Context) (int, error)
}

// chores returns what the configuration asks for.
func chores(c config, s *store.Store, hooks *webhook.Dispatcher) []chore {
	list := []chore{
		{"old deliveries", func(ctx context.Context) (int, error) { return 0, s.PruneDeliveries(ctx) }},
		{"changes whose messages have not come", s.ForgetPending},
		{"expired tokens", func(ctx context.Context) (int, error) {
			removed, err := s.RemoveExpiredTokens(ctx)
			hooks.Forget(removed.Webhooks)
			return len(removed.Tokens), err
		}},
	}
	if c.RetentionDays > 0 {
		list = append(list, chore{"old messages", func(ctx context.Context) (int, error) {
			return s.Retain(ctx, s.Clock().Now().AddDate(0, 0, -int(c.RetentionDays)))
		}})
	}
	return list
}

// keepHouse does the chores now and hourly, until ctx ends. One that fails
// holds up no other and is done again in an hour.
func keepHouse(ctx context.Context, chores []chore, log zerolog.Logger) {
	ticker := time.NewTicker(housekeepingPause)
	defer ticker.Stop()
	for {
		for _, c := range chores {
			c.run(ctx, log)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (c chore) run(ctx context.Context, log zerolog.Logger) {
	removed, err := c.do(ctx)
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		log.Error().Err(err).Msg(c.what + " not removed; trying again in an hour")
	case removed > 0:
		log.Info().Int("count", removed).Msg(c.what + " removed")
	}
}
