package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bridged/internal/bridge"
)

// What is deleted is to be gone from the disk. SQLite overwrites what it
// deletes (secure_delete), but two copies stay: the pages as they were, in the
// write-ahead log until it is cut off, and the grams of the text, in the
// full-text index until its segments are merged. Both are worked off behind the
// transaction that deletes.

const (
	// eraseGather is how long deletions are gathered before they are worked off.
	eraseGather = time.Second
	// eraseRetry is how soon the log is tried again while somebody reads from
	// it; the pauses double up to eraseRetryMax.
	eraseRetry    = 100 * time.Millisecond
	eraseRetryMax = 5 * time.Second
	// mergePages is how many pages of the index are merged in one transaction:
	// it holds up an acknowledgement for as long as that takes.
	mergePages = 64
	// mergeShare is the part of the time that merging may take: a large index is
	// not merged again for every deletion.
	mergeShare = 0.02
)

// settingErasing is set from a deletion until the index has forgotten it.
const settingErasing = "store.erasing"

// markErased notes that a transaction deletes text.
func (t *writeTx) markErased(ctx context.Context) error {
	t.erased = true
	return t.setSetting(ctx, settingErasing, "1")
}

// recordErasedFile notes the file of a message that is about to be deleted.
func (t *writeTx) recordErasedFile(ctx context.Context, seq int64) error {
	noted, err := t.change(ctx, `
		INSERT INTO erased_files (type, ref)
		SELECT m.details ->> '$.m.t', r.media_ref FROM messages m JOIN message_raw r ON r.arrival = m.arrival
		WHERE m.arrival = ? AND r.media_ref IS NOT NULL AND m.details ->> '$.m.t' IS NOT NULL`, seq)
	if noted > 0 {
		t.erasedFile = true
	}
	return err
}

// openEraser opens the connection that cuts off the log. It waits for readers
// only briefly, because writers wait for it.
func (s *Store) openEraser() (err error) {
	s.eraseDB, err = openDB(s.path, []string{"busy_timeout(100)", "synchronous(FULL)"})
	if err == nil {
		s.eraseDB.SetMaxOpenConns(1)
	}
	return err
}

// eraser works off deletions in the background.
type eraser struct {
	*Store
	mergeAt time.Time // when the index may be merged again
}

// run works until ctx ends; the first time on what an earlier run has left.
func (e *eraser) run(ctx context.Context) {
	work := func() (time.Duration, error) { return e.resume(ctx) }
	for {
		pause, err := work()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log.Error().Err(err).Msg("deleted text is not yet overwritten everywhere; trying again in a minute")
			pause = time.Minute
		}
		if !e.await(ctx, pause) {
			return
		}
		work = func() (time.Duration, error) { return e.work(ctx) }
	}
}

// await waits for deletions, and gathers them, or for a pause, where it is not
// 0. It returns false when ctx ended first.
func (e *eraser) await(ctx context.Context, pause time.Duration) bool {
	var again <-chan time.Time
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-again:
		return true
	case <-e.eraseWork:
		return sleep(ctx, eraseGather)
	}
}

// resume goes on where an earlier run was interrupted, if it was.
func (e *eraser) resume(ctx context.Context) (time.Duration, error) {
	pending, err := e.Setting(ctx, settingErasing)
	if err != nil || pending == "" {
		return 0, err
	}
	return e.work(ctx)
}

// work leaves nothing of what was deleted. Where the index may not be merged
// yet, it returns how long that has to wait.
func (e *eraser) work(ctx context.Context) (time.Duration, error) {
	if err := e.truncateLog(ctx); err != nil {
		return 0, err
	}
	pending, err := e.Setting(ctx, settingErasing)
	if err != nil || pending == "" {
		return 0, err
	}
	if wait := time.Until(e.mergeAt); wait > 0 {
		return wait, nil
	}
	began, deletions := time.Now(), e.deletions.Load()
	if err := e.eraseGrams(ctx); err != nil {
		return 0, err
	}
	took := time.Since(began)
	e.mergeAt = time.Now().Add(time.Duration(float64(took) / mergeShare))
	if err := e.truncateLog(ctx); err != nil {
		return 0, err
	}
	if e.deletions.Load() != deletions {
		return time.Until(e.mergeAt), nil // some came too late for this time
	}
	return 0, e.SetSetting(ctx, settingErasing, "")
}

func (s *Store) notifyEraser() {
	select {
	case s.eraseWork <- struct{}{}:
	default: // it is awake
	}
}

