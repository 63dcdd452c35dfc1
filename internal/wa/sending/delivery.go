package sending

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// Waits limits how long a send waits: longer for many devices, which take the network long.
type Waits struct {
	Answer    time.Duration // for the acknowledgement of one try
	Budget    time.Duration // for one send in all, reconnections included
	PerDevice time.Duration // longer for each device beyond fewDevices
	Longest   time.Duration // at most so much longer
	Alone     time.Duration // for an acknowledgement, while nothing else is sent
}

var usualWaits = Waits{
	Answer: 30 * time.Second, Budget: 60 * time.Second, PerDevice: 30 * time.Millisecond, Longest: 45 * time.Second,
	Alone: 3 * time.Second,
}

const (
	// fewDevices get no more time than one.
	fewDevices = 100
	// silentTries limits the tries that go unanswered on a connection that lasts: each
	// goes out to all devices.
	silentTries = 2
)

func (w Waits) extra(devices int) time.Duration {
	return min(w.Longest, w.PerDevice*time.Duration(max(0, devices-fewDevices)))
}

// answerTime returns how long the acknowledgement of one try is waited for.
func (w Waits) answerTime(devices int) time.Duration { return w.Answer + w.extra(devices) }

// budgetFor returns how long a send may take in all.
func (w Waits) budgetFor(devices int) time.Duration {
	return w.Budget + silentTries*w.extra(devices)
}

// most returns how long any send may take.
func (w Waits) most() time.Duration { return w.Budget + silentTries*w.Longest }

// delivery is one message on its way to the network, always with the same id.
type delivery struct {
	to    types.JID
	id    string
	msg   *waE2E.Message
	isOut func() bool // reports whether a recipient has it
	gone  func() bool // reports whether it was deleted; nil where it cannot be
	began time.Time

	devices   int         // that it goes to, as far as known
	known     []types.JID // the devices that the last try went to, and this one
	left      bool        // whether a try may have reached the network
	silent    int         // tries that had no answer
	refreshed bool        // what is known of the recipients was looked up again
	followed  bool        // the recipient's LID was looked up again
	others    string      // the hash of the devices that the network names, where the message went to others

	answer <-chan *waBinary.Node // to the last try, if whatsmeow has stopped waiting for it
}

// isGone reports whether the message was deleted since it was sent.
func (d *delivery) isGone() bool { return d.gone != nil && d.gone() }

// deadline returns when the delivery is given up.
func (d *delivery) deadline(w Waits) time.Time { return d.began.Add(w.budgetFor(d.devices)) }

// deliver tries until the network answers or the time is over. It fails with errOut once a
// recipient has a message without an answer, with an [unanswered] when the time or ctx
// ends or two tries were not answered, and else with the refusal.
func (s *Sender) deliver(ctx context.Context, d *delivery) (at time.Time, err error) {
	for {
		resp, err := s.try(ctx, d)
		if err == nil {
			s.o.Clock.Confirm(resp.Timestamp)
			if d.others != "" {
				s.leftOut.want(d)
			}
			return resp.Timestamp, nil
		}
		if errors.Is(err, errMoved) {
			moved, err := s.follow(ctx, d)
			if err != nil || !moved {
				return resp.Timestamp, err
			}
			continue
		}
		if isStale(err) && s.refresh(ctx, d) {
			continue
		}
		again, ambiguous := Uncertain(err)
		d.left = d.left || ambiguous
		if !again {
			return time.Time{}, err
		}
		if d.left && d.isOut() {
			s.leftOut.await(d)
			return time.Time{}, errOut
		}
		s.o.Log.Info().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("send interrupted; trying again with the same id")
		if errors.Is(err, whatsmeow.ErrMessageTimedOut) {
			d.silent++
		}
		if d.silent == silentTries || s.waitOpen(ctx, d) != nil {
			s.o.Log.Warn().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("send not answered")
			return time.Time{}, &unanswered{left: d.left, cause: err}
		}
	}
}

// refresh asks anew, once for each message, for the recipients of one that was refused as
// stale, and reports whether to try again.
func (s *Sender) refresh(ctx context.Context, d *delivery) bool {
	if d.refreshed {
		return false
	}
	d.refreshed = true
	c, err := s.o.Connection()
	if err == nil {
		ctx, cancel := context.WithDeadline(ctx, d.deadline(s.Waits))
		defer cancel()
		err = c.refreshRecipients(ctx, d.to)
	}
	if err != nil {
		s.o.Log.Warn().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("recipients of a refused message not looked up again")
		return false
	}
	s.o.Log.Info().Str("msg_id", d.id).Msg("recipients of a refused message looked up again")
	return true
}

// errOut says that a receipt has come for a message, but no acknowledgement.
var errOut = errors.New("a recipient has the message")

// unanswered is the end of a send without an answer of the network.
type unanswered struct {
	left  bool // whether the message may have left
	cause error
}

func (u *unanswered) Error() string { return u.cause.Error() }

func (u *unanswered) Unwrap() error { return u.cause }

// prepare begins a delivery's sessions, and returns the addresses that are left out.
func (c *Client) prepare(ctx context.Context, d *delivery) (without map[string]bool, err error) {
	asking, cancel := context.WithDeadline(ctx, d.deadline(c.s.Waits))
	defer cancel()
	var recipients []session.Recipient
	if d.known, err = c.DevicesOf(asking, d.to); err == nil {
		recipients, err = c.Recipients(asking, d.known)
	}
	if err == nil {
		d.devices = max(d.devices, len(recipients))
		beginning, cancel := context.WithDeadline(ctx, d.deadline(c.s.Waits))
		defer cancel()
		without, err = c.StartSessions(beginning, recipients)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNothingLeft, err)
	}
	return without, nil
}

// awaitReceipts has came called with each receipt for a message, until done is called:
// one of a recipient proves that a message is out whose acknowledgement has not come.
func (s *Sender) awaitReceipts(id string, came func()) (done func()) {
	s.receipts.Store(id, came)
	return func() { s.receipts.Delete(id) }
}

// ReceiptsStored calls what waits for receipts of these messages.
func (s *Sender) ReceiptsStored(ids []string) {
	for _, id := range ids {
		if came, waits := s.receipts.Load(id); waits {
			came.(func())()
		}
	}
}
