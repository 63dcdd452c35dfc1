package webhook

import (
	"context"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	// batchSize is how many new events are taken at once.
	batchSize = 32
	// concurrency is how many chats are served at the same time.
	concurrency = 4
	// queueSize is how many pending deliveries of one chat are taken at once.
	queueSize = 8
)

// endpoint serves one webhook. Its fields but for outage belong to run.
type endpoint struct {
	d    *Dispatcher
	id   int64
	ctx  context.Context // ends with the dispatcher or when the webhook is gone
	end  context.CancelFunc
	poke func() // wakes the loop, also out of a pause

	poked  chan struct{}
	outage outage
	// probeNew alternates, while nothing gets through, between what failed and
	// what is new: neither may keep the other from showing that it would work.
	probeNew bool
}

func (d *Dispatcher) newEndpoint(ctx context.Context, id int64) *endpoint {
	e := &endpoint{d: d, id: id, poked: make(chan struct{}, 1)}
	e.ctx, e.end = context.WithCancel(ctx)
	e.poke = func() {
		select {
		case e.poked <- struct{}{}:
		default:
		}
	}
	return e
}

// run posts what comes until the webhook is no longer served. posting outlives
// that a little, for what is under way.
func (e *endpoint) run(posting context.Context) {
	defer e.end()
	for e.ctx.Err() == nil {
		changed := e.d.store.Changed()
		wait, err := e.step(posting)
		if bridge.CodeOf(err) == bridge.CodeNotFound {
			return // it was removed
		}
		if err != nil && e.ctx.Err() == nil {
			e.d.log.Error().Err(err).Int64("webhook", e.id).Msg("webhook not served")
			wait = storeRetry
		}
		if wait <= 0 {
			continue
		}
		e.sleep(wait, changed)
	}
}

// sleep waits until there may be something to do. In a pause new events are
// none of its business.
func (e *endpoint) sleep(wait time.Duration, changed <-chan struct{}) {
	if e.outage.pause() > 0 {
		changed = nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-e.ctx.Done():
	case <-changed:
	case <-timer.C:
	case <-e.poked:
		e.outage.end()
	}
}

// step posts what is due and answers how long there is nothing to do.
func (e *endpoint) step(posting context.Context) (time.Duration, error) {
	if pause := e.outage.pause(); pause > 0 {
		return pause, nil
	}
	w, err := e.d.store.Webhook(e.ctx, e.id)
	if err != nil {
		return 0, err
	}
	if !w.Enabled {
		return time.Hour, nil // until the dispatcher ends this loop
	}
	heads, err := e.d.store.PendingHeads(e.ctx, e.id)
	if err != nil {
		return 0, err
	}
	plan, err := e.plan(w, heads)
	if err != nil {
		return 0, err
	}
	if plan.empty(w.Cursor) {
		return untilDue(heads), nil
	}
	wasDown := e.outage.down()
	e.post(posting, w, plan)
	if err := e.save(posting, plan); err != nil {
		return 0, err
	}
	if wasDown && !e.outage.down() {
		e.d.log.Info().Int64("webhook", e.id).Msg("webhook is delivered again")
		return 0, e.d.store.RetryDeliveries(posting, e.id)
	}
	return 0, nil
}

// untilDue is the time to the first delivery that is tried again.
func untilDue(heads []bridge.WebhookDelivery) time.Duration {
	wait := time.Hour
	for _, head := range heads {
		wait = min(wait, time.Until(head.NextAttemptAt.Time))
	}
	return max(wait, time.Millisecond)
}

// plan is what one step does: queues are posted at the same time, each in its
// order; waiting are new events of chats where something failed before. Events
// that came with the new ones are posted without being read again.
type plan struct {
	cursor  int64
	queues  [][]*bridge.WebhookDelivery
	waiting []*bridge.WebhookDelivery
	events  map[int64]bridge.Event
}

func (p *plan) empty(cursor int64) bool {
	return len(p.queues) == 0 && len(p.waiting) == 0 && p.cursor == cursor
}

// plan chooses what to post: all that is due and some of what is new, or a
// single delivery while nothing gets through.
func (e *endpoint) plan(w bridge.Webhook, heads []bridge.WebhookDelivery) (*plan, error) {
	p := &plan{cursor: w.Cursor, events: make(map[int64]bridge.Event)}
	if e.outage.down() {
		return p, e.planProbe(p, w, heads)
	}
	now := time.Now()
	for _, head := range heads {
		if len(p.queues) == batchSize || head.NextAttemptAt.After(now) {
			continue
		}
		if err := e.addQueue(p, head, queueSize); err != nil {
			return nil, err
		}
	}
	return p, e.addNew(p, w, heads, batchSize)
}

// planProbe tries one delivery, to see whether the receiver is back.
func (e *endpoint) planProbe(p *plan, w bridge.Webhook, heads []bridge.WebhookDelivery) error {
	e.probeNew = !e.probeNew
	if e.probeNew || len(heads) == 0 {
		if err := e.addNew(p, w, heads, 1); err != nil || len(p.queues) > 0 || len(heads) == 0 {
			return err
		}
	}
	longest := heads[0]
	for _, head := range heads {
		if head.NextAttemptAt.Before(longest.NextAttemptAt.Time) {
			longest = head
		}
	}
	return e.addQueue(p, longest, 1)
}

