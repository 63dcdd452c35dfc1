package session

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/store/sqlstore/upgrades"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/dbfile"
	"bridged/internal/wa/convert"
)

// file describes session.db. whatsmeow counts its schema in a table; an older program can use
// a newer schema that is compatible (go.mau.fi/util/dbutil, getVersion).
var file = dbfile.Database{
	Name:        "session.db",
	Repair:      "stop bridged, delete session.db, session.db-wal and session.db-shm, start again and pair the account; messages are stored elsewhere",
	SchemaQuery: "SELECT coalesce(nullif(compat, 0), version) FROM whatsmeow_version LIMIT 1",
	Schema:      len(upgrades.Table),
}

// File describes session.db, for the doctor.
func File() dbfile.Database { return file }

// Explain adds a remedy to an error of session.db, if it knows one.
func Explain(err error) error { return file.Explain(err) }

// DB is session.db, with the keys of the linked device. It has a single connection, so that the
// transaction of a decryption does not mix with the reads and writes of a send. Transactions wait
// for the disk, except for decryptions (see [lagging]).
type DB struct {
	sql       *sql.DB
	container *sqlstore.Container // whatsmeow's stores over SQL
	lids      lidMap
	path      string
	log       zerolog.Logger // for errors of Close
	watch     *dbfile.Watch  // of the files; nil without one
	// keeper holds the file open. An interrupted statement closes its connection, and SQLite
	// would remove the write-ahead log with the last connection.
	keeper *sql.DB
	// Created says that there was no file when the database was opened.
	Created bool
}

// Open opens session.db, or creates it if there is none, and upgrades whatsmeow's tables.
func Open(ctx context.Context, path string, log zerolog.Logger) (_ *DB, err error) {
	db, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	db.log = log
	db.container = sqlstore.NewWithDB(db.sql, "sqlite", newLogger(log, nil))
	db.lids.present.Store(db.container.LIDMap)
	if err := db.container.Upgrade(ctx); err != nil {
		return nil, errors.Join(opening(path, db.explainUpgrade(ctx, err)), db.Close())
	}
	return db, nil
}

// opening explains why session.db cannot be opened.
func opening(path string, err error) error {
	return fmt.Errorf("open %s: %w", path, file.ExplainOpening(path, err))
}

// explainUpgrade explains why whatsmeow did not upgrade its tables: perhaps they are newer.
func (db *DB) explainUpgrade(ctx context.Context, err error) error {
	var schema int
	if db.sql.QueryRowContext(ctx, file.SchemaQuery).Scan(&schema) == nil && schema > file.Schema {
		return file.Newer(schema)
	}
	return err
}

// openFile opens and checks the database, without looking at its tables.
func openFile(ctx context.Context, path string) (_ *DB, err error) {
	created, err := prepareFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := dbfile.MakePrivate(path, 0o600); err != nil {
		return nil, opening(path, err)
	}
	db := &DB{path: path, Created: created}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.closePools())
		}
	}()
	connector, err := newConnector(dsn(path, "rw"))
	if err != nil {
		return nil, opening(path, err)
	}
	db.keeper, db.sql = sql.OpenDB(connector), sql.OpenDB(connector)
	db.keeper.SetMaxOpenConns(1)
	db.sql.SetMaxOpenConns(1)
	for _, pool := range []*sql.DB{db.sql, db.keeper} {
		if err := checkPages(ctx, pool, path); err != nil {
			return nil, err
		}
	}
	return db, nil
}

// dsn returns the driver's name of the file. Deleted content is overwritten, and temporary files,
// which would contain keys, are held in memory.
func dsn(path, mode string) string {
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)", "temp_store(MEMORY)",
	}}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
}

// prepareFile refuses a file that is not a database, and creates one if there is none. SQLite
// would accept an emptied file as a new database, and the session would silently be lost.
func prepareFile(ctx context.Context, path string) (created bool, err error) {
	switch err := file.CheckHead(path); {
	case errors.Is(err, fs.ErrNotExist):
		return true, createFile(ctx, path)
	case err != nil:
		return false, opening(path, err)
	}
	return false, nil
}

// createFile creates a database under another name and renames it when it is complete.
// Connections then only open existing files, so that a removed file is never replaced by an empty
// one.
func createFile(ctx context.Context, path string) error {
	if _, err := os.Stat(path + "-wal"); err == nil {
		return fmt.Errorf("%s is missing, but %s-wal exists: put session.db back next to it,  "+
			"or delete %s-wal and pair the account again", path, path, path)
	}
	draft := path + ".new"
	for _, left := range []string{draft, draft + "-wal", draft + "-shm", draft + "-journal"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return opening(path, err)
		}
	}
	db, err := sql.Open("sqlite", dsn(draft, "rwc"))
	if err != nil {
		return opening(path, err)
	}
	_, err = db.ExecContext(ctx, "VACUUM") // writes the first page
	if err := errors.Join(err, db.Close()); err != nil {
		return opening(draft, err)
	}
	if err := os.Rename(draft, path); err != nil {
		return opening(path, err)
	}
	return nil
}

