package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"bridged/internal/bridge"
)

// sessionRun is the last run of a session, wherever it was.
type sessionRun struct {
	Directory string      `json:"directory"` // the place's mark
	Host      string      `json:"host"`
	Event     int64       `json:"event"` // the newest of the log: at the beginning, and at the end where it was given back
	EventAt   bridge.Time `json:"eventAt"`
	Returned  bool        `json:"returned"` // it ended, and was given back
}

// mayRun refuses a session that an old copy of the directory holds, or that might.
func (o *owner) mayRun(ctx context.Context, session string) error {
	run, revision, err := o.registry.lastRun(ctx, session)
	if err != nil {
		return err
	}
	o.runs = revision
	if run != nil && !run.Returned && run.Directory != o.options.Place.Mark {
		return bridge.NotConnected("this data directory is a copy: the session was last run from another one (on %s), which has not given it back. Start that one; where it is lost, log out here and pair again", run.Host)
	}
	if run != nil {
		if err := o.hasCome(ctx, run.Event, run.EventAt); err != nil {
			return err
		}
	}
	logID, event, at, err := o.registry.published(ctx)
	if err != nil || event == 0 {
		return err
	}
	position, err := o.journal.Position(ctx)
	if err != nil || position.LogID != logID {
		return err // another log cannot be compared
	}
	return o.hasCome(ctx, event, at)
}

// hasCome refuses a log that does not have an event. One that is not shown any
// more, or whose time is not known, cannot be compared.
func (o *owner) hasCome(ctx context.Context, event int64, at bridge.Time) error {
	newest, err := o.journal.Last(ctx)
	if err != nil || event == 0 {
		return err
	}
	has := event <= newest
	if has {
		page, err := o.journal.Events(ctx, event-1, 1)
		if err != nil {
			return err
		}
		has = len(page.Events) == 0 || page.Events[0].ID != event || at.IsZero() || page.Events[0].At.UnixMilli() == at.UnixMilli()
	}
	if has {
		return nil
	}
	return bridge.NotConnected("this data directory is old: the account has gone on elsewhere since, up to event %d. An old session must never be started: use the directory that ran it last, or log out here and pair again", event)
}

// newest returns the newest event of the log that is shown.
func (o *owner) newest(ctx context.Context) (event int64, at bridge.Time, err error) {
	last, err := o.journal.Last(ctx)
	if err != nil || last == 0 {
		return 0, at, err
	}
	page, err := o.journal.Events(ctx, last-1, 1)
	if err != nil || len(page.Events) == 0 {
		return 0, at, err
	}
	return page.Events[0].ID, page.Events[0].At, nil
}

// save writes down a run, for all and for this directory, unless somebody else has
// meanwhile.
func (o *owner) save(ctx context.Context, session string, returned bool) (err error) {
	run := sessionRun{Directory: o.options.Place.Mark, Host: o.options.Host, Returned: returned}
	if run.Event, run.EventAt, err = o.newest(ctx); err != nil {
		return err
	}
	if o.runs, err = o.registry.saveRun(ctx, session, run, o.runs); err != nil {
		return err
	}
	return o.note(ownNote{Account: o.registry.name(), Session: session, Lock: o.options.Place.Lock, Returned: returned})
}

// release gives the session back, whose connection has ended. Where NATS does not
// answer it is left as it is: this directory may begin it again.
func (o *owner) release() {
	o.mu.Lock()
	session, wasHeld := o.session, o.standing == held && !o.hasRunOut()
	o.session, o.onChange, o.standing, o.refusal = "", nil, sought, nil
	if o.limit != nil {
		o.limit.Stop()
	}
	if o.cancel != nil {
		o.cancel(nil)
	}
	o.mu.Unlock()
	defer o.poke()
	if !wasHeld {
		return
	}
	o.turn.Lock()
	defer o.turn.Unlock()
	if o.registry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	err := o.save(ctx, session, true)
	if err == nil {
		err = o.remove(ctx)
	}
	o.revision = 0
	if err != nil {
		o.log.Warn().Err(err).Msg("the account was not given back to the fleet: only this data directory can go on with it")
	}
}

// remove removes the key, also behind a renewal whose answer has not come. The node
// that is asked may be behind.
func (o *owner) remove(ctx context.Context) error {
	h, revision, err := o.registry.holder(ctx)
	if err != nil {
		return err
	}
	if h == nil || h.Process != o.process {
		revision = 0
	}
	if revision = max(revision, o.revision); revision == 0 {
		return nil
	}
	return o.registry.remove(ctx, revision)
}

// ownNote is kept in the data directory: what it ran last, for a start without NATS.
type ownNote struct {
	Account  string `json:"account"`
	Session  string `json:"session"`
	Lock     string `json:"lock"`
	Returned bool   `json:"returned"`
}

// mayGoOn reports whether nobody but this directory can have the session: it ran it
// last, on this machine since its start, and has not given it back.
func (o *owner) mayGoOn(session string) bool {
	place := o.options.Place
	if place.IsShared || place.Lock == "" {
		return false
	}
	data, err := os.ReadFile(place.Note)
	if err != nil {
		return false
	}
	var note ownNote
	if err := json.Unmarshal(data, &note); err != nil {
		return false
	}
	return note.Session == session && note.Lock == place.Lock && !note.Returned
}

// note replaces the note of the data directory.
func (o *owner) note(n ownNote) (err error) {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	path := o.options.Place.Note
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if _, err := file.Write(data); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