// eraseGrams indexes the blocks with deleted messages again, and then merges
// the segments of the index, which leaves out what was deleted from it.
func (s *Store) eraseGrams(ctx context.Context) error {
	for {
		more, err := s.reindexStale(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	steps, err := s.mergeSteps(ctx)
	if err != nil {
		return err
	}
	for range steps {
		more, err := s.mergeSome(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return nil
}

// mergeSteps returns how many steps merge the whole index at most. New blocks
// come in meanwhile, so that there may always be something left to merge.
func (s *Store) mergeSteps(ctx context.Context) (steps int, err error) {
	err = s.read(ctx, func(r *readTx) error {
		return r.scan(ctx, "SELECT count(*) / ? + 2 FROM grams_data", []any{mergePages}, &steps)
	})
	return steps, err
}

// mergeSome merges some pages and reports whether there was anything to merge.
// A negative number of pages begins with all segments, also with a single one.
func (s *Store) mergeSome(ctx context.Context) (bool, error) {
	s.indexing.Lock()
	defer s.indexing.Unlock()
	var before, after int64
	err := s.write(ctx, func(ctx context.Context, t *writeTx) error {
		if _, err := t.find(ctx, "SELECT total_changes()", nil, &before); err != nil {
			return err
		}
		if err := t.run(ctx, "INSERT INTO grams (grams, rank) VALUES ('merge', ?)", -mergePages); err != nil {
			return fmt.Errorf("merge the search index: %w", err)
		}
		_, err := t.find(ctx, "SELECT total_changes()", nil, &after)
		return err
	})
	// The statement itself counts as a change (sqlite.org/fts5.html, 6.8).
	return after-before >= 2, err
}

// errBusyLog is for a log that somebody still reads from.
var errBusyLog = errors.New("the write-ahead log is being read")

// truncateLog copies the write-ahead log into the database and cuts it off. It
// tries until nobody reads from the log: a slow search, or a backup.
func (s *Store) truncateLog(ctx context.Context) error {
	for pause := eraseRetry; ; pause = min(2*pause, eraseRetryMax) {
		err := s.truncateOnce(ctx)
		if !errors.Is(err, errBusyLog) {
			return err
		}
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

func (s *Store) truncateOnce(ctx context.Context) error {
	// Most of the copying without anybody waiting for it.
	if err := s.checkpoint(ctx, "PASSIVE"); err != nil && !errors.Is(err, errBusyLog) {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.mayWrite(ctx); err != nil {
		return err
	}
	return s.checkpoint(ctx, "TRUNCATE")
}

func (s *Store) checkpoint(ctx context.Context, mode string) error {
	var busy, frames, copied sql.NullInt64
	err := s.eraseDB.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &copied)
	if err != nil {
		return fmt.Errorf("cut off the write-ahead log: %w", explain(err))
	}
	if busy.Int64 != 0 {
		return errBusyLog
	}
	return nil
}

// ErasedFile is the file of a message that was deleted.
type ErasedFile struct {
	ID    int64
	Media bridge.Media // its type and where it lies
}

// ErasedFiles returns files of deleted messages that nobody has removed yet,
// the oldest first.
func (s *Store) ErasedFiles(ctx context.Context, limit int) ([]ErasedFile, error) {
	var files []ErasedFile
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT id, type, ref FROM erased_files ORDER BY id LIMIT ?", []any{limit}, func(rows *sql.Rows) error {
			var f ErasedFile
			var ref string
			if err := rows.Scan(&f.ID, &f.Media.Type, &ref); err != nil {
				return err
			}
			files = append(files, f)
			return json.Unmarshal([]byte(ref), &files[len(files)-1].Media.Ref)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of deleted messages: %w", err)
	}
	return files, nil
}

// FileRemoved notes that the file of a deleted message is gone.
func (s *Store) FileRemoved(ctx context.Context, id int64) error {
	return s.write(ctx, func(ctx context.Context, t *writeTx) error {
		t.erased = true
		return t.run(ctx, "DELETE FROM erased_files WHERE id = ?", id)
	})
}

// FilesErased gives a token after a deletion that left a file; for a single
// listener.
func (s *Store) FilesErased() <-chan struct{} { return s.fileWork }

func (s *Store) notifyEraserOf(t *writeTx) {
	if t.erased {
		s.deletions.Add(1)
		s.notifyEraser()
	}
	if t.erasedFile {
		select {
		case s.fileWork <- struct{}{}:
		default:
		}
	}
}
