package sending

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/socket"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// try starts the sessions that a delivery needs and calls whatsmeow's SendMessage once, under the
// Signal lock.
func (s *Sender) try(ctx context.Context, d *delivery) (resp whatsmeow.SendResponse, err error) {
	defer s.recovered("sending", &err)
	c, err := s.o.Connection()
	if err != nil {
		return whatsmeow.SendResponse{}, whatsmeow.ErrNotConnected
	}
	if !c.LoggedIn() { // the status may lag: do not encrypt in vain
		return whatsmeow.SendResponse{}, whatsmeow.ErrNotConnected
	}
	c.ForgetStaleDevices(ctx)
	without, err := c.prepare(ctx, d)
	if err != nil {
		return whatsmeow.SendResponse{}, err
	}
	sending, cancel := context.WithDeadline(ctx, d.deadline(s.Waits))
	defer cancel()
	d.answer = nil
	holding, end := c.HoldForSend(sending, without)
	defer end()
	defer s.awaitReceipts(d.id, func() {
		if d.isOut() {
			cancel() // no answer can be received any more
		}
	})()
	hasMoved, done := c.AwaitRefresh(d.id)
	defer done()
	if s.OnTry != nil {
		s.OnTry()
	}
	// whatsmeow sends one message at a time and blocks until its acknowledgement. If that takes
	// longer than limit, it is awaited outside of whatsmeow.
	limit := s.Waits.answerTime(d.devices)
	alone := min(limit, s.Waits.Alone)
	resp, err = c.SendMessage(holding, d.to, proto.Clone(d.msg).(*waE2E.Message), whatsmeow.SendRequestExtra{ID: d.id, Timeout: alone})
	chat, others := resp.Chat, session.OutcomeOf(holding).OtherDevices
	if errors.Is(err, whatsmeow.ErrMessageTimedOut) {
		d.answer = c.AwaitResponse(d.id)
		resp, others, err = c.LateAnswer(sending, d.answer, limit-alone)
		if others == session.DevicesHash(d.known) {
			others = ""
		}
	}
	switch {
	case err == nil:
		d.others = others
		c.StoreRest(holding)
		err = reached(holding, chat)
		if err == nil && chat.Server == types.HiddenUserServer && hasMoved() {
			d.others, err = "", errMoved
		}
	case errors.Is(context.Cause(holding), session.ErrHeldTooLong):
		err = session.ErrHeldTooLong
	case !session.OutcomeOf(holding).MayHaveLeft:
		err = fmt.Errorf("%w: %w", errNotSent, err)
	}
	return resp, err
}

// errPanicked ends a send in a panic. Its message is marked as failed, like any message that was
// not sent.
var errPanicked = errors.New("the send panicked")

// recovered turns a panic of the caller into an error and logs where it happened. It logs only
// panic values of the runtime, because others may contain message text.
func (s *Sender) recovered(doing string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	cause := fmt.Sprintf("%T", r)
	if fault, ok := r.(runtime.Error); ok {
		cause = fault.Error()
	}
	s.o.Log.Error().Str("panic", bridge.Redact(cause)).Bytes("stack", debug.Stack()).Msg("panic while " + doing + " a message")
	*err = fmt.Errorf("%w: %s", errPanicked, cause)
}

// errNotSent marks a failure before the message was encrypted.
var errNotSent = errors.New("nothing was sent")

// errNoKeys means that an accepted message was not encrypted for its recipient.
var errNoKeys = errors.New("the message was not encrypted for the recipient's phone")

// reached returns an error if a message was not encrypted for a person's phone: whatsmeow leaves
// out devices whose keys it could not get. In groups, such devices ask for the message.
func reached(holding context.Context, chat types.JID) error {
	if chat.Server == types.HiddenUserServer && !session.OutcomeOf(holding).EncryptedFor(chat) {
		return errNoKeys
	}
	return nil
}

// Uncertain reports whether a send may be repeated with its id (again), and whether the message
// may have been sent (ambiguous).
func Uncertain(err error) (again, ambiguous bool) {
	var disconnected *whatsmeow.DisconnectedError
	left := !errors.Is(err, errNotSent)
	switch {
	case errors.Is(err, session.ErrHeldTooLong):
		return false, false
	case errors.Is(err, whatsmeow.ErrNotConnected):
		return true, false
	case errors.Is(err, whatsmeow.ErrMessageTimedOut), errors.As(err, &disconnected),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), isSocketError(err):
		return true, left
	}
	return false, false
}

// retryPause is the shortest pause between two attempts of a send.
const retryPause = 100 * time.Millisecond

// waitOpen waits a moment and then until the socket is open; the account's status may lag behind
// it. It fails when ctx or the delivery's time ends.
func (s *Sender) waitOpen(ctx context.Context, d *delivery) error {
	ctx, cancel := context.WithDeadline(ctx, d.deadline(s.Waits))
	defer cancel()
	ticker := time.NewTicker(retryPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if c, err := s.o.Connection(); err == nil && c.LoggedIn() {
			return ctx.Err()
		}
	}
}

// isSocketError reports whether a write to the socket failed. The message may have been sent.
func isSocketError(err error) bool {
	var op *net.OpError
	return errors.Is(err, socket.ErrSocketClosed) || errors.Is(err, net.ErrClosed) || errors.As(err, &op) ||
		session.IsNodeNotWritten(err)
}
