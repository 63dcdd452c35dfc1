package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// What is deleted is to be gone from the disk. SQLite overwrites what it
// deletes (secure_delete), but two copies stay: the pages as they were, in the
// write-ahead log until it is cut off, and the grams of the text, in the
// full-text index until its segments are merged. Both are worked off after the
// transaction that deletes.

const (
	// eraseGather is how long deletions are gathered before they are worked off.
	eraseGather = time.Second
	// eraseRetry is how soon the log is tried again while it is being read; the pauses double up to eraseRetryMax.
	eraseRetry    = 100 * time.Millisecond
	eraseRetryMax = 5 * time.Second
	// readsHeld is how long reads are held up at most, once in eraseRetryMax.
	readsHeld = time.Second
	// mergeShare is the part of the time that merging may take: a large index is
	// not merged again for every deletion.
	mergeShare = 0.02
)

// settingErasing is set from a deletion until the index has forgotten it.
const settingErasing = "store.erasing"

// eraser overwrites in the background what transactions have deleted.
type eraser struct {
	s  *Store
	db *db.Conn // cuts off the write-ahead log

	work      chan struct{} // a token after each deletion
	texts     chan struct{} // a token for the keeper of copies of texts
	files     chan struct{} // a token for the remover of files
	deletions atomic.Int64  // how many transactions have deleted something
	mergeAt   time.Time     // when the index may be merged again; only the background's
	retryMax  time.Duration // eraseRetryMax but in tests
}

func newEraser(s *Store) *eraser {
	return &eraser{s: s, retryMax: eraseRetryMax, work: make(chan struct{}, 1), texts: make(chan struct{}, 1), files: make(chan struct{}, 1)}
}

// open opens the connection that cuts off the log. It waits for readers only
// briefly, because writers wait for it.
func (e *eraser) open() (err error) {
	e.db, err = db.Open(e.s.o.Path, []string{"busy_timeout(100)", "synchronous(FULL)"})
	return explain(err)
}

// committed wakes the background if a transaction has deleted something.
func (e *eraser) committed(t *writeTx) {
	if t.erased {
		e.deletions.Add(1)
		notify(e.work)
		notify(e.texts)
	}
	if t.erasedFile {
		notify(e.files)
	}
}

// TextErased gives a token after a transaction that deleted text, whose copies
// elsewhere are to go too; for a single listener.
func (s *Store) TextErased() <-chan struct{} { return s.eraser.texts }

// markErased notes that a transaction deletes text.
func (t *writeTx) markErased() {
	if t.erased {
		return
	}
	t.erased = true
	t.setSetting(settingErasing, "1")
}

// run works until ctx ends; the first time on what an earlier run has left.
func (e *eraser) run(ctx context.Context) {
	step := e.resume
	for {
		pause, err := step(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.s.o.Log.Error().Err(err).Msg("deleted text is not yet overwritten everywhere; trying again in a minute")
			pause = time.Minute
		}
		if !e.await(ctx, pause) {
			return
		}
		step = e.erase
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
	case <-e.work:
		return bridge.Sleep(ctx, eraseGather)
	}
}

// resume goes on where an earlier run was interrupted, if it was.
func (e *eraser) resume(ctx context.Context) (time.Duration, error) {
	pending, err := e.s.Setting(ctx, settingErasing)
	if err != nil || pending == "" {
		return 0, err
	}
	return e.erase(ctx)
}

// erase leaves nothing of what was deleted. Where the index may not be merged
// yet, it returns how long that has to wait.
func (e *eraser) erase(ctx context.Context) (time.Duration, error) {
	if err := e.truncateLog(ctx); err != nil {
		return 0, err
	}
	pending, err := e.s.Setting(ctx, settingErasing)
	if err != nil || pending == "" {
		return 0, err
	}
	if wait := time.Until(e.mergeAt); wait > 0 {
		return wait, nil
	}
	began, deletions := time.Now(), e.deletions.Load()
	if err := e.s.index.Forget(ctx); err != nil {
		return 0, err
	}
	took := time.Since(began)
	e.mergeAt = time.Now().Add(time.Duration(float64(took) / mergeShare))
	if err := e.truncateLog(ctx); err != nil {
		return 0, err
	}
	done, err := e.finish(ctx, deletions)
	if err != nil || done {
		return 0, err
	}
	return time.Until(e.mergeAt), nil // some came too late for this time
}

// finish notes that the index has forgotten the first so many deletions, and
// reports whether these were all. It compares in the transaction: a deletion
// that comes in between would never be worked off.
func (e *eraser) finish(ctx context.Context, deletions int64) (done bool, err error) {
	err = e.s.write(ctx, func(t *writeTx) {
		if done = e.deletions.Load() == deletions; !done {
			return
		}
		t.setSetting(settingErasing, "")
	})
	return done, err
}

