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

// Explain adds a remedy to an error of session.db that has one.
func Explain(err error) error { return file.Explain(err) }

// DB owns session.db, the keys of the linked device. One connection keeps a
// decryption's transaction apart from a send's reads and writes. Transactions wait
// for the disk, except those of decryptions (see [lagging]).
type DB struct {
	sql       *sql.DB
	container *sqlstore.Container // whatsmeow's stores over sql
	lids      lidMap
	path      string
	log       zerolog.Logger // gets what Close cannot do
	watch     *dbfile.Watch  // of the files; nil without one
	// keeper holds the file open. An interrupted statement closes its connection;
	// SQLite would remove the write-ahead log with the last one.
	keeper *sql.DB
}

// Open opens session.db, or makes a new one where there is none, and upgrades
// whatsmeow's tables.
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

// openFile opens the database and checks it, whatever its tables are.
func openFile(ctx context.Context, path string) (_ *DB, err error) {
	if err := prepareFile(ctx, path); err != nil {
		return nil, err
	}
	if err := dbfile.MakePrivate(path, 0o600); err != nil {
		return nil, opening(path, err)
	}
	db := &DB{path: path}
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

// dsn names the file for the driver. What is deleted is overwritten, and
// temporary files, which would hold keys, are in memory.
func dsn(path, mode string) string {
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)", "temp_store(MEMORY)",
	}}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
}

// prepareFile refuses a file that is not a database, and makes a new one where there
// is none. SQLite would take an emptied file for a new one, and the session would be
// gone silently.
func prepareFile(ctx context.Context, path string) error {
	switch err := file.CheckHead(path); {
	case errors.Is(err, fs.ErrNotExist):
		return createFile(ctx, path)
	case err != nil:
		return opening(path, err)
	}
	return nil
}

// createFile makes a database and renames it once it is whole. It is only opened from
// then on, so that no connection replaces a file that was taken away by an empty one.
func createFile(ctx context.Context, path string) error {
	if _, err := os.Stat(path + "-wal"); err == nil {
		return fmt.Errorf("%s is missing, but %s-wal is there: put session.db back beside it, "+
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

// checkPages looks for damage inside the session database, which is small.
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

// Watch adds the files to a watch, or to a new one.
func (db *DB) Watch(w *dbfile.Watch) (_ *dbfile.Watch, err error) {
	if w == nil {
		if w, err = dbfile.NewWatch(filepath.Dir(db.path)); err != nil {
			return nil, err
		}
	}
	db.watch = w
	return w, w.AddDatabase(db.path)
}

// ReleaseMemory gives back the pages that the connections keep. It waits for what is
// using the database.
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

// Erase removes every trace of a deleted session from the file and its log, with what
// whatsmeow leaves: tokens, and messages that it had decrypted or may have to send again.
func (db *DB) Erase(ctx context.Context) error {
	if err := db.empty(ctx); err != nil {
		return fmt.Errorf("clear the session's tables: %w", Explain(err))
	}
	if _, err := db.sql.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("clear the session's file: %w", Explain(err))
	}
	return db.truncateLog(ctx)
}

// truncateLog truncates the write-ahead log, which keeps what was deleted since: keys
// that were used up, and texts of messages.
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

// KeepLogShort truncates the log at once (a killed run left its own), after deletions
// of texts and hourly, until ctx ends.
func (db *DB) KeepLogShort(ctx context.Context, deletions <-chan struct{}, log zerolog.Logger) {
	ticker := time.NewTicker(truncatePause)
	defer ticker.Stop()
	for {
		if err := db.truncateLog(ctx); err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Msg("session.db-wal not cut off; trying again within an hour")
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

// empty deletes the rows of all tables but keptTables.
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
		if slices.Contains(keptTables, table) {
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

// Close truncates the log, which may still have what was deleted last, and closes the file.
// SQLite's own checkpoint at the end reports no error: one of ours is logged.
func (db *DB) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), truncateOnClose)
	defer cancel()
	if err := db.truncateLog(ctx); err != nil {
		db.log.Warn().Err(err).Msg("session.db-wal not cut off; the next start does it")
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

// Device is the device whose keys session.db has, linked or to be linked.
type Device struct{ device *store.Device }

// Device returns the linked device, or a new one.
func (db *DB) Device(ctx context.Context) (*Device, error) {
	device, err := db.container.GetFirstDevice(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the session: %w", Explain(err))
	}
	return &Device{device}, nil
}

// DeleteDevice deletes a device's keys; [DB.Erase] leaves nothing of them.
func (db *DB) DeleteDevice(ctx context.Context, device types.JID) error {
	if err := db.container.DeleteDevice(ctx, &store.Device{ID: &device}); err != nil {
		return fmt.Errorf("wipe the session: %w", Explain(err))
	}
	return nil
}

// IsLinked reports whether the device is linked to an account.
func (d *Device) IsLinked() bool { return d.device.ID != nil }

// User returns whose device it is; nil if it is not linked.
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

// Fingerprint returns a name for the device's keys, the same for all copies of them.
func (d *Device) Fingerprint() string {
	key := sha256.Sum256(d.device.IdentityKey.Pub[:])
	return hex.EncodeToString(key[:8])
}
