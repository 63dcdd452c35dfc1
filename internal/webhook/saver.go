package webhook

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// saver holds the changes that are not in the store yet.
type saver struct {
	done   chan error // of the save under way
	saving []*item    // in it; nil where there is none
	target int64      // its cursor
	busy   bool       // a save is under way

	dirty  []*item
	noted  int   // of these, how many were tried
	cursor int64 // as it is in the store
	since  time.Time
	again  time.Time // after a failure, when it is tried again
	soon   bool      // the worker waits for it
	gone   bool      // the webhook was removed
}

func newSaver() saver { return saver{done: make(chan error, 1)} }

// isClean reports whether the store knows all deliveries.
func (s *saver) isClean() bool { return !s.busy && len(s.dirty) == 0 }

// isFailing reports whether the last save has failed: nothing is posted until one
// succeeds, or it would be posted again and again.
func (s *saver) isFailing() bool { return !s.again.IsZero() }

// reset begins anew behind the store's cursor. A failure before does not count, or no post
// would start until there is something to save.
func (s *saver) reset(cursor int64) { s.cursor, s.again = cursor, time.Time{} }

// mark notes that an item has changed.
func (s *saver) mark(it *item) {
	if it.isDirty {
		return
	}
	it.isDirty = true
	if len(s.dirty) == 0 {
		s.since = time.Now()
	}
	s.dirty = append(s.dirty, it)
}

// tried notes that an item was tried or dropped.
func (s *saver) tried(it *item) {
	s.mark(it)
	s.noted++
}

// at returns when to save, zero for not at all.
func (s *saver) at(read int64) time.Time {
	switch {
	case s.busy || len(s.dirty) == 0 && s.cursor == read:
		return time.Time{}
	case s.isFailing():
		return s.again
	case s.noted > 0 || s.soon && len(s.dirty) > 0 || len(s.dirty) >= pageSize:
		return time.Now()
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	return s.since.Add(lazySave)
}

// begin begins a save and returns its content.
func (s *saver) begin(read int64) store.DeliveryProgress {
	p := store.DeliveryProgress{Cursor: read}
	for _, it := range s.dirty {
		it.isDirty = false
		if it.dropped {
			p.Dropped = append(p.Dropped, it.EventID)
			continue
		}
		p.Deliveries = append(p.Deliveries, it.WebhookDelivery)
	}
	s.saving, s.dirty, s.noted, s.soon, s.since = s.dirty, nil, 0, false, time.Time{}
	s.busy, s.target = true, read
	return p
}

// end takes the outcome of the save under way and returns the items that it stored.
func (s *saver) end(err error) []*item {
	saved := s.saving
	s.saving, s.busy = nil, false
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound:
		s.gone = true
	case err != nil:
		s.again = time.Now().Add(storeRetry)
		later := s.dirty
		s.dirty = nil
		for _, it := range saved {
			if !it.isDirty {
				it.isDirty = true
				s.dirty = append(s.dirty, it)
			}
		}
		s.dirty = append(s.dirty, later...)
		s.noted++ // it is tried again as soon as it may be
	default:
		s.again, s.cursor = time.Time{}, s.target
		return saved
	}
	return nil
}

// save begins a save if one is due.
func (w *worker) save() {
	w.saver.soon = w.saver.soon || w.isStale
	at := w.saver.at(w.read)
	if at.IsZero() || at.After(time.Now()) || w.saver.gone {
		return
	}
	p := w.saver.begin(w.read)
	done := w.saver.done
	go func() { done <- w.d.store.SaveDeliveries(context.WithoutCancel(w.posting), w.id, p) }()
}

// saved takes the outcome of a save.
func (w *worker) saved(err error) {
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		w.log.Error().Err(err).Msg("deliveries not saved; trying again")
	}
	for _, it := range w.saver.end(err) {
		if it.queue != nil && !it.isDirty {
			it.queue.unsaved--
			it.queue = nil
		}
	}
	for _, q := range w.queues {
		q.isWaiting = false
	}
}
