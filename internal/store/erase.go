package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
	"bridged/internal/store/storefile"
)

// Deleted text must be erased from the disk. SQLite overwrites it (secure_delete), but copies remain: old
// pages in the write-ahead log until it is truncated, and n-grams in the full-text index until its
// segments are merged. Both are done in the background.

const (
	eraseGather = time.Second // to collect deletions
	// eraseRetry is the pause while the log is being read; it doubles up to eraseRetryMax.
	eraseRetry    = 100 * time.Millisecond
	eraseRetryMax = 5 * time.Second
	// readsHeld limits how long reads are blocked, once in eraseRetryMax.
	readsHeld = time.Second
	// eraseOnStop limits the time that a stop spends on erasing. The next start does the rest.
	eraseOnStop = 1500 * time.Millisecond
	// mergeShare is the maximal part of the time that is spent on merging the index.
	mergeShare = 0.02
)

// settingErasing is set from a deletion until the index does not contain it any more.
const settingErasing = "store.erasing"

// eraser overwrites in the background what transactions have deleted.
type eraser struct {
	s  *Store
	db *sqlite.Conn // truncates the write-ahead log; nil until there is something to erase

	work, texts, files chan struct{} // tokens after deletions: for the background, TextErased, FilesErased

	deletions atomic.Int64  // how many transactions have deleted something
	truncated int64         // how many of them the log does not contain any more; only the background's
	mergeAt   time.Time     // when the index may be merged again; only the background's
	retryMax  time.Duration // eraseRetryMax but in tests
}

func newEraser(s *Store) *eraser {
	return &eraser{s: s, retryMax: eraseRetryMax, work: make(chan struct{}, 1), texts: make(chan struct{}, 1), files: make(chan struct{}, 1)}
}

// resume wakes the background if an earlier process has left work.
func (e *eraser) resume(ctx context.Context) error {
	pending, err := e.s.Setting(ctx, settingErasing)
	if pending != "" {
		bridge.Wake(e.work)
	}
	return err
}

// committed wakes the background if a transaction has deleted something.
func (e *eraser) committed(t *writeTx) {
	if t.erased {
		e.deletions.Add(1)
		bridge.Wake(e.work)
		bridge.Wake(e.texts)
	}
	if t.erasedFile {
		bridge.Wake(e.files)
	}
}

// TextErased returns a channel that receives after a transaction has deleted text, so that other copies
// are deleted, too. It is for a single listener.
func (s *Store) TextErased() <-chan struct{} { return s.eraser.texts }

// markErased notes that a transaction deletes text.
func (t *writeTx) markErased() {
	if t.erased {
		return
	}
	t.erased = true
	settings.Set(t.Conn, settingErasing, "1")
}

// run works until ctx ends. [eraser.stop] does the rest.
func (e *eraser) run(ctx context.Context) {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-e.work:
			if !bridge.Sleep(ctx, eraseGather) {
				return
			}
		}
		pause, err := e.erase(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.s.o.Log.Error().Err(err).Msg("deleted text is not yet overwritten everywhere; trying again in a minute")
			pause = time.Minute
		}
		again = nil
		if pause > 0 {
			again = time.After(pause)
		}
	}
}

// stop erases what run has left, within eraseOnStop, and logs if something stays.
func (e *eraser) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), eraseOnStop)
	defer cancel()
	for {
		e.mergeAt = time.Time{}
		more, err := e.erase(ctx)
		switch {
		case err != nil:
			e.s.o.Log.Warn().Err(err).Msg("deleted text may still be on the disk; the next start overwrites it")
			return
		case more == 0:
			return
		}
	}
}

