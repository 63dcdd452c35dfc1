package groups

import (
	"context"
	"time"

	"bridged/internal/bridge"
)

// DirtyKind is the network's name for lost changes of groups.
const DirtyKind = "groups"

// dirt is the network's report that it has lost changes of groups. It is repeated at each login
// until it is cleared. The mutex of its fetches guards it.
type dirt struct {
	reported time.Time // not cleared yet; zero if none
	asked    time.Time // the report when the list of groups was last requested
	read     time.Time // the report when the list was last read
}

// MarkDirty reads all groups again because the network has lost changes of them. at identifies
// the network's report; if the groups were read after it, they are not read again.
func (gs *Groups) MarkDirty(at time.Time) {
	f := &gs.fetches
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirt.reported = at
	f.list = f.list || at.IsZero() || !at.Equal(f.dirt.read)
	f.wake()
}

// isDirty reports whether the groups must still be read after the network's report. The report
// may be received before the account is open.
func (f *fetches) isDirty() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.dirt.reported.IsZero() && !f.dirt.reported.Equal(f.dirt.read)
}

// listRead records that the list of groups was read.
func (f *fetches) listRead() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirt.read = f.dirt.asked
}

// readReport returns the report after which the groups were read, or zero.
func (f *fetches) readReport() (at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dirt.reported.Equal(f.dirt.read) {
		at, f.dirt.reported = f.dirt.reported, time.Time{}
	}
	return at
}

// clean clears the network's report after the groups were read. If that fails, the network
// repeats the report at the next login.
func (gs *Groups) clean(ctx context.Context) {
	at := gs.fetches.readReport()
	if at.IsZero() {
		return
	}
	c, err := gs.open()
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		err = c.MarkNotDirty(ctx, DirtyKind, at)
	}
	if err != nil {
		gs.o.Log.Debug().Str("error", bridge.Redact(err.Error())).Msg("cannot clear the report of lost changes of groups")
	}
}
