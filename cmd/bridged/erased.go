package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/media"
	"bridged/internal/store"
)

const (
	// erasedBatch is how many files are removed between two looks at the store.
	erasedBatch = 100
	// erasedRetry is when a file is tried again that could not be removed.
	erasedRetry = time.Minute
)

// removeErased removes the files of deleted messages from the cache until ctx
// ends, also those that an earlier run has left. The store remembers each until
// it is gone.
func removeErased(ctx context.Context, s *store.Store, files *media.Cache, log zerolog.Logger) {
	for {
		err := removeNoted(ctx, s, files)
		var again <-chan time.Time
		if err != nil && ctx.Err() == nil {
			log.Error().Err(err).Msg("files of deleted messages not removed; trying again in a minute")
			again = time.After(erasedRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-s.FilesErased():
		}
	}
}

func removeNoted(ctx context.Context, s *store.Store, files *media.Cache) error {
	for {
		erased, err := s.ErasedFiles(ctx, erasedBatch)
		if err != nil || len(erased) == 0 {
			return err
		}
		for _, file := range erased {
			if err := files.Forget(&file.Media); err != nil {
				return fmt.Errorf("remove a cached file: %w", err)
			}
			if err := s.FileRemoved(ctx, file.ID); err != nil {
				return err
			}
		}
	}
}
