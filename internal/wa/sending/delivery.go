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

// Waits limits how long a send waits. Sends to many devices take longer.
type Waits struct {
	Answer    time.Duration // for the acknowledgement of one attempt
	Budget    time.Duration // for one send, including reconnections
	PerDevice time.Duration // additional time for each device beyond fewDevices
	Longest   time.Duration // limit of the additional time
	Alone     time.Duration // for an acknowledgement while no other message is sent
}

var usualWaits = Waits{
	Answer: 30 * time.Second, Budget: 60 * time.Second, PerDevice: 30 * time.Millisecond, Longest: 45 * time.Second,
	Alone: 3 * time.Second,
}

const (
	// fewDevices is the number of devices that need no additional time.
	fewDevices = 100
	// maxUnanswered limits the unanswered attempts on an open connection, as each attempt is sent
	// to all devices.
	maxUnanswered = 2
)

func (w Waits) extra(devices int) time.Duration {
	return min(w.Longest, w.PerDevice*time.Duration(max(0, devices-fewDevices)))
}

// answerTime returns how long to wait for the acknowledgement of one attempt.
func (w Waits) answerTime(devices int) time.Duration { return w.Answer + w.extra(devices) }

// budgetFor returns how long a send may take.
func (w Waits) budgetFor(devices int) time.Duration {
	return w.Budget + maxUnanswered*w.extra(devices)
}

// most returns how long any send may take.
func (w Waits) most() time.Duration { return w.Budget + maxUnanswered*w.Longest }

// delivery is one message that is being sent, always with the same id.
type delivery struct {
	to    types.JID
	id    string
	msg   *waE2E.Message
	isOut func() bool // reports whether a recipient has the message
	gone  func() bool // reports whether the message was deleted; nil if it cannot be
	began time.Time

	devices    int         // number of devices it is sent to, as far as known
	known      []types.JID // the devices of the last attempt, and this one
	maySent    bool        // an attempt may have reached the network
	unanswered int         // attempts without an answer
	refreshed  bool        // the recipients were looked up again
	followed   bool        // the recipient's new LID was looked up
	others     string      // the network's hash of the devices, if it differs from the hash of the devices that were sent to

	answer <-chan *waBinary.Node // to the last attempt, if whatsmeow has stopped waiting for it
}

// isGone reports whether the message was deleted after it was sent.
func (d *delivery) isGone() bool { return d.gone != nil && d.gone() }

// deadline returns when the delivery is given up.
func (d *delivery) deadline(w Waits) time.Time { return d.began.Add(w.budgetFor(d.devices)) }

// deliver sends until the network answers or the time is over. It returns errOut if a recipient
// has the message but the network has not answered, an [unanswered] error if the time or ctx ends
// or too many attempts were not answered, and otherwise the refusal.
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
		d.maySent = d.maySent || ambiguous
		if !again {
			return time.Time{}, err
		}
		if d.maySent && d.isOut() {
			s.leftOut.await(d)
			return time.Time{}, errOut
		}
		s.o.Log.Info().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("send interrupted; trying again with the same id")
		if errors.Is(err, whatsmeow.ErrMessageTimedOut) {
			d.unanswered++
		}
		if d.unanswered == maxUnanswered || s.waitOpen(ctx, d) != nil {
			s.o.Log.Warn().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("the network did not answer a send")
			return time.Time{}, &unanswered{maySent: d.maySent, cause: err}
		}
	}
}

// refresh looks the recipients up again after the network has refused a message because they were
// stale. It does so once for each message, and reports whether to try again.
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
		s.o.Log.Warn().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("cannot look up the recipients of a refused message again")
		return false
	}
	s.o.Log.Info().Str("msg_id", d.id).Msg("looked up the recipients of a refused message again")
	return true
}

// errOut means that a receipt was received for a message, but no acknowledgement.
var errOut = errors.New("a recipient has the message")

// unanswered is the error of a send that the network did not answer.
type unanswered struct {
	maySent bool // the message may have been sent
	cause   error
}

func (u *unanswered) Error() string { return u.cause.Error() }

func (u *unanswered) Unwrap() error { return u.cause }

// prepare starts a delivery's sessions and returns the addresses that are left out.
func (c *Client) prepare(ctx context.Context, d *delivery) (without map[string]bool, err error) {
	asking, cancel := context.WithDeadline(ctx, d.deadline(c.s.Waits))
	defer cancel()
	var recipients []session.Recipient
	if d.known, err = c.DevicesOf(asking, d.to); err == nil {
		recipients, err = c.Recipients(asking, d.known)
	}
	if err == nil {
		d.devices = max(d.devices, len(recipients))
		starting, cancel := context.WithDeadline(ctx, d.deadline(c.s.Waits))
		defer cancel()
		without, err = c.StartSessions(starting, recipients)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotSent, err)
	}
	return without, nil
}

// awaitReceipts calls received with each receipt for a message, until done is called. A receipt
// of a recipient proves that a message without an acknowledgement was sent.
func (s *Sender) awaitReceipts(id string, received func()) (done func()) {
	s.receipts.Store(id, received)
	return func() { s.receipts.Delete(id) }
}

// ReceiptsStored calls the functions that wait for receipts of these messages.
func (s *Sender) ReceiptsStored(ids []string) {
	for _, id := range ids {
		if received, waits := s.receipts.Load(id); waits {
			received.(func())()
		}
	}
}