// checkPages checks the session database for damage. The file is small.
func checkPages(ctx context.Context, db *sql.DB, path string) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return opening(path, err)
	}
	if verdict != "ok" {
		return opening(path, file.Damaged(errors.New(verdict)))
	}
	return nil
}

// Watch adds the files to w, or to a new watch if w is nil.
func (db *DB) Watch(w *dbfile.Watch) (_ *dbfile.Watch, err error) {
	if w == nil {
		if w, err = dbfile.NewWatch(filepath.Dir(db.path)); err != nil {
			return nil, err
		}
	}
	db.watch = w
	return w, w.AddDatabase(db.path)
}

// ReleaseMemory frees the pages that the connections cache. It waits until the database is idle.
func (db *DB) ReleaseMemory(ctx context.Context) error {
	for _, pool := range []*sql.DB{db.sql, db.keeper} {
		conn, err := pool.Conn(ctx)
		if err == nil {
			err = errors.Join(conn.Raw(func(c any) error { return c.(*connection).releaseMemory(ctx) }), conn.Close())
		}
		if err != nil {
			return fmt.Errorf("release memory: %w", Explain(err))
		}
	}
	return nil
}

// Erase removes every trace of a deleted session from the file and its log. That includes data
// which whatsmeow leaves: tokens, decrypted messages, and messages that it may have to send
// again.
func (db *DB) Erase(ctx context.Context) error {
	if err := db.empty(ctx); err != nil {
		return fmt.Errorf("clear the session's tables: %w", Explain(err))
	}
	if _, err := db.sql.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("clear the session's file: %w", Explain(err))
	}
	return db.truncateLog(ctx)
}

// truncateLog truncates the write-ahead log. It contains deleted data: used keys and texts of
// messages.
func (db *DB) truncateLog(ctx context.Context) error {
	var busy, frames, copied int
	err := db.sql.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied)
	if err == nil && busy != 0 {
		err = errors.New("it is being read")
	}
	if err != nil {
		return fmt.Errorf("clear the session's log: %w", Explain(err))
	}
	return nil
}

const (
	// The log is truncated truncateGather after a deletion, and every truncatePause.
	truncateGather = time.Second
	truncatePause  = time.Hour
)

// KeepLogShort truncates the log at once (after a kill there may be an old one), after deletions
// of texts, and every hour, until ctx ends.
func (db *DB) KeepLogShort(ctx context.Context, deletions <-chan struct{}, log zerolog.Logger) {
	ticker := time.NewTicker(truncatePause)
	defer ticker.Stop()
	for {
		if err := db.truncateLog(ctx); err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Msg("cannot truncate session.db-wal; trying again within an hour")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-deletions:
			select {
			case <-ctx.Done():
				return
			case <-time.After(truncateGather):
			}
		}
	}
}

// empty deletes the rows of all tables except retainedTables.
func (db *DB) empty(ctx context.Context) (err error) {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	tables, err := tablesOf(ctx, tx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if slices.Contains(retainedTables, table) {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM "`+table+`"`); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// truncateOnClose limits the time that [DB.Close] spends on the log.
const truncateOnClose = 2 * time.Second

// Close truncates the log, which may contain recently deleted data, and closes the file. It
// truncates explicitly and logs an error, because SQLite's own checkpoint on closing reports no
// errors.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), truncateOnClose)
	defer cancel()
	if err := db.truncateLog(ctx); err != nil {
		db.log.Warn().Err(err).Msg("cannot truncate session.db-wal; the next start truncates it")
	}
	db.watch.RemoveDatabase(db.path)
	return db.closePools()
}

func (db *DB) closePools() error {
	var errs []error
	for _, pool := range []*sql.DB{db.keeper, db.sql} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// Device is the device of session.db, linked or not yet linked.
type Device struct{ device *store.Device }

// Device returns the linked device, or a new one.
func (db *DB) Device(ctx context.Context) (*Device, error) {
	device, err := db.container.GetFirstDevice(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the session: %w", Explain(err))
	}
	return &Device{device}, nil
}

// DeleteDevice deletes a device's keys. [DB.Erase] then removes their traces.
func (db *DB) DeleteDevice(ctx context.Context, device types.JID) error {
	if err := db.container.DeleteDevice(ctx, &store.Device{ID: &device}); err != nil {
		return fmt.Errorf("wipe the session: %w", Explain(err))
	}
	return nil
}

// IsLinked reports whether the device is linked to an account.
func (d *Device) IsLinked() bool { return d.device.ID != nil }

// User returns the account that the device is linked to, or nil.
func (d *Device) User() *bridge.User {
	device := d.device
	if device.ID == nil {
		return nil
	}
	return &bridge.User{
		JID: convert.JID(*device.ID), LID: convert.JID(device.LID), Phone: device.ID.User,
		PushName: device.PushName, Platform: device.Platform,
	}
}

// Fingerprint returns an identifier of the device's keys. All copies of them have the same one.
func (d *Device) Fingerprint() string {
	key := sha256.Sum256(d.device.IdentityKey.Pub[:])
	return hex.EncodeToString(key[:8])
}
