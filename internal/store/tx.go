package store

import (
	"context"
	"errors"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/people"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
	"bridged/internal/store/storefile"
)

// writeTx is one write transaction.
type writeTx struct {
	people.Tx
	s        *Store
	at       int64
	appended map[read.EntryKey]bool
	changed  map[int64]*loggedChange // by message

	numbers    numbers
	erased     bool // something was deleted that must not stay on the disk
	erasedFile bool // and it had a file
	silent     bool // changes append no events
	queued     bool // there are more transcripts to make
}

// numbers holds the last numbers of messages and events. A number is never used again, even if its row
// was removed.
type numbers struct{ seq, event int64 }

func (s *Store) loadNumbers(ctx context.Context) error {
	return s.view(ctx, func(c *sqlite.Conn) {
		c.Find("SELECT ifnull(max(seq), 0) FROM messages", nil, &s.numbers.seq)
		s.numbers.seq = max(s.numbers.seq, settings.Number(c, settingLastSeq))
		s.numbers.event, _ = settings.LastEvent(c)
	})
}

// view runs f on one snapshot.
func (s *Store) view(ctx context.Context, f func(*sqlite.Conn)) error {
	r, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { s.readers.idle <- r }()
	return storefile.ExplainRead(ctx, r.View(ctx, func() { f(r) }))
}

// write runs f in one immediate transaction, which does not end with ctx once it has begun:
// it is either committed or failed, never unknown.
func (s *Store) write(ctx context.Context, f func(*writeTx)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.mayWrite(ctx); err != nil {
		return err
	}
	return s.writeLocked(f)
}

// writeUnsynced is like write, but does not wait for the disk: a power cut may undo the transaction,
// until another one is synced.
func (s *Store) writeUnsynced(ctx context.Context, f func(*writeTx)) (err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.mayWrite(ctx); err != nil {
		return err
	}
	if err := s.writer.Script("PRAGMA synchronous(NORMAL)"); err != nil {
		return storefile.Explain(err)
	}
	defer func() { err = errors.Join(err, storefile.Explain(s.writer.Script("PRAGMA synchronous(FULL)"))) }()
	return s.writeLocked(f)
}

func (s *Store) writeLocked(f func(*writeTx)) error {
	if err := s.people.Undo(s.writer); err != nil {
		return storefile.Explain(err)
	}
	t := &writeTx{Tx: people.Tx{Conn: s.writer, People: s.people}, s: s, at: s.now(), numbers: s.numbers}
	t.Dependents = mergeTx{t}
	if err := s.commit(t, f); err != nil {
		return storefile.Explain(err)
	}
	s.publish(t)
	return nil
}

// writeAs is like write. Errors begin with the text of action.
func (s *Store) writeAs(ctx context.Context, action string, f func(*writeTx)) error {
	if err := s.write(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
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

// commit runs f and commits its changes.
func (s *Store) commit(t *writeTx, f func(*writeTx)) error {
	committed := false
	defer func() { // also after a panic of f
		if committed {
			return
		}
		clear(s.chats)
		_ = s.people.Undo(s.writer) // else before the next transaction
		s.DropPages()               // a concurrent read may contain new people
	}()
	err := t.Update(func() {
		f(t)
		// As late as possible before the commit, so that no stanza is acknowledged after its data was
		// written into removed files.
		t.Fail(s.o.Watch.Check())
		if t.Err() == nil {
			t.Fail(s.o.BeforeCommit())
		}
	})
	committed = err == nil
	return err
}

// publish shows readers the changes of a committed transaction.
func (s *Store) publish(t *writeTx) {
	s.numbers = t.numbers
	s.people.Committed()
	s.DropPages()
	if len(t.appended) > 0 {
		s.waking.Lock()
		close(s.changed)
		s.changed = make(chan struct{})
		s.waking.Unlock()
	}
	s.index.Committed(t.numbers.seq, len(t.appended) > 0)
	s.eraser.committed(t)
	if t.queued {
		bridge.Wake(s.queued)
	}
}

// transactions runs the transactions of packages search and settings.
type transactions struct{ *Store }

// View runs f on one snapshot.
func (s transactions) View(ctx context.Context, f func(*sqlite.Conn)) error {
	return s.view(ctx, f)
}

// Update runs f in one transaction.
func (s transactions) Update(ctx context.Context, f func(*sqlite.Conn)) error {
	return s.write(ctx, func(t *writeTx) { f(t.Conn) })
}

// UpdateUnsynced runs f in one transaction, which a power cut may undo.
func (s transactions) UpdateUnsynced(ctx context.Context, f func(*sqlite.Conn)) error {
	return s.writeUnsynced(ctx, func(t *writeTx) { f(t.Conn) })
}

// Reindex calls [search.Index.Rebuild].
func (s *Store) Reindex(ctx context.Context, progress func(done, total int)) error {
	return s.index.Rebuild(ctx, progress)
}

// Indexed calls [search.Index.Indexed].
func (s *Store) Indexed(ctx context.Context) (done, total int, err error) {
	return s.index.Indexed(ctx)
}