// errBusyLog means that the log is still being read.
var errBusyLog = errors.New("the write-ahead log is being read")

// truncateLog copies the write-ahead log into the database and cuts it off. It
// tries until the log is not being read any more, by a slow search, or a backup. Slow reads
// of which each begins before the last one ends are held up in the end.
func (e *eraser) truncateLog(ctx context.Context) error {
	for pause := eraseRetry; ; pause = min(2*pause, e.retryMax) {
		err := e.truncateOnce(ctx)
		if errors.Is(err, errBusyLog) && pause >= e.retryMax {
			err = e.truncateAlone(ctx)
		}
		if !errors.Is(err, errBusyLog) {
			return err
		}
		if !bridge.Sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

func (e *eraser) truncateOnce(ctx context.Context) error {
	// Most of the copying without anybody waiting for it.
	if err := e.checkpoint(ctx, "PASSIVE"); err != nil && !errors.Is(err, errBusyLog) {
		return err
	}
	e.s.writing.Lock()
	defer e.s.writing.Unlock()
	if err := e.s.mayWrite(ctx); err != nil {
		return err
	}
	if err := e.s.o.Watch.Check(); err != nil {
		return err
	}
	return e.checkpoint(ctx, "TRUNCATE")
}

// truncateAlone cuts the log off while no read begins. Reads under way have
// readsHeld to end.
func (e *eraser) truncateAlone(ctx context.Context) error {
	var held []*db.Conn
	defer func() {
		for _, r := range held {
			e.s.readers <- r
		}
	}()
	late := time.NewTimer(readsHeld)
	defer late.Stop()
	for range e.s.opened {
		select {
		case r := <-e.s.readers:
			held = append(held, r)
		case <-late.C:
			return errBusyLog
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.truncateOnce(ctx)
}

func (e *eraser) checkpoint(ctx context.Context, mode string) error {
	var busy, frames, copied *int64
	err := e.db.Use(ctx, func() { e.db.Find("PRAGMA wal_checkpoint("+mode+")", nil, &busy, &frames, &copied) })
	if err != nil {
		return fmt.Errorf("cut off the write-ahead log: %w", explain(err))
	}
	if busy != nil && *busy != 0 {
		return errBusyLog
	}
	return nil
}

// recordErasedFile notes the file of a message that is about to be deleted.
func (t *writeTx) recordErasedFile(seq int64) {
	noted := t.Change(`
		INSERT INTO erased_files (type, ref)
		SELECT m.details ->> '$.m.t', r.media_ref FROM messages m JOIN message_raw r ON r.seq = m.seq
		WHERE m.seq = ? AND r.media_ref IS NOT NULL AND m.details ->> '$.m.t' IS NOT NULL`, seq)
	if noted > 0 {
		t.erasedFile = true
	}
}

// recordReplacedFile notes the file of a message that is about to get another one.
// A new path of the same file leaves it what it is.
func (t *writeTx) recordReplacedFile(seq int64, before *mediaDetails, edited *bridge.Media) {
	if before == nil || edited == nil {
		return
	}
	noted := t.Change(`
		INSERT INTO erased_files (type, ref)
		SELECT ?1, media_ref FROM message_raw
		WHERE seq = ?2 AND json_remove(media_ref, '$.directPath') != json_remove(?3, '$.directPath')`,
		before.Type, seq, t.Encode(edited.Ref))
	if noted > 0 {
		t.erasedFile = true
	}
}

// ErasedFile is the file of a message that was deleted, or that got another file.
type ErasedFile struct {
	ID    int64
	Media bridge.Media // its type and where it lies
}

// ErasedFiles returns the files of deleted messages, and those that edits replaced,
// that are not removed yet, the oldest first.
func (s *Store) ErasedFiles(ctx context.Context, limit int) ([]ErasedFile, error) {
	return readAs(ctx, s, "read the files of deleted messages", func(r *readTx) (files []ErasedFile) {
		for row := range r.Rows("SELECT id, type, ref FROM erased_files ORDER BY id"+db.Limited, limit) {
			var f ErasedFile
			var ref []byte
			row.Scan(&f.ID, &f.Media.Type, &ref)
			r.Decode(ref, &f.Media.Ref)
			files = append(files, f)
		}
		return files
	})
}

// FileRemoved notes that the file of a deleted message is gone.
func (s *Store) FileRemoved(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *writeTx) {
		t.erased = true
		t.Run("DELETE FROM erased_files WHERE id = ?", id)
	})
}

// FilesErased gives a token after a deletion that left a file; for a single
// listener.
func (s *Store) FilesErased() <-chan struct{} { return s.eraser.files }
