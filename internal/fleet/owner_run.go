package fleet

import (
	"context"

	"bridged/internal/bridge"
)

// sessionRun is the last run of a session, wherever it was.
type sessionRun struct {
	Directory string      `json:"directory"` // its name; see Place
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
	if run != nil && !run.Returned && run.Directory != o.options.Place.Directory {
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

// save writes down a run, for all and for this directory, unless another process
// has meanwhile.
func (o *owner) save(ctx context.Context, session string, returned bool) (err error) {
	run := sessionRun{Directory: o.options.Place.Directory, Host: o.options.Host, Returned: returned}
	if run.Event, run.EventAt, err = o.newest(ctx); err != nil {
		return err
	}
	if o.runs, err = o.registry.saveRun(ctx, session, run, o.runs); err != nil {
		return err
	}
	return o.options.Place.save(Place{Session: session, Returned: returned})
}