// erase erases deleted text. It returns the pause until the index may be merged again, or 0 when it is
// done.
func (e *eraser) erase(ctx context.Context) (time.Duration, error) {
	if e.deletions.Load() > e.truncated {
		if err := e.truncate(ctx); err != nil {
			return 0, err
		}
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
	if err := e.truncate(ctx); err != nil {
		return 0, err
	}
	done, err := e.finish(ctx, deletions)
	if err != nil || done {
		return 0, err
	}
	return time.Until(e.mergeAt), nil // some were added after this merge began
}

// truncate removes what has been deleted so far from the log.
func (e *eraser) truncate(ctx context.Context) error {
	deletions := e.deletions.Load()
	err := e.truncateLog(ctx)
	if err == nil {
		e.truncated = deletions
	}
	return err
}

// finish records that a number of deletions are erased from the index, and reports whether these were
// all. It uses one transaction, so that no other deletion comes in between.
func (e *eraser) finish(ctx context.Context, deletions int64) (done bool, err error) {
	err = e.s.write(ctx, func(t *writeTx) {
		if done = e.deletions.Load() == deletions; done {
			settings.Set(t.Conn, settingErasing, "")
		}
	})
	return done, err
}

// errBusyLog means that the log is still being read.
var errBusyLog = errors.New("the write-ahead log is being read")

// truncateLog copies the write-ahead log into the database and truncates it when nothing reads it. It
// blocks reads if slow ones overlap without an end.
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
	// Nothing waits for most of the copying.
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

// truncateAlone truncates the log while no read begins. Running reads have readsHeld to end.
func (e *eraser) truncateAlone(ctx context.Context) error {
	var held []*sqlite.Conn
	defer func() {
		for _, r := range held {
			e.s.readers.put(r)
		}
	}()
	late := time.NewTimer(readsHeld)
	defer late.Stop()
	for range cap(e.s.readers.idle) {
		select {
		case r := <-e.s.readers.idle:
			held = append(held, r)
		case <-e.s.readers.unopened:
			held = append(held, nil)
		case <-late.C:
			return errBusyLog
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.truncateOnce(ctx)
}

// checkpoint uses a connection of its own, which waits for readers only briefly, because writers wait for
// it.
func (e *eraser) checkpoint(ctx context.Context, mode string) (err error) {
	if e.db == nil {
		if e.db, err = e.s.connect([]string{"busy_timeout(100)", "synchronous(FULL)"}); err != nil {
			return err
		}
	}
	var busy, frames, copied *int64
	err = e.db.Use(ctx, func() { e.db.Find("PRAGMA wal_checkpoint("+mode+")", nil, &busy, &frames, &copied) })
	if err != nil {
		return fmt.Errorf("truncate the write-ahead log: %w", storefile.Explain(err))
	}
	if busy != nil && *busy != 0 {
		return errBusyLog
	}
	return nil
}

// recordErasedFile notes the file of a message that is being deleted.
func (t *writeTx) recordErasedFile(seq int64) {
	t.recordFile(`
		SELECT m.details ->> '$.m.type', r.media_ref FROM messages m JOIN message_raw r ON r.seq = m.seq
		WHERE m.seq = ? AND r.media_ref IS NOT NULL AND m.details ->> '$.m.type' IS NOT NULL`, seq)
}

func (t *writeTx) recordFile(query string, args ...any) {
	t.erasedFile = t.Change("INSERT INTO erased_files (type, ref) "+query, args...) > 0 || t.erasedFile
}

// replacesFile reports whether an edit gives a message another file. A new path alone does not make it
// another file.
func replacesFile(c *sqlite.Conn, seq int64, before *columns.Media, edited *bridge.Media) (other bool) {
	if before == nil || edited == nil {
		return before == nil && edited != nil
	}
	c.Find("SELECT json_remove(media_ref, '$.directPath') != json_remove(?, '$.directPath') FROM message_raw WHERE seq = ? AND media_ref IS NOT NULL",
		[]any{c.Encode(edited.Ref), seq}, &other)
	return other
}

// recordReplacedFile notes the file of a message that gets another one.
func (t *writeTx) recordReplacedFile(seq int64, before *columns.Media) {
	if before != nil {
		t.recordFile("SELECT ?, media_ref FROM message_raw WHERE seq = ? AND media_ref IS NOT NULL", before.Type, seq)
	}
}

// ErasedFile is the file of a message that was deleted, or that got another file.
type ErasedFile struct {
	ID    int64
	Media bridge.Media // its type and location
}

// ErasedFiles returns the files of deleted messages, and replaced files, that are not removed yet, the
// oldest first.
func (s *Store) ErasedFiles(ctx context.Context, limit int) ([]ErasedFile, error) {
	return read.As(ctx, s.Reader, "read the files of deleted messages", func(r *read.Snapshot) []ErasedFile {
		scan := func(row *sqlite.Row) (f ErasedFile) {
			var ref []byte
			row.Scan(&f.ID, &f.Media.Type, &ref)
			r.Decode(ref, &f.Media.Ref)
			return f
		}
		return sqlite.Collect(r.Conn, scan, "SELECT id, type, ref FROM erased_files ORDER BY id"+sqlite.Limited, limit)
	})
}

// FileRemoved removes a file from [Store.ErasedFiles].
func (s *Store) FileRemoved(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *writeTx) {
		t.erased = true
		t.Run("DELETE FROM erased_files WHERE id = ?", id)
	})
}

// FilesErased returns a channel that receives after a deletion of a message with a file. It is for a
// single listener.
func (s *Store) FilesErased() <-chan struct{} { return s.eraser.files }

const (
	// retainBatch limits the messages that one transaction removes, because acknowledgements wait for
	// it.
	retainBatch = 256
	retainRead  = 16 << 10 // old messages are read at a time
)

// Retain removes messages, calls and pending changes that are older than a moment, and
// returns how many messages. Chats and events stay.
//
// It removes them in the order of seqs, not chat by chat: then whole blocks of the search index become
// empty, and few blocks must be indexed again.
func (s *Store) Retain(ctx context.Context, olderThan time.Time) (int, error) {
	before := olderThan.UnixMilli()
	if _, err := s.forgetPendingBefore(ctx, olderThan); err != nil {
		return 0, err
	}
	if err := s.removeCallsBefore(ctx, before); err != nil {
		return 0, err
	}
	total, err := s.retainMessages(ctx, before)
	if err != nil {
		return total, fmt.Errorf("remove old messages: %w", err)
	}
	s.index.Wake() // packs that have lost only some of their messages
	return total, nil
}

// oldQuery selects messages from before a moment, in the order of the index's blocks.
const oldQuery = `
	SELECT m.seq FROM chats c CROSS JOIN messages m INDEXED BY messages_by_time ON m.chat = c.id AND m.timestamp < ?
	ORDER BY m.seq` + sqlite.Limited

// retainMessages removes the messages from before a moment and returns how many.
func (s *Store) retainMessages(ctx context.Context, before int64) (total int, err error) {
	for found := retainRead; found == retainRead; {
		var old []int64
		if err := s.Read(ctx, func(r *read.Snapshot) { old = sqlite.List[int64](r.Conn, oldQuery, before, retainRead) }); err != nil {
			return total, err
		}
		found = len(old)
		for some := range slices.Chunk(old, retainBatch) {
			removed := 0
			if err := s.write(ctx, func(t *writeTx) { removed = t.removeOld(some, before) }); err != nil {
				return total, err
			}
			total += removed
		}
	}
	return total, nil
}

// removeOld removes messages that are still old, and returns how many.
func (t *writeTx) removeOld(seqs []int64, before int64) int {
	old := sqlite.List[int64](t.Conn, "SELECT m.seq FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value WHERE m.timestamp < ?",
		t.Encode(seqs), before)
	t.removeAll(old)
	return len(old)
}

// removeAll removes messages.
func (t *writeTx) removeAll(seqs []int64) {
	t.s.index.MarkRemoved(t.Conn, seqs)
	// No chat becomes a new one because its messages are gone.
	t.Run(`
		UPDATE chats SET used = 1 WHERE used = 0 AND id IN (
			SELECT m.chat FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value
			WHERE ifnull(m.status, -1) != ?)`, t.Encode(seqs), columns.StatusFailed)
	for _, seq := range seqs {
		t.removeUnpacked(seq)
	}
	t.s.index.DropEmpty(t.Conn, seqs)
}

// pruneBatch limits the events that one transaction removes.
const pruneBatch = 2000

// PruneEvents removes the events before a time, and all but the newest events if newest is not 0. It returns
// how many it removed.
func (s *Store) PruneEvents(ctx context.Context, before time.Time, newest int) (total int, err error) {
	return s.inBatches(ctx, "remove old events", pruneBatch, func(t *writeTx) int64 { return pruneSome(t.Conn, before.UnixMilli(), newest) })
}

// inBatches repeats a transaction that removes a batch of rows until it removes fewer, and returns how
// many it has removed.
func (s *Store) inBatches(ctx context.Context, what string, batch int64, remove func(*writeTx) int64) (total int, err error) {
	for removed := batch; removed == batch; total += int(removed) {
		if err = s.writeAs(ctx, what, func(t *writeTx) { removed = remove(t) }); err != nil {
			return total, err
		}
	}
	return total, nil
}

// pruneSome removes the next batch of old events and returns how many these were.
func pruneSome(c *sqlite.Conn, before int64, keep int) int64 {
	var surplus, last int64
	if keep > 0 {
		c.Find("SELECT ifnull(max(id), 0) - ? FROM events", []any{keep}, &surplus)
	}
	c.Find(`
		SELECT ifnull(max(id), 0) FROM (SELECT id, at FROM events ORDER BY id LIMIT ?) WHERE at < ? OR id <= ?`,
		[]any{pruneBatch, before, surplus}, &last)
	if last == 0 {
		return 0
	}
	settings.Set(c, settings.Pruned, strconv.FormatInt(last, 10))
	return c.Change("DELETE FROM events WHERE id <= ?", last)
}
