package chatimport

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/media"
)

// job is one import.
type job struct {
	i    *Importer
	ctx  context.Context // of the whole import
	end  func(cause error)
	tree int64
	seq  int64 // of the stored import; 0 for a dry run
	done chan struct{}

	// The fields of this group are cleared when the import has ended.
	r       Request
	name    string // of the chat, if its JID is made from it
	archive *chatexport.Archive
	// The times of the first and of the last message.
	first, last time.Time
	senders     map[string]sender
	sums        map[string][]byte // hashes of the files that messages name
	announced   hundredths

	failed error // valid after done is closed
	size   int   // of the state, set when the import has ended; guarded by the Importer's mu

	mu    sync.Mutex
	state bridge.Import // guarded by mu
}

// endAfter ends the import if it takes longer than a limit.
func (j *job) endAfter(limit time.Duration) {
	late := time.AfterFunc(limit, func() { j.end(errTooLong) })
	context.AfterFunc(j.ctx, func() { late.Stop() })
}

func (j *job) now() bridge.Import {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

func (j *job) change(f func(*bridge.Import)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f(&j.state)
}

// run imports the export after prepare.
func (j *job) run() {
	defer close(j.done)
	began := time.Now()
	err := j.endedBy(j.importAll(j.ctx))
	j.r, j.name, j.archive, j.senders, j.sums = Request{}, "", nil, nil, nil // the stored import needs none of them
	j.failed = err
	cancelled := errors.Is(err, errCancelled) || errors.Is(err, errTokenEnded)
	j.change(func(state *bridge.Import) {
		state.EndedAt = new(bridge.At(j.i.o.Now()))
		switch {
		case cancelled:
			state.State, state.Error = bridge.ImportCancelled, new(sentence(err))
		case err != nil:
			state.State, state.Error = bridge.ImportFailed, new(sentence(err))
		default:
			state.State = bridge.ImportDone
		}
	})
	j.storeEnd()
	end := j.now()
	j.i.announce(end)
	log := j.i.o.Log.Info()
	if err != nil && !cancelled {
		log = j.i.o.Log.Error().Err(err)
	}
	log.Str("chat", end.ChatJID.Redacted()).Str("state", string(end.State)).Bool("dry_run", end.DryRun).Int("imported", end.Imported).Int("duplicates", end.Duplicates).
		Int("media", end.Media).Dur("took", time.Since(began)).Msg("chat import ended")
	j.i.forget(j)
}

// cancelled marks an import as cancelled that has stored nothing.
func (j *job) cancelled(why error) {
	j.change(func(state *bridge.Import) {
		state.State, state.Error, state.EndedAt = bridge.ImportCancelled, new(why.Error()), new(bridge.At(j.i.o.Now()))
	})
	j.storeEnd()
}

// cause returns why the import's context has ended.
func (j *job) cause() error {
	cause := context.Cause(j.ctx)
	if cause != nil && cause == context.Cause(j.i.o.Lifetime) {
		return errStopped
	}
	return cause
}

// endedBy returns the error of an import for callers: the cause if its context has ended.
func (j *job) endedBy(err error) error {
	if err == nil || j.ctx.Err() == nil {
		return err
	}
	switch cause := j.cause(); cause {
	case errStopped:
		return bridge.NotConnected(interrupted).Because(cause)
	case errTokenEnded:
		return bridge.Fail(bridge.CodeUnauthorized, "the token of the import has expired or was revoked").Because(cause)
	case errTooLong:
		return bridge.Fail(bridge.CodePayloadTooLarge, "the import took longer than %v: split the export, or import it with BRIDGE_TOKEN; what it stored stays", j.i.run).Because(cause)
	case errCancelled:
		return bridge.Fail(bridge.CodeImportEnded, "the import was cancelled: import the chat again to store the rest").Because(cause)
	default:
		return cause
	}
}

// source is a reader of the export that fails after the import has ended.
type source struct {
	ctx  context.Context
	from *media.Received
}

func (s source) ReadAt(p []byte, at int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.from.ReadAt(p, at)
}

var _ io.ReaderAt = source{}
