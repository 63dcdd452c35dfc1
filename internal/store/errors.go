package store

import (
	"context"
	"encoding/json"
	"errors"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
)

// database is how people are told of the store's file.
var database = dbfile.Database{
	Name: "bridged.db",
	Repair: "stop bridged, put a copy made with `bridged backup` in its place (delete bridged.db-wal and bridged.db-shm) and start again; " +
		"without a copy, move it away to begin with an empty store",
}

// explain turns what SQLite refuses, and stored JSON that cannot be read, into
// an error of [bridge.CodeStorageUnavailable], for which nothing may be
// acknowledged. Other errors stay as they are.
func explain(err error) error {
	var known *bridge.Error
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &known) && (errors.As(err, &syntax) || errors.As(err, &kind)) {
		return database.Damaged(err)
	}
	return database.Explain(err)
}

// explainRead explains an error of reading, where everything that a caller or
// the end of ctx does not account for is the store's: a row that
// cannot be decoded is damage that SQLite has not noticed.
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
	return database.Damaged(err)
}

func errClosed() error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the store is closed: the program is ending")
}
