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

// try begins the sessions that a delivery needs and calls whatsmeow's
// SendMessage once, under the Signal lock.
func (s *Sender) try(ctx context.Context, d *delivery) (resp whatsmeow.SendResponse, err error) {
	defer s.recovered("sending", &err)
	c, err := s.o.Connection()
	if err != nil {
		return whatsmeow.SendResponse{}, whatsmeow.ErrNotConnected
	}
	if !c.LoggedIn() { // the status may be behind: do not encrypt for nothing
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
			cancel() // nothing is left to wait for
		}
	})()
	hasMoved, done := c.AwaitRefresh(d.id)
	defer done()
	if s.OnTry != nil {
		s.OnTry()
	}
	// whatsmeow sends one message at a time, until its acknowledgement: what takes
	// longer is waited for without it.
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
		err = fmt.Errorf("%w: %w", errNothingLeft, err)
	}
	return resp, err
}

// errPanicked ends a send in a panic. Its row is failed like that of any message that did
// not leave.
var errPanicked = errors.New("the send panicked")

// recovered turns a panic of the caller into an error and logs its place. It logs only
// the runtime's panic values, because others may hold content.
func (s *Sender) recovered(doing string, err *error) {
	r := recover()
	if r == nil {
		return
	}
	cause := fmt.Sprintf("%T", r)
	if fault, ok := r.(runtime.Error); ok {
		cause = fault.Error()
	}
	s.o.Log.Error().Str("panic", bridge.Redact(cause)).Bytes("stack", debug.Stack()).Msg(doing + " a message panicked")
	*err = fmt.Errorf("%w: %s", errPanicked, cause)
}

// errNothingLeft marks the failure of a try before its message was encrypted.
var errNothingLeft = errors.New("nothing was sent")

// errNoKeys says that an accepted message had nothing in it for its recipient.
var errNoKeys = errors.New("the message was not encrypted for the recipient's phone")

// reached fails where a message was not encrypted for a person's phone: whatsmeow leaves
// out devices whose keys it could not get. In groups such devices ask for the message.
func reached(holding context.Context, chat types.JID) error {
	if chat.Server == types.HiddenUserServer && !session.OutcomeOf(holding).EncryptedFor(chat) {
		return errNoKeys
	}
	return nil
}

// Uncertain reports whether a try may be repeated with its id, and whether it may have left.
func Uncertain(err error) (again, ambiguous bool) {
	var disconnected *whatsmeow.DisconnectedError
	left := !errors.Is(err, errNothingLeft)
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

// retryPause is the least time between two tries of a send.
const retryPause = 100 * time.Millisecond

// waitOpen waits a moment, and then until the socket, which may be ahead of the status, is
// open. It fails when ctx or the delivery's time ends.
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

// isSocketError reports whether a write to the socket failed; the message may have left.
func isSocketError(err error) bool {
	var op *net.OpError
	return errors.Is(err, socket.ErrSocketClosed) || errors.Is(err, net.ErrClosed) || errors.As(err, &op) ||
		session.IsNodeNotWritten(err)
}
