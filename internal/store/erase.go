package store

import (
	"context"
	"sync/atomic"
	"time"
)

// What is deleted is to be gone from the disk. SQLite overwrites what it
// deletes (secure_delete), but two copies stay: the pages as they were, in the
// write-ahead log until it is cut off, and the grams of the text, in the
// full-text index until its segments are merged. Both are worked off after the
// transaction that deletes.

const (
	// eraseGather is how long deletions are gathered before they are worked off.
	eraseGather = time.Second
	// eraseRetry is how soon the log is tried again while somebody reads from
	// it; the pauses double up to eraseRetryMax.
	eraseRetry    = 100 * time.Millisecond
	eraseRetryMax = 5 * time.Second
	// readsHeld is how long reads are held up at most, once in eraseRetryMax.
	readsHeld = time.Second
	// mergePages is how many pages of the index are merged in one transaction:
	// it holds up an acknowledgement for as long as that takes.
	mergePages = 64
	// mergeShare is the part of the time that merging may take: a large index is
	// not merged again for every deletion.
	mergeShare = 0.02
)

// settingErasing is set from a deletion until the index has forgotten it.
const settingErasing = "store.erasing"

// eraser overwrites in the background what transactions have deleted.
type eraser struct {
	s  *Store
	db *conn // cuts off the write-ahead log

	work      chan struct{} // a token after each deletion
	texts     chan struct{} // a token for whoever keeps copies of texts
	files     chan struct{} // a token for whoever removes files
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
	e.db, err = openConn(e.s.path, []string{"busy_timeout(100)", "synchronous(FULL)"})
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
func (t *writeTx) markErased(ctx context.Context) error {
	t.erased = true
	return t.setSetting(ctx, settingErasing, "1")
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
			e.s.log.Error().Err(err).Msg("deleted text is not yet overwritten everywhere; trying again in a minute")
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
		return sleep(ctx, eraseGather)
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
	if err := e.s.index.forget(ctx); err != nil {
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
	err = e.s.write(ctx, func(ctx context.Context, t *writeTx) error {
		if done = e.deletions.Load() == deletions; !done {
			return nil
		}
		return t.setSetting(ctx, settingErasing, "")
	})
	return done, err
}
