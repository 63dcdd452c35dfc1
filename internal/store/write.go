package store

import (
	"context"
	"database/sql"
	"fmt"
)

// writeTx is one write transaction. What it learns of people is published to
// readers as it commits.
type writeTx struct {
	*conn
	s        *Store
	people   *peopleChange
	at       int64
	appended map[entryKey]bool

	numbers     numbers
	staleMarked bool // a message has changed that was indexed
	erased      bool // something was deleted that must not stay on the disk

	erasedFile bool // and it had a file

	silent bool // nothing is told of what changes
}

// numbers are the last ones that were given to messages and to events. None is
// ever given twice, also when what bore it is gone.
type numbers struct{ seq, event int64 }

// loadNumbers goes on where the store ended: behind what is there, and behind
// what was removed.
func (s *Store) loadNumbers(ctx context.Context) error {
	return s.read(ctx, func(r *readTx) (err error) {
		n := &s.numbers
		for _, last := range []struct {
			number  *int64
			query   string
			setting string
		}{
			{&n.seq, "SELECT ifnull(max(seq), 0) FROM messages", settingLastSeq},
			{&n.event, "SELECT ifnull(max(id), 0) FROM events", settingPruned},
		} {
			if err := r.scan(ctx, last.query, nil, last.number); err != nil {
				return err
			}
			removed, err := readNumber(ctx, r.conn, last.setting)
			if err != nil {
				return err
			}
			*last.number = max(*last.number, removed)
		}
		return nil
	})
}

// entryKey is an event that the transaction has appended: content is joined when
// it is read, so one of a kind is enough.
type entryKey struct {
	event         int
	message, chat int64
	data          string
}

// write runs f in one immediate transaction. The transaction does not end with
// ctx once it has begun, and f is given a context that does not end either: a
// commit that was asked for is either made or failed, never unknown.
func (s *Store) write(ctx context.Context, f func(context.Context, *writeTx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.mayWrite(ctx); err != nil {
		return err
	}
	t := &writeTx{conn: s.writer, s: s, people: s.people.change(), at: s.now(), numbers: s.numbers}
	if err := t.commit(context.WithoutCancel(ctx), f); err != nil {
		return explain(err)
	}
	s.publish(t)
	return nil
}

func (s *Store) mayWrite(ctx context.Context) error {
	select {
	case <-s.closed:
		return errClosed()
	default:
		return ctx.Err()
	}
}

// publish shows readers what a committed transaction has changed.
func (s *Store) publish(t *writeTx) {
	s.numbers = t.numbers
	s.eventCache.empty()
	if len(t.appended) > 0 {
		s.notifyChanged()
	}
	s.index.committed(t)
	s.eraser.committed(t)
}

// commit runs f between BEGIN and COMMIT. On an error, or a panic of f, it
// rolls back: an open transaction would hold up every later write.
func (t *writeTx) commit(ctx context.Context, f func(context.Context, *writeTx) error) error {
	if err := t.run(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin writing: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			clear(t.s.chats)
			// SQLite has rolled back by itself after some failures, so that this
			// may fail: the first error is the one that counts.
			_ = t.run(ctx, "ROLLBACK")
		}
	}()
	if err := f(ctx, t); err != nil {
		return err
	}
	// One look at the files, as late as a commit can still be undone: into files
	// that were taken away nothing is written, shown or acknowledged.
	if err := t.s.watch.Check(); err != nil {
		return err
	}
	unlearn := t.s.people.publish(t.people)
	takeBack := func() {
		unlearn()
		t.s.eventCache.empty() // a page that was read meanwhile may name them
	}
	if err := t.s.beforeCommit(); err != nil {
		takeBack()
		return err
	}
	if err := t.run(ctx, "COMMIT"); err != nil {
		takeBack()
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return nil
}

// change executes a statement and returns how many rows it changed.
func (t *writeTx) change(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.run(ctx, query, args...); err != nil {
		return 0, err
	}
	return t.changes(), nil
}

// insert executes a statement and returns the row's id.
func (t *writeTx) insert(ctx context.Context, query string, args ...any) (int64, error) {
	if err := t.run(ctx, query, args...); err != nil {
		return 0, err
	}
	return t.lastID(), nil
}

// find reads one row and reports whether there is one.
func (t *writeTx) find(ctx context.Context, query string, args []any, into ...any) (bool, error) {
	err := t.scan(ctx, query, args, into...)
	if err == sql.ErrNoRows {
		return false, nil
	}
	return err == nil, err
}
