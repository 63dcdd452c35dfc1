package simnet

import (
	"context"
	"slices"
	"sync"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/people"
)

// inbox holds everything that a phone's client has reported, and wakes the waiters when it grows.
type inbox struct {
	// mu guards everything below.
	mu       sync.Mutex
	messages []*Received
	others   []any
	changed  chan struct{}
	waiters  int
	barriers map[string]chan struct{}
	handlers []func(*Phone, *Received)
	pending  []*Received
	serving  bool

	typing    map[person]string // current activity, from presence updates
	available map[*people.Account]bool
}

func newInbox() *inbox {
	return &inbox{
		changed: make(chan struct{}), barriers: make(map[string]chan struct{}),
		typing: make(map[person]string), available: make(map[*people.Account]bool),
	}
}

// Received is a message that a phone got and decrypted.
type Received struct {
	// Message is whatsmeow's event: the info and, in its own field Message, the content.
	*events.Message
	Phone *Phone
}

// Text returns the text or the caption of the message, or "".
func (r *Received) Text() string { return content.TextOf(r.Message.Message) }

// handle takes the events of the phone's client. It never refuses one.
func (p *Phone) handle(event any) {
	p.showPerson(event)
	if message, ok := event.(*events.Message); ok {
		if content.OnlyKeys(message.Message) {
			return
		}
		if message.Info.Category == "peer" {
			p.answerPeer(message)
		} else {
			p.receive(&Received{Message: message, Phone: p})
			return
		}
	}
	if _, ok := event.(*events.Disconnected); ok {
		select {
		case p.cut <- struct{}{}:
		default:
		}
	}
	if name, ok := event.(*events.PushNameSetting); ok {
		p.publishName(name.Action.GetName())
	}
	if about, ok := event.(*events.UserAbout); ok && about.JID == types.ServerJID {
		p.inbox.passBarrier(about.Status)
		return
	}
	p.inbox.mu.Lock()
	defer p.inbox.mu.Unlock()
	p.inbox.others = append(p.inbox.others, event)
	p.inbox.wake()
}

func (p *Phone) receive(r *Received) {
	i := p.inbox
	p.keepMedia(r)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.messages = append(i.messages, r)
	i.wake()
	if len(i.handlers) == 0 {
		return
	}
	i.pending = append(i.pending, r)
	if !i.serving {
		i.serving = true
		p.running.Start(p.serveHandlers)
	}
}

// serveHandlers calls the handlers for one message after the other, on a goroutine of its own, so that they may block.
func (p *Phone) serveHandlers() {
	for {
		r, handlers := p.inbox.nextPending()
		if r == nil {
			return
		}
		for _, handle := range handlers {
			handle(p, r)
		}
	}
}

func (i *inbox) nextPending() (*Received, []func(*Phone, *Received)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.pending) == 0 {
		i.serving = false
		return nil, nil
	}
	next := i.pending[0]
	i.pending = i.pending[1:]
	return next, slices.Clone(i.handlers)
}

// wake wakes all waiters. The caller holds mu.
func (i *inbox) wake() {
	if i.waiters > 0 {
		close(i.changed)
		i.changed = make(chan struct{})
	}
}

// OnMessage registers a handler for later messages. Handlers are called for one message after the other on a goroutine of their own, and may
// send and wait.
func (p *Phone) OnMessage(handle func(*Phone, *Received)) {
	p.inbox.mu.Lock()
	defer p.inbox.mu.Unlock()
	p.inbox.handlers = append(p.inbox.handlers, handle)
}

// await waits until a condition holds for the inbox.
func (i *inbox) await(ctx context.Context, p *Phone, holds func(*inbox) bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiters++
	defer func() { i.waiters-- }()
	for !holds(i) {
		changed := i.changed
		i.mu.Unlock()
		err := p.net.Await(ctx, changed)
		i.mu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitIn waits for the first match in a list that only grows.
func awaitIn[T any](ctx context.Context, p *Phone, list func(*inbox) []T, match func(T) bool) (found T, err error) {
	seen := 0
	err = p.inbox.await(ctx, p, func(i *inbox) bool {
		all := list(i)
		// Forget may have shortened the list.
		for seen = min(seen, len(all)); seen < len(all); seen++ {
			if match(all[seen]) {
				found = all[seen]
				return true
			}
		}
		return false
	})
	return found, err
}

// Received waits for a matching message, and also finds one that has already come.
func (p *Phone) Received(ctx context.Context, match func(*Received) bool) (*Received, error) {
	return awaitIn(ctx, p, func(i *inbox) []*Received { return i.messages }, match)
}

// ReceivedText waits for a message with exactly this text or caption.
func (p *Phone) ReceivedText(ctx context.Context, text string) (*Received, error) {
	return p.Received(ctx, func(r *Received) bool { return r.Text() == text })
}

// ReceivedID waits for the message with the given id.
func (p *Phone) ReceivedID(ctx context.Context, id types.MessageID) (*Received, error) {
	return p.Received(ctx, func(r *Received) bool { return r.Info.ID == id })
}

// Event waits for an event of whatsmeow's other than a message.
func (p *Phone) Event(ctx context.Context, match func(any) bool) (any, error) {
	return awaitIn(ctx, p, func(i *inbox) []any { return i.others }, match)
}

// WaitReceipt waits for a receipt for a message that this account sent. Inactive receipts count as delivered.
func (p *Phone) WaitReceipt(ctx context.Context, id types.MessageID, kind types.ReceiptType) (*events.Receipt, error) {
	found, err := p.Event(ctx, func(event any) bool {
		receipt, ok := event.(*events.Receipt)
		return ok && sameReceipt(receipt.Type, kind) && slices.Contains(receipt.MessageIDs, id)
	})
	if err != nil {
		return nil, err
	}
	return found.(*events.Receipt), nil
}

func sameReceipt(got, want types.ReceiptType) bool {
	if got == types.ReceiptTypeInactive {
		got = types.ReceiptTypeDelivered
	}
	return got == want
}

// Messages returns the messages that the phone has received so far, in order.
func (p *Phone) Messages() []*Received {
	p.inbox.mu.Lock()
	defer p.inbox.mu.Unlock()
	return slices.Clone(p.inbox.messages)
}

// Events returns all other events of the phone's client so far.
func (p *Phone) Events() []any {
	p.inbox.mu.Lock()
	defer p.inbox.mu.Unlock()
	return slices.Clone(p.inbox.others)
}

// Forget discards everything received so far, which limits the memory of long runs.
func (p *Phone) Forget() {
	p.inbox.mu.Lock()
	defer p.inbox.mu.Unlock()
	p.inbox.messages, p.inbox.others = nil, nil
}
