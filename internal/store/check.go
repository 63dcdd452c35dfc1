package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/search"
	"bridged/internal/sqlite"
	"bridged/migrations"
)

// Damage returns the damage that was found since the store was opened, as a
// [bridge.CodeStorageUnavailable] error that says what to do; nil for none.
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
		if s.check(ctx, s.checkTables) || !bridge.Sleep(ctx, pause) {
			return
		}
	}
}

// check notes which tables are damaged and reports whether it came to an end. An error that
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
		s.noteDamage(explainRead(ctx, err))
	case err != nil:
		sentence := explainRead(ctx, err)
		s.unchecked.Store(&sentence)
		s.o.Log.Error().Err(err).Msg("store not checked; trying again")
		return false
	case len(damaged) == 0:
		s.o.Log.Debug().Dur("took", time.Since(began)).Msg("store checked: no damage")
	}
	s.unchecked.Store(nil)
	return true
}

// checkTables returns SQLite's verdicts on damaged tables, by name.
func (s *Store) checkTables(ctx context.Context) (damaged map[string]string, err error) {
	c, err := sqlite.Open(s.o.Path, readerPragmas)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	tables, err := realTables(ctx, c)
	if err != nil {
		return nil, err
	}
	damaged = make(map[string]string)
	for _, table := range tables {
		began, verdict := time.Now(), ""
		err := c.Use(ctx, func() { c.Find(`PRAGMA quick_check("`+table+`")`, nil, &verdict) })
		switch {
		case dbfile.IsDamage(err):
			damaged[table] = err.Error()
		case err != nil:
			return damaged, err
		case verdict != "ok":
			damaged[table] = verdict
		}
		if !bridge.Sleep(ctx, time.Since(began)) {
			return damaged, ctx.Err()
		}
	}
	return damaged, nil
}

// realTables returns the tables that have pages, first the schema with the list of free
// pages.
func realTables(ctx context.Context, c *sqlite.Conn) (names []string, err error) {
	err = c.Use(ctx, func() {
		names = sqlite.List[string](c, "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")
	})
	return append([]string{"sqlite_schema"}, names...), err
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
		s.noteDamage(database.Damaged(errors.Join(causes...)))
		return
	}
	if s.index.SetBroken() {
		s.o.Log.Warn().Msg("search index is damaged; searches scan until it is rebuilt")
	}
}

// noteDamage keeps the first damage that was found.
func (s *Store) noteDamage(err error) {
	if s.damage.CompareAndSwap(nil, &err) {
		s.o.Log.Error().Err(err).Msg("the store is damaged")
	}
}

// applicationID marks a SQLite file as a store of ours ("brdg").
const applicationID = 0x62726467

// database describes the store's file.
var database = dbfile.Database{
	Name: "bridged.db",
	Repair: "stop bridged, put a copy made with `bridged backup` in its place (delete bridged.db-wal and bridged.db-shm) and start again; " +
		"without a copy, move it away to begin with an empty store",
	Application: applicationID, SchemaQuery: "PRAGMA user_version", Schema: len(migrations.Names()),
}

// File describes the store's file, for the doctor.
func File() dbfile.Database { return database }

// explain turns errors of SQLite, and of stored JSON, into [bridge.CodeStorageUnavailable].
// Other errors stay as they are.
func explain(err error) error {
	var known *bridge.Error
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &known) && (errors.As(err, &syntax) || errors.As(err, &kind)) {
		return database.Unreadable(err)
	}
	return database.Explain(err)
}

// explainRead explains an error of reading. If neither SQLite nor ctx caused it, a row cannot be
// decoded.
func explainRead(ctx context.Context, err error) error {
	err = explain(err)
	var known *bridge.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return database.Unreadable(err)
}

func errClosed() error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the store is closed: the program is ending")
}