func (e *endpoint) addQueue(p *plan, head bridge.WebhookDelivery, limit int) error {
	pending, err := e.d.store.PendingOf(e.ctx, head, limit)
	if err != nil {
		return err
	}
	queue := make([]*bridge.WebhookDelivery, len(pending))
	for i := range pending {
		queue[i] = &pending[i]
	}
	p.queues = append(p.queues, queue)
	return nil
}

// addNew takes new events. Those of a chat where something is pending wait
// behind it.
func (e *endpoint) addNew(p *plan, w bridge.Webhook, heads []bridge.WebhookDelivery, limit int) error {
	page, err := e.d.store.Events(e.ctx, store.EventQuery{After: w.Cursor, Limit: limit, Types: w.Types, Chat: w.Chat})
	if err != nil {
		return err
	}
	if page.Reset {
		e.d.log.Warn().Int64("webhook", e.id).Msg("webhook was behind the log: events are lost to it")
		e.addLost(p, w, page)
		return nil
	}
	p.cursor = page.Next
	queues := make(map[bridge.JID]int)
	blocked := make(map[bridge.JID]bool)
	for _, head := range heads {
		blocked[head.ChatJID] = true
	}
	for _, event := range page.Events {
		d := newDelivery(w.ID, event)
		p.events[event.ID] = event
		if blocked[d.ChatJID] {
			p.waiting = append(p.waiting, d)
			continue
		}
		i, known := queues[d.ChatJID]
		if !known {
			i = len(p.queues)
			queues[d.ChatJID] = i
			p.queues = append(p.queues, nil)
		}
		p.queues[i] = append(p.queues[i], d)
	}
	return nil
}

func newDelivery(webhook int64, event bridge.Event) *bridge.WebhookDelivery {
	now := bridge.At(time.Now())
	return &bridge.WebhookDelivery{
		WebhookID: webhook, EventID: event.ID, EventType: event.Type, EventAt: event.At, ChatJID: event.ChatJID,
		Status: bridge.DeliveryPosting, NextAttemptAt: &now,
	}
}

// addLost tells a receiver, before all that is left, that there were events
// which are not in the log any more. It stands in the place of the last of them.
func (e *endpoint) addLost(p *plan, w bridge.Webhook, page store.EventPage) {
	p.cursor = page.Next
	if len(page.Events) > 0 {
		p.cursor = page.Events[0].ID - 1
	}
	reset := newDelivery(w.ID, bridge.Event{ID: p.cursor, Type: bridge.EventReset, At: bridge.At(time.Now())})
	p.queues = append(p.queues, []*bridge.WebhookDelivery{reset})
}

// post works through the plan. After the first failure of a chat the rest of
// its queue waits, and when nothing gets through any more, all the rest.
func (e *endpoint) post(posting context.Context, w bridge.Webhook, p *plan) {
	slots := make(chan struct{}, concurrency)
	var queues sync.WaitGroup
	for _, queue := range p.queues {
		slots <- struct{}{}
		queues.Go(func() {
			defer func() { <-slots }()
			for _, d := range queue {
				if e.ctx.Err() != nil || e.outage.pause() > 0 || !e.try(posting, w, p, d) {
					return
				}
			}
		})
	}
	queues.Wait()
}

// try posts one delivery and notes in it how that went.
func (e *endpoint) try(posting context.Context, w bridge.Webhook, p *plan, d *bridge.WebhookDelivery) bool {
	isNew := d.Attempts == 0
	event, found := p.events[d.EventID]
	if !found {
		var err error
		if event, found, err = e.d.event(posting, d); err != nil {
			return false
		}
	}
	if !found {
		abandon(d, "the event is not in the log any more")
		return true
	}
	got := e.d.post(posting, w, idOf(d), payloadOf(event))
	if posting.Err() != nil && got.failure != "" {
		return false // broken off; how it went is not known
	}
	note(d, got, time.Now())
	e.outage.note(got.failure == "", isNew)
	return d.Status != bridge.DeliveryPosting
}

// save keeps how the plan went. It insists: while the store cannot be written
// nothing more is posted, or the same events would be posted again and again.
func (e *endpoint) save(posting context.Context, p *plan) error {
	list := make([]bridge.WebhookDelivery, 0, len(p.waiting))
	for _, queue := range append(p.queues, p.waiting) {
		for _, d := range queue {
			list = append(list, *d)
		}
	}
	for {
		err := e.d.store.SaveDeliveries(context.WithoutCancel(posting), e.id, p.cursor, list)
		if err == nil || e.ctx.Err() != nil || bridge.CodeOf(err) == bridge.CodeNotFound {
			return err
		}
		e.d.log.Error().Err(err).Int64("webhook", e.id).Msg("deliveries not saved; trying again")
		select {
		case <-e.ctx.Done():
		case <-time.After(storeRetry):
		}
	}
}
