// Package maintenance runs the background chores of a bridge. It removes messages, events,
// deliveries, tokens and files that are too old or deleted, and releases memory when the bridge
// is idle.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/files"
	"bridged/internal/store"
	"bridged/internal/webhook"
)

const (
	choresPause = time.Hour
	limitPause  = time.Minute // the event log may exceed its limits for this long
	erasedBatch = 100         // files removed per look at the store
	erasedRetry = time.Minute // after a file could not be removed
)

// Options names what to maintain, and the limits; 0 means no limit.
type Options struct {
	RetentionDays  int
	EventsMaxAge   time.Duration
	EventsMaxCount int

	Store         *store.Store
	Files         *files.Cache
	Imported      *files.Imported
	Webhooks      *webhook.Dispatcher
	ReleaseMemory func(context.Context) error
	Log           zerolog.Logger
}

// Run does the chores until ctx ends.
func Run(ctx context.Context, o Options) {
	var all sync.WaitGroup
	all.Go(func() { do(ctx, choresPause, o.chores(), o.Log) })
	all.Go(func() { do(ctx, limitPause, o.eventLimits(), o.Log) })
	all.Go(func() { idleMemory{allocatedBytes, o.ReleaseMemory, o.Log}.watch(ctx) })
	all.Go(func() { o.removeErased(ctx) })
	all.Wait()
}

// chore is one kind of removal. do returns the number of removed things.
type chore struct {
	subject string // of the log messages
	do      func(ctx context.Context) (int, error)
}

func (o Options) chores() []chore {
	s := o.Store
	list := []chore{
		{"old deliveries", func(ctx context.Context) (int, error) { return 0, s.PruneDeliveries(ctx) }},
		{"changes whose messages never arrived", s.ForgetPending},
		{"expired tokens", func(ctx context.Context) (int, error) {
			removed, err := s.RemoveExpiredTokens(ctx)
			o.Webhooks.Forget(removed.Webhooks)
			return len(removed.Tokens), err
		}},
	}
	if o.RetentionDays > 0 {
		list = append(list, chore{"old messages", func(ctx context.Context) (int, error) {
			return s.Retain(ctx, s.Clock().Now().AddDate(0, 0, -o.RetentionDays))
		}})
	}
	return list
}

// eventLimits returns the chore that holds the event log within its limits. It uses the store's
// clock, which ignores jumps of the system clock.
func (o Options) eventLimits() []chore {
	if o.EventsMaxAge == 0 && o.EventsMaxCount == 0 {
		return nil
	}
	return []chore{{"old events", func(ctx context.Context) (int, error) {
		var before time.Time
		if o.EventsMaxAge > 0 {
			before = o.Store.Clock().Now().Add(-o.EventsMaxAge)
		}
		_, err := o.Store.PruneEvents(ctx, before, o.EventsMaxCount)
		return 0, err // no count: a busy bridge removes some every minute
	}}}
}

// do runs the chores now and after each pause, until ctx ends.
func do(ctx context.Context, pause time.Duration, chores []chore, log zerolog.Logger) {
	for again := true; again; again = bridge.Sleep(ctx, pause) {
		for _, c := range chores {
			c.run(ctx, log)
		}
	}
}

func (c chore) run(ctx context.Context, log zerolog.Logger) {
	removed, err := c.do(ctx)
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		log.Error().Err(err).Msg(c.subject + " could not be removed; trying again later")
	case removed > 0:
		log.Info().Int("count", removed).Msg(c.subject + " removed")
	}
}

// removeErased removes the files of deleted messages from the cache until ctx ends. The store
// lists each file until it is removed.
func (o Options) removeErased(ctx context.Context) {
	for {
		var again <-chan time.Time
		if err := o.removeNoted(ctx); err != nil && ctx.Err() == nil {
			o.Log.Error().Err(err).Msg("cannot remove the files of deleted messages; trying again in a minute")
			again = time.After(erasedRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-o.Store.FilesErased():
		}
	}
}

// Finish removes the files of messages that were deleted after [Run] returned. Call it before the
// store is closed. If ctx ends first, the next start removes the rest.
func Finish(ctx context.Context, o Options) {
	if err := o.removeNoted(ctx); err != nil {
		o.Log.Warn().Err(err).Msg("cannot remove the files of deleted messages; the next start removes them")
	}
}

func (o Options) removeNoted(ctx context.Context) error {
	for {
		erased, err := o.Store.ErasedFiles(ctx, erasedBatch)
		if err != nil || len(erased) == 0 {
			return err
		}
		for _, file := range erased {
			if err := o.remove(ctx, &file.Media); err != nil {
				return err
			}
			if err := o.Store.FileRemoved(ctx, file.ID); err != nil {
				return err
			}
		}
	}
}

func (o Options) remove(ctx context.Context, file *bridge.Media) error {
	if file.Ref.IsImported {
		if err := o.Imported.Remove(ctx, file.Ref.FileSHA256, o.Store.NeedsImportedFile); err != nil {
			return err
		}
	}
	if err := o.Files.Forget(file); err != nil {
		return fmt.Errorf("remove a cached file: %w", err)
	}
	return nil
}
