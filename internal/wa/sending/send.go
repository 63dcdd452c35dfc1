package sending

import (
	"context"
	"errors"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// uploadBudget limits the additional time for the upload of a send's file.
const uploadBudget = 15 * time.Minute

// Send composes a message, stores it as pending with its final id, and sends it to the network.
//
// If the message was not and will not be sent, it fails with [bridge.CodeNotConnected] (the
// connection is not open), [bridge.CodeNotOnNetwork], [bridge.CodeNotInGroup],
// [bridge.CodeRateLimited], [bridge.CodeReachoutRestricted], [bridge.CodeNewChatsCapped],
// [bridge.CodeNewChatsLimited], [bridge.CodeSendRefused], [bridge.CodeMediaGone] or
// [bridge.CodeUnsupportedMedia]. While the outcome is unknown it fails with
// [bridge.CodeSendTimeout], and the message stays pending.
//
// ctx must not end when the caller goes away, because a message cannot be called back.
func (s *Sender) Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
	c, err := s.o.Connection()
	if err != nil {
		return bridge.Sent{}, err
	}
	began, upload := time.Now(), time.Duration(0)
	if _, isFile := out.Content.(bridge.File); isFile {
		upload = uploadBudget
	}
	ctx, cancel := s.Within(ctx, upload+s.Waits.most())
	defer cancel()
	composing, cancel := context.WithTimeout(ctx, upload+s.Waits.Budget)
	defer cancel()
	to, chat, err := c.open(composing, out.To)
	if err != nil {
		return bridge.Sent{}, err
	}
	if isChange(out.Content) {
		return s.change(ctx, c, to, chat, out)
	}
	msg, row, err := c.draft(composing, chat, out)
	if err != nil {
		return bridge.Sent{}, err
	}
	facts := c.withNewChat(composing, chat, withKey(out.Key, bridge.Sent{ID: row.ID, Chat: chat}, row)...)
	facts = append(facts, convert.BegunTimer(chat, msg)...)
	if err := s.o.Store.Save(composing, facts...); err != nil {
		return bridge.Sent{}, err
	}
	if upload > 0 { // The unused rest is returned at once.
		began = time.Now()
	}
	return s.transmit(ctx, s.newDelivery(ctx, to, row, msg, began), row, out.Key != nil || out.ID != "")
}

// open checks whether messages may be sent to a chat, and returns the chat in the form on the wire, and in
// the stored one.
func (c *Client) open(ctx context.Context, jid bridge.JID) (to types.JID, chat bridge.JID, err error) {
	if err := answerable(jid); err != nil {
		return to, "", err
	}
	for _, check := range []func(context.Context, bridge.JID) error{c.askFormerNumber, c.refuseNewChat, c.mayBegin} {
		if err := check(ctx, jid); err != nil {
			return to, "", err
		}
	}
	if to, err = c.destination(ctx, jid); err != nil {
		return to, "", err
	}
	return to, c.s.o.Store.Canonical(convert.JID(to)), nil
}

// Resend sends a stored own message again under its id. The apps show it once.
func (s *Sender) Resend(ctx context.Context, row bridge.Message) (bridge.Sent, error) {
	c, err := s.o.Connection()
	if err != nil {
		return bridge.Sent{}, err
	}
	if len(row.Raw) == 0 {
		return bridge.Sent{}, bridge.Invalid("the message was deleted in the meantime and is not sent again")
	}
	if err := answerable(row.Chat); err != nil {
		return bridge.Sent{}, err
	}
	began, msg := time.Now(), new(waE2E.Message)
	if err := proto.Unmarshal(row.Raw, msg); err != nil {
		return bridge.Sent{}, err
	}
	if err := convert.Declare(msg); err != nil { // an earlier version may have composed it
		return bridge.Sent{}, err
	}
	ctx, cancel := s.Within(ctx, s.Waits.most())
	defer cancel()
	asking, cancel := context.WithTimeout(ctx, s.Waits.Budget)
	defer cancel()
	if err := c.refuseNewChat(asking, row.Chat); err != nil {
		return bridge.Sent{}, err
	}
	if err := s.o.Store.Save(asking, c.withNewChat(asking, row.Chat)...); err != nil {
		return bridge.Sent{}, err
	}
	to, err := c.destination(asking, row.Chat)
	if err != nil {
		return bridge.Sent{}, err
	}
	sent, err := s.transmit(ctx, s.newDelivery(ctx, to, row, msg, began), row, true)
	if errors.Is(err, errPanicked) {
		// It failed like this the first time, and repeating the call cannot help.
		return sent, bridge.Invalid("the message cannot be encoded for the network and was not sent: " +
			"change it, or forward another, with a new Idempotency-Key").Because(err)
	}
	return sent, err
}

// newDelivery returns the delivery of a stored message.
func (s *Sender) newDelivery(ctx context.Context, to types.JID, row bridge.Message, msg *waE2E.Message, began time.Time) *delivery {
	return &delivery{
		to: to, id: row.ID, msg: msg, began: began,
		isOut: func() bool { return s.isOut(ctx, row) }, gone: func() bool { return s.isDeleted(row) },
	}
}

// Within limits a context by a duration and by the end of the program.
func (s *Sender) Within(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	stop := context.AfterFunc(s.o.Background, cancel)
	return ctx, func() { stop(); cancel() }
}

