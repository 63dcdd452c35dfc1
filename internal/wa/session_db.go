package wa

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/dbfile"
)

// sessionFile is how people are told of session.db.
var sessionFile = dbfile.Database{
	Name:   "session.db",
	Repair: "stop bridged, delete session.db, session.db-wal and session.db-shm, start again and pair the account; messages are kept elsewhere",
}

// sessionDB is session.db: the keys of the linked device, whatsmeow's. It has one
// connection, so that a decryption's transaction cannot be interleaved with a
// send's reads and writes. Its transactions wait for the disk, but for those of
// decryptions (see [lagging]).
type sessionDB struct {
	*sql.DB
	path string
	// keeper only holds the file open. A connection whose statement is
	// interrupted is closed; were it the last one, SQLite would remove the
	// write-ahead log, and the watch take that for damage.
	keeper *sql.DB
}

// openSessionDB opens session.db, and makes a new one only where there is none.
func openSessionDB(ctx context.Context, path string) (_ *sessionDB, err error) {
	if err := prepareSessionDB(ctx, path); err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("keep %s private: %w", path, err)
	}
	k := &sessionDB{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.Close())
		}
	}()
	connector, err := newSessionConnector(sessionDSN(path, "rw"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	k.keeper, k.DB = sql.OpenDB(connector), sql.OpenDB(connector)
	k.keeper.SetMaxOpenConns(1)
	k.SetMaxOpenConns(1)
	for _, db := range []*sql.DB{k.DB, k.keeper} {
		if err := checkPages(ctx, db, path); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// sessionDSN names the file for the driver. What is deleted is overwritten, and
// temporary files, which would hold keys, are in memory.
func sessionDSN(path, mode string) string {
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)", "temp_store(MEMORY)",
	}}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
}

// sqliteHeader begins every SQLite database (sqlite.org/fileformat.html, 1.3).
const sqliteHeader = "SQLite format 3\x00"

// prepareSessionDB refuses a file that is no whole database, and makes a new one
// where there is none. SQLite itself would take an emptied one for a new one,
// and the session would be gone silently.
func prepareSessionDB(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createSessionDB(ctx, path)
	} else if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, len(sqliteHeader))
	if _, err := io.ReadFull(file, header); err != nil || string(header) != sqliteHeader {
		return fmt.Errorf("open %s: %w", path, sessionFile.Damaged(errors.New("emptied or overwritten")))
	}
	return nil
}

// createSessionDB makes a database and moves it to its place when it is whole: from
// then on it is only ever opened, so that no connection puts an empty one where
// the file was taken away.
func createSessionDB(ctx context.Context, path string) error {
	if _, err := os.Stat(path + "-wal"); err == nil {
		return fmt.Errorf("%s is missing, but %s-wal is there: put session.db back beside it, "+
			"or delete %s-wal and pair the account again", path, path, path)
	}
	draft := path + ".new"
	for _, left := range []string{draft, draft + "-wal", draft + "-shm", draft + "-journal"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear an unfinished session: %w", err)
		}
	}
	db, err := sql.Open("sqlite", sessionDSN(draft, "rwc"))
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	_, err = db.ExecContext(ctx, "VACUUM") // writes the first page
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("create %s: %w", path, sessionFile.Explain(err))
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}

// checkPages looks for damage inside the session database, which is small.
func checkPages(ctx context.Context, db *sql.DB, path string) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		if dbfile.IsDamage(err) {
			err = sessionFile.Damaged(err)
		}
		return fmt.Errorf("open %s: %w", path, sessionFile.Explain(err))
	}
	if verdict != "ok" {
		return fmt.Errorf("open %s: %w", path, sessionFile.Damaged(errors.New(verdict)))
	}
	return nil
}

// watch adds the files to a watch, or to a new one.
func (k *sessionDB) watch(w *dbfile.Watch) (_ *dbfile.Watch, err error) {
	if w == nil {
		if w, err = dbfile.NewWatch(filepath.Dir(k.path)); err != nil {
			return nil, err
		}
	}
	return w, w.AddDatabase(k.path)
}

// releaseMemory gives back the pages that the connections keep.
func (k *sessionDB) releaseMemory(ctx context.Context) error {
	for _, db := range []*sql.DB{k.DB, k.keeper} {
		conn, err := db.Conn(ctx)
		if err == nil {
			err = errors.Join(conn.Raw(func(c any) error { return c.(*sessionConn).releaseMemory(ctx) }), conn.Close())
		}
		if err != nil {
			return fmt.Errorf("release memory: %w", sessionFile.Explain(err))
		}
	}
	return nil
}

// erase leaves nothing of a session that was deleted. What whatsmeow does not
// delete with it (tokens, messages that it had decrypted or may have to send
// again) goes too. Then the pages that are in use are written anew, the others
// are cut off, and so is the log, which has copies of both.
func (k *sessionDB) erase(ctx context.Context) error {
	if err := k.empty(ctx); err != nil {
		return fmt.Errorf("clear the session's tables: %w", sessionFile.Explain(err))
	}
	if _, err := k.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("clear the session's file: %w", sessionFile.Explain(err))
	}
	return k.truncateLog(ctx)
}

// truncateLog cuts off the write-ahead log, which still has what was deleted
// since it was last cut off: keys that were used up, and the text of messages,
// which whatsmeow keeps in the file until they are stored.
func (k *sessionDB) truncateLog(ctx context.Context) error {
	var busy, frames, copied int
	err := k.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied)
	if err == nil && busy != 0 {
		err = errors.New("it is being read")
	}
	if err != nil {
		return fmt.Errorf("clear the session's log: %w", sessionFile.Explain(err))
	}
	return nil
}

const (
	// truncateGather is how long deletions are gathered before the log is cut
	// off, and truncatePause how often that is done without one.
	truncateGather = time.Second
	truncatePause  = time.Hour
)

// keepShort cuts the log off at once, for a run that was killed leaves its log
// behind, then after deletions of texts and hourly, until ctx ends.
func (k *sessionDB) keepShort(ctx context.Context, deletions <-chan struct{}, log zerolog.Logger) {
	ticker := time.NewTicker(truncatePause)
	defer ticker.Stop()
	for {
		if err := k.truncateLog(ctx); err != nil && ctx.Err() == nil {
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
func (k *sessionDB) empty(ctx context.Context) (err error) {
	tx, err := k.BeginTx(ctx, nil)
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

// Close closes the file.
func (k *sessionDB) Close() error {
	var errs []error
	for _, db := range []*sql.DB{k.keeper, k.DB} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
