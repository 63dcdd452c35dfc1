package wa

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"

	"bridged/internal/bridge"
)

const (
	// wholeSyncEvery is the shortest pause between two full reads of a collection, and
	// recoverEvery between two requests for it to the phone.
	wholeSyncEvery = time.Hour
	recoverEvery   = 48 * time.Hour
	// syncCheckEvery is the pause between two checks whether everything is in order again.
	syncCheckEvery = time.Hour

	settingSyncBehind    = "appstate_behind"     // since when something is not in order
	settingSyncRecovered = "appstate_recovered." // and a collection: when the phone was asked for it
)

// syncRepair repairs the account's own state (names, settings of chats) if patches do not match
// their hash or keys are missing. Without the repair, further changes would not be applied.
type syncRepair struct {
	m      *Manager
	notify chan struct{}
	whole  map[appstate.WAPatchName]time.Time // when a collection was last read in full; only used by run
	looked time.Time                          // the last check whether everything is in order; only used by run

	mu        sync.Mutex
	failed    map[appstate.WAPatchName]bool // whether reading it in full has failed; guarded by mu
	unsettled bool                          // something was not in order; guarded by mu
}

func newSyncRepair(m *Manager) *syncRepair {
	return &syncRepair{
		m: m, notify: make(chan struct{}, 1),
		whole: map[appstate.WAPatchName]time.Time{}, failed: map[appstate.WAPatchName]bool{},
	}
}

// fail records a collection that could not be read, partly or in full.
func (r *syncRepair) fail(name appstate.WAPatchName, whole bool) {
	r.mu.Lock()
	r.failed[name] = r.failed[name] || whole
	r.mu.Unlock()
	r.missKey()
}

// missKey records that a key is missing. whatsmeow has asked the phone for it.
func (r *syncRepair) missKey() {
	r.mu.Lock()
	r.unsettled = true
	r.mu.Unlock()
	r.wake()
}

// wake makes run check, after a failure and after a login.
func (r *syncRepair) wake() { bridge.Wake(r.notify) }

func (r *syncRepair) take() (failed map[appstate.WAPatchName]bool, behind bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	failed, behind = r.failed, r.unsettled
	r.failed, r.unsettled = map[appstate.WAPatchName]bool{}, false
	return failed, behind
}

func (r *syncRepair) run(ctx context.Context) {
	again := time.NewTicker(syncCheckEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		case <-r.notify:
		}
		l, err := r.m.open()
		if err != nil {
			continue // the next login wakes it
		}
		if err := r.look(ctx, l); err != nil && ctx.Err() == nil {
			r.m.log.Warn().Str("error", bridge.Redact(err.Error())).Msg("cannot repair the account's state")
		}
	}
}

// look repairs failed collections, and checks now and then whether everything is in order again.
func (r *syncRepair) look(ctx context.Context, l *link) error {
	failed, behind := r.take()
	since, err := r.since(ctx, behind)
	if err != nil {
		r.putBack(failed)
		return err
	}
	if since.IsZero() {
		return nil
	}
	var errs []error
	for name, whole := range failed {
		errs = append(errs, r.repair(ctx, l, name, whole))
	}
	if len(failed) == 0 && (r.looked.IsZero() || time.Since(r.looked) >= syncCheckEvery) {
		r.looked = time.Now()
		errs = append(errs, r.check(ctx, l, since))
	}
	return errors.Join(errs...)
}

// since returns since when something is not in order, or zero.
func (r *syncRepair) since(ctx context.Context, behind bool) (time.Time, error) {
	at, err := r.m.savedTime(ctx, settingSyncBehind)
	if err != nil || !behind || !at.IsZero() {
		return at, err
	}
	return r.now(ctx, settingSyncBehind)
}

// repair reads a collection in full. If that fails, it asks the phone for the collection.
func (r *syncRepair) repair(ctx context.Context, l *link, name appstate.WAPatchName, whole bool) error {
	if last, done := r.whole[name]; !whole && (!done || time.Since(last) >= wholeSyncEvery) {
		r.whole[name] = time.Now()
		if err := l.cli.FetchAppState(ctx, name, true, false); err == nil || isAway(err) {
			return err
		}
	}
	asked, err := r.m.savedTime(ctx, settingSyncRecovered+string(name))
	if err != nil {
		return err
	}
	if since := r.m.opts.Clock.Now().Sub(asked); since >= 0 && since < recoverEvery {
		return nil
	}
	// Stored before asking: a phone that is asked too often unlinks the device.
	if _, err := r.now(ctx, settingSyncRecovered+string(name)); err != nil {
		return err
	}
	r.m.log.Info().Str("collection", string(name)).Msg("cannot read the account's state; asking the phone for it")
	_, err = l.cli.SendPeerMessage(ctx, whatsmeow.BuildAppStateRecoveryRequest(name))
	return err
}

// check checks whether every collection can be read. If a key is still missing after a while, the
// phone may have lost it.
func (r *syncRepair) check(ctx context.Context, l *link, since time.Time) error {
	waited := r.m.opts.Clock.Now().Sub(since) >= syncCheckEvery
	for _, name := range appstate.AllPatchNames {
		err := l.cli.FetchAppState(ctx, name, false, false)
		if errors.Is(err, appstate.ErrKeyNotFound) && waited {
			err = r.repair(ctx, l, name, false)
		}
		if err != nil {
			return err
		}
	}
	if failed, behind := r.take(); len(failed) > 0 || behind {
		r.putBack(failed)
		return nil
	}
	return r.m.store.SetSetting(ctx, settingSyncBehind, "")
}

// putBack returns the failed collections to the list after an unsuccessful check.
func (r *syncRepair) putBack(failed map[appstate.WAPatchName]bool) {
	r.missKey()
	for name, whole := range failed {
		r.fail(name, whole)
	}
}

// now returns the current time and stores it in a setting.
func (r *syncRepair) now(ctx context.Context, setting string) (time.Time, error) {
	now := r.m.opts.Clock.Now()
	return now, r.m.store.SetSetting(ctx, setting, strconv.FormatInt(now.Unix(), 10))
}

// isAway reports whether a query failed because the account is not connected.
func isAway(err error) bool {
	return errors.Is(err, whatsmeow.ErrIQDisconnected) || errors.Is(err, whatsmeow.ErrNotConnected) || errors.Is(err, context.Canceled)
}
