package wa

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

// waits are how long a send waits. A message to many devices takes the network
// long: what is added for them is the same for each try.
type waits struct {
	answer    time.Duration // for the acknowledgement of one try
	budget    time.Duration // for one send in all, reconnections included
	perDevice time.Duration // longer for each device beyond fewDevices
	longest   time.Duration // at most so much longer
	alone     time.Duration // for an acknowledgement, while nothing else is sent
}

var usualWaits = waits{answer: 30 * time.Second, budget: 60 * time.Second, perDevice: 30 * time.Millisecond, longest: 45 * time.Second,
	alone: 3 * time.Second}

const (
	// fewDevices get no more time than one.
	fewDevices = 100
	// silentTries is how many tries may go without an answer on a connection
	// that lasts: the message goes out, with the same id, to all its devices
	// each time.
	silentTries = 2
)

func (w waits) extra(devices int) time.Duration {
	return min(w.longest, w.perDevice*time.Duration(max(0, devices-fewDevices)))
}

// answerTime returns how long the acknowledgement of one try is waited for.
func (w waits) answerTime(devices int) time.Duration { return w.answer + w.extra(devices) }

// budgetFor returns how long a send may take in all.
func (w waits) budgetFor(devices int) time.Duration {
	return w.budget + silentTries*w.extra(devices)
}

// most returns how long any send may take.
func (w waits) most() time.Duration { return w.budget + silentTries*w.longest }

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
	refreshed bool        // what is known of the recipients was asked for anew
	overtaken bool        // a session changed during a try
	others    string      // the hash of the devices that the network names, where the message went to others

	answer <-chan *waBinary.Node // of the last try, if whatsmeow has stopped waiting for it
}

// isGone reports whether the message was deleted since it was sent.
func (d *delivery) isGone() bool { return d.gone != nil && d.gone() }

// deadline returns when the delivery is given up.
func (d *delivery) deadline(w waits) time.Time { return d.began.Add(w.budgetFor(d.devices)) }

// deliver tries until the network answers or the time is over. A try whose fate
// is unknown is not repeated once a recipient has the message; the error is
// errOut then. It is an [unanswered] when the time or ctx ends, or nobody
// answered twice, and else the refusal.
func (m *Manager) deliver(ctx context.Context, d *delivery) (at time.Time, err error) {
	for {
		resp, err := m.try(ctx, d)
		if err == nil {
			m.opts.Clock.Confirm(resp.Timestamp)
			if d.others != "" {
				m.leftOut.want(d)
			}
			return resp.Timestamp, nil
		}
		if errors.Is(err, session.ErrOvertaken) {
			d.overtaken = true
			continue
		}
		if isStale(err) && m.refresh(ctx, d) {
			continue
		}
		again, ambiguous := uncertain(err)
		d.left = d.left || ambiguous
		if !again {
			return time.Time{}, err
		}
		if d.left && d.isOut() {
			m.leftOut.await(d)
			return time.Time{}, errOut
		}
		m.log.Info().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("send interrupted; trying again with the same id")
		if errors.Is(err, whatsmeow.ErrMessageTimedOut) {
			d.silent++
		}
		if d.silent == silentTries || m.waitOpen(ctx, d) != nil {
			m.log.Warn().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("send not answered")
			return time.Time{}, &unanswered{left: d.left, cause: err}
		}
	}
}

// refresh asks anew who gets a message that the network refused because what is
// known of its recipients is out of date, and reports whether to try again. It
// does so once for each message.
func (m *Manager) refresh(ctx context.Context, d *delivery) bool {
	if d.refreshed {
		return false
	}
	d.refreshed = true
	l, err := m.open()
	if err == nil {
		ctx, cancel := context.WithDeadline(ctx, d.deadline(m.waits))
		defer cancel()
		err = l.refreshRecipients(ctx, d.to)
	}
	if err != nil {
		m.log.Warn().Str("msg_id", d.id).Str("error", bridge.Redact(err.Error())).Msg("recipients of a refused message not asked for anew")
		return false
	}
	m.log.Info().Str("msg_id", d.id).Msg("recipients of a refused message asked for anew")
	return true
}

// errOut says that a receipt has come for a message whose acknowledgement has
// not.
var errOut = errors.New("a recipient has the message")

// unanswered is the end of a send without an answer of the network.
type unanswered struct {
	left  bool // whether the message may have left
	cause error
}

func (u *unanswered) Error() string { return u.cause.Error() }

func (u *unanswered) Unwrap() error { return u.cause }

// prepare begins the sessions that a delivery needs, and returns the addresses
// that are left out. Nothing leaves.
func (l *link) prepare(ctx context.Context, d *delivery) (without map[string]bool, err error) {
	asking, cancel := context.WithDeadline(ctx, d.deadline(l.m.waits))
	defer cancel()
	var recipients []session.Recipient
	if d.known, err = l.cli.DevicesOf(asking, d.to); err == nil {
		recipients, err = l.cli.Recipients(asking, d.known)
	}
	if err == nil {
		d.devices = max(d.devices, len(recipients))
		beginning, cancel := context.WithDeadline(ctx, d.deadline(l.m.waits))
		defer cancel()
		without, err = l.cli.BeginSessions(beginning, recipients)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNothingLeft, err)
	}
	return without, nil
}