// isStopping reports whether a send ended because the program stops, and not because its budget
// was used up.
func isStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// withKey adds the Idempotency-Key, if there is one, to the facts of a send.
func withKey(key *bridge.SendKey, sent bridge.Sent, facts ...bridge.Fact) []bridge.Fact {
	if key == nil {
		return facts
	}
	return append(facts, bridge.SendKey{Key: key.Key, Route: key.Route, BodyHash: key.BodyHash, Chat: sent.Chat, MsgID: sent.ID})
}

// transmit delivers a stored message and stores the outcome. The message is sent again under its id if
// its outcome is unknown and isRepeated is set.
func (s *Sender) transmit(ctx context.Context, d *delivery, row bridge.Message, isRepeated bool) (bridge.Sent, error) {
	at, err := s.deliver(ctx, d)
	var lost *unanswered
	switch {
	case err == nil:
		return s.acknowledged(row, at), nil
	case errors.Is(err, errOut):
		s.sent.Add(1)
		s.stopTyping(row.Chat)
		return bridge.Sent{ID: row.ID, Chat: row.Chat, Timestamp: row.Timestamp}, nil
	case errors.As(err, &lost):
		return bridge.Sent{}, s.abandoned(ctx, row, lost, isRepeated)
	}
	refusal := s.RefusalOf(err, row.Chat)
	s.fail(row)
	return bridge.Sent{}, refusal
}

// isOut reports whether a recipient's receipt for a message was received.
func (s *Sender) isOut(ctx context.Context, row bridge.Message) bool {
	now, err := s.o.Store.Message(context.WithoutCancel(ctx), row.Chat, row.ID)
	return err == nil && now.Status != nil && *now.Status != bridge.DeliveryPending && *now.Status != bridge.DeliveryFailed
}

// isDeleted reports whether a message was deleted after it was composed.
func (s *Sender) isDeleted(row bridge.Message) bool {
	now, err := s.o.Store.Message(s.o.Background, row.Chat, row.ID)
	return err != nil || now.DeletedAt != nil
}

// acknowledged stores the acknowledgement. The message is sent even if storing fails.
func (s *Sender) acknowledged(row bridge.Message, taken time.Time) bridge.Sent {
	s.sent.Add(1)
	at := row.Timestamp
	if !taken.IsZero() {
		at = bridge.At(taken)
	}
	if err := s.save(bridge.SendResult{Chat: row.Chat, ID: row.ID, Status: bridge.DeliverySent, Timestamp: at}); err != nil {
		s.o.Log.Error().Err(err).Str("msg_id", row.ID).Msg("a message was sent, but its status cannot be stored")
	}
	s.o.Log.Info().Str("chat", row.Chat.Redacted()).Str("msg_id", row.ID).Str("type", row.MessageType).Msg("message sent")
	s.stopTyping(row.Chat)
	return bridge.Sent{ID: row.ID, Chat: row.Chat, Timestamp: at}
}

func (s *Sender) fail(row bridge.Message) {
	s.failed.Add(1)
	if err := s.save(bridge.SendResult{Chat: row.Chat, ID: row.ID, Status: bridge.DeliveryFailed}); err != nil {
		s.o.Log.Error().Err(err).Str("msg_id", row.ID).Msg("cannot store the status of a send")
	}
}

// abandoned ends an unanswered send. A message that was never sent is marked as failed. A message
// that may have been sent stays pending until it is sent again or a receipt is received.
func (s *Sender) abandoned(ctx context.Context, row bridge.Message, lost *unanswered, isRepeated bool) error {
	stopping := isStopping(ctx)
	if !lost.maySent || stopping && !isRepeated {
		s.fail(row)
	}
	switch {
	case stopping:
		return shuttingDown(lost.cause)
	case !lost.maySent:
		return bridge.NotConnected("the connection was lost before the message was sent: try again").Because(lost.cause)
	}
	return bridge.Fail(bridge.CodeSendTimeout, "the network did not confirm the message in time; it may arrive all the same: "+
		"repeat the request with the same Idempotency-Key, or look at the message's status").Because(lost.cause)
}

func shuttingDown(cause error) error {
	return bridge.NotConnected("bridged is shutting down; the message was not confirmed").Because(cause)
}

// MediaConn returns the network's media hosts. If refresh is set, it asks the network again.
func (s *Sender) MediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error) {
	c, err := s.o.Connection()
	if err != nil {
		return bridge.MediaConn{}, err
	}
	return c.MediaConn(ctx, refresh)
}

// MessageForRetry returns the stored own message that a device could not decrypt.
func (s *Sender) MessageForRetry(_, to types.JID, id types.MessageID) *waE2E.Message {
	ctx, cancel := context.WithTimeout(s.o.Background, saveTimeout)
	defer cancel()
	row, err := s.o.Store.Message(ctx, convert.JID(to), convert.ID(id))
	if err != nil || !row.FromMe || len(row.Raw) == 0 {
		if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
			s.o.Log.Error().Err(err).Str("msg_id", id).Msg("cannot read the message for a retry")
		}
		return nil
	}
	msg := new(waE2E.Message)
	if err := proto.Unmarshal(row.Raw, msg); err != nil {
		s.o.Log.Error().Err(err).Str("msg_id", id).Msg("cannot decode a stored message")
		return nil
	}
	if err := convert.Declare(msg); err != nil { // the chat's other devices already have it
		s.o.Log.Debug().Err(err).Str("msg_id", id).Msg("sending a message again although computers do not open its file")
	}
	return msg
}
