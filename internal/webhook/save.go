package webhook

import (
	"context"
	"time"

	"bridged/internal/store"
)

// mark notes that an item has changed.
func (w *worker) mark(it *item) {
	if !it.isDirty {
		it.isDirty = true
		w.dirty = append(w.dirty, it)
	}
}

// tried notes that an item was tried or dropped.
func (w *worker) tried(it *item) {
	w.mark(it)
	w.urgent = true
}

// saveAt returns when to save, zero for not at all.
func (w *worker) saveAt() time.Time {
	switch {
	case len(w.dirty) == 0 && w.saved == w.read:
		return time.Time{}
	case !w.saveAgain.IsZero():
		return w.saveAgain
	case w.urgent || w.isStale || len(w.dirty) >= pageSize:
		return time.Now()
	case w.behindAt.IsZero():
		w.behindAt = time.Now()
	}
	return w.behindAt.Add(lazySave)
}

// save brings the store up to date. Posts under way go on meanwhile.
func (w *worker) save() error {
	p := store.DeliveryProgress{Cursor: w.read}
	for _, it := range w.dirty {
		if it.dropped {
			p.Dropped = append(p.Dropped, it.EventID)
			continue
		}
		p.Deliveries = append(p.Deliveries, it.WebhookDelivery)
	}
	if err := w.d.store.SaveDeliveries(context.WithoutCancel(w.posting), w.id, p); err != nil {
		w.saveAgain = time.Now().Add(storeRetry)
		return err
	}
	for _, it := range w.dirty {
		it.isDirty = false
	}
	w.dirty, w.urgent, w.saved, w.behindAt, w.saveAgain = nil, false, w.read, time.Time{}, time.Time{}
	return nil
}
