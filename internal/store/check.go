package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/search"
	"bridged/internal/store/storefile"
)

// Damage returns the damage that was found since the store was opened, as a
// [bridge.CodeStorageUnavailable] error that says what to do; nil if none.
func (s *Store) Damage() error {
	return *cmp.Or(s.damage.Load(), s.unchecked.Load(), new(error))
}

// Pauses before a check that could not read the store is tried again.
const (
	firstCheckPause   = time.Minute
	longestCheckPause = time.Hour
)

// checkInBackground looks for damage in every table once after the start, each in a
// snapshot of its own, so that the write-ahead log can be cut off in between, and rests as
// long as it works.
func (s *Store) checkInBackground(ctx context.Context) {
	defer close(s.checked)
	for pause := firstCheckPause; ; pause = min(2*pause, longestCheckPause) {
		if s.check(ctx, func(ctx context.Context) (map[string]string, error) { return storefile.CheckTables(ctx, s.view) }) || !bridge.Sleep(ctx, pause) {
			return
		}
	}
}

// check notes which tables are damaged and reports whether it was completed. An error that
// may pass counts as damage until the next check succeeds.
func (s *Store) check(ctx context.Context, tables func(context.Context) (map[string]string, error)) (done bool) {
	began := time.Now()
	damaged, err := tables(ctx)
	if ctx.Err() != nil {
		return true
	}
	if len(damaged) > 0 {
		s.noteDamagedTables(damaged)
	}
	switch {
	case dbfile.IsDamage(err):
		s.noteDamage(storefile.ExplainRead(ctx, err))
	case err != nil:
		sentence := storefile.ExplainRead(ctx, err)
		s.unchecked.Store(&sentence)
		s.o.Log.Error().Err(err).Msg("cannot check the store; trying again")
		return false
	case len(damaged) == 0:
		s.o.Log.Debug().Dur("took", time.Since(began)).Msg("store checked: no damage")
	}
	s.unchecked.Store(nil)
	return true
}

// noteDamagedTables rebuilds the search index if only that is damaged.
func (s *Store) noteDamagedTables(damaged map[string]string) {
	var causes []error
	for table, verdict := range damaged {
		s.o.Log.Error().Str("table", table).Str("verdict", verdict).Msg("the store is damaged")
		if !search.IsTable(table) {
			causes = append(causes, fmt.Errorf("table %s: %s", table, verdict))
		}
	}
	if len(causes) > 0 {
		s.noteDamage(storefile.Database.Damaged(errors.Join(causes...)))
		return
	}
	if s.index.SetBroken() {
		s.o.Log.Warn().Msg("search index is damaged; searches scan until it is rebuilt")
	}
}

// noteDamage stores the first damage that was found.
func (s *Store) noteDamage(err error) {
	if s.damage.CompareAndSwap(nil, &err) {
		s.o.Log.Error().Err(err).Msg("the store is damaged")
	}
}

func errClosed() error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the store is closed: the program is ending")
}
